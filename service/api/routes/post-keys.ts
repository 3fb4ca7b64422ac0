import { z } from "@hono/zod-openapi";
import type { KeyServices } from "../../access/key-services.ts";
import { definePaid } from "../kit/endpoint.ts";
import {
  buyerOf,
  creditIdOf,
  creditsBodySchema,
  keyShape,
  renderKey,
  secretSchema,
  unitsOf,
} from "../schemas/key-sale.ts";
import { toEip55 } from "../schemas/values.ts";

/** Services of the endpoint. */
type Needs = {
  readonly keys: Pick<KeyServices, "buy">;
};

const boughtKeySchema = z
  .object({ api_key: secretSchema, ...keyShape })
  .openapi("BoughtKey", { description: "A key that a wallet bought; its name is the wallet" });

/** POST /keys. */
export const postKeys = definePaid<Needs>()({
  method: "post",
  path: "/keys",
  operationId: "buy_key",
  price: { from: 1_000, of: ({ body }) => unitsOf(body) },
  payment: { settled: "before", keys: "none" },
  tag: "Keys",
  summary: "Buy an API key with credits",
  description:
    "Sells an API key over x402: the price is the credits, from 1 to 10,000 USD, and calls are then charged to them. Only this answer shows the key. If it is lost, the wallet that paid signs in and gets another from `POST /keys/rotate`; the same payment never buys a second key. Official x402 clients pay at most 1 USD by default: raise the limit to the price with `setSpendControls`, for this asset alone.",
  request: { params: z.object({}), query: z.object({}), body: creditsBodySchema },
  answer: { schema: boughtKeySchema, description: "The key" },
  problems: [],
  check: async () => null,
  async work({ body }, _prepared, { deps, now, caller }) {
    const buyer = buyerOf(caller);
    const { key, secret } = await deps.keys.buy({
      creditId: creditIdOf(buyer),
      name: toEip55(buyer.address),
      boughtBy: buyer.address,
      units: unitsOf(body),
      now,
    });
    return { api_key: secret, ...renderKey(key) };
  },
  withoutSecrets: (answer) => ({ ...answer, api_key: null }),
});
