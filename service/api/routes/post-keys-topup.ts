import { z } from "@hono/zod-openapi";
import type { KeyServices } from "../../access/key-services.ts";
import { unauthorized } from "../../access/problems.ts";
import { definePaid } from "../kit/endpoint.ts";
import { ValidationFailed, valueFault } from "../kit/validation-failed.ts";
import {
  buyerOf,
  creditIdOf,
  creditsBodySchema,
  keyShape,
  renderKey,
  unitsOf,
  usdOf,
} from "../schemas/key-sale.ts";
import { num } from "../schemas/values.ts";

/** Services of the endpoint. */
type Needs = {
  readonly keys: Pick<KeyServices, "identify" | "topUp">;
};

const toppedUpSchema = z
  .object({
    ...keyShape,
    credited_usd: num("What this payment added to the balance", 25),
  })
  .openapi("ToppedUpKey");

/** POST /keys/topup. */
export const postKeysTopup = definePaid<Needs>()({
  method: "post",
  path: "/keys/topup",
  operationId: "top_up_key",
  price: { from: 1_000, of: ({ body }) => unitsOf(body) },
  payment: { settled: "before", keys: "none" },
  tag: "Keys",
  summary: "Add credits to an API key",
  description:
    "Adds credits, from 1 to 10,000 USD, to the key in `X-API-Key`, paid over x402 by any wallet. A key that is unknown, revoked or expired is refused before anything is charged, as is one without a limit. The same payment, and the same `Idempotency-Key`, credit once, and the key of their first request alone.",
  request: { params: z.object({}), query: z.object({}), body: creditsBodySchema },
  answer: { schema: toppedUpSchema, description: "The key with its new balance" },
  problems: [],
  distinguish: async (request, deps) => (await deps.keys.identify(request))?.keyId ?? null,
  check: async () => null,
  async prepare(_input, _checked, { deps, header }) {
    const key = await deps.keys.identify({ header });
    if (key === null) throw noKey();
    if (key.balanceUnits === null) throw unlimited();
    return key.keyId;
  },
  async work({ body }, keyId, { deps, now, caller }) {
    const units = unitsOf(body);
    const key = await deps.keys.topUp({ creditId: creditIdOf(buyerOf(caller)), keyId, units, now });
    if (key === null) {
      throw unauthorized(
        "key-revoked",
        "The key was revoked or expired meanwhile; what was paid is owed, and the operator's list shows it.",
      );
    }
    return { ...renderKey(key), credited_usd: usdOf(units) };
  },
});

function noKey(): Error {
  return unauthorized("key-missing", "Send in X-API-Key the key that the credits are for.");
}

function unlimited(): Error {
  const error = "this key has no limit; credits would add nothing";
  return new ValidationFailed([valueFault(["header", "X-API-Key"], null, error)]);
}
