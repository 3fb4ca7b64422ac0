import { z } from "@hono/zod-openapi";
import type { HonoRequest } from "hono";
import type { Address } from "viem";
import type { OwnerAccess } from "../../access/access.ts";
import { type Owner, ownerText } from "../../access/access.ts";
import { presentedKey } from "../../access/api-key-access.ts";
import { hashApiKey, type RotationRight } from "../../access/api-keys.ts";
import type { RepeatStore } from "../../access/idempotent-answers.ts";
import type { KeyServices } from "../../access/key-services.ts";
import { Problem, unauthorized } from "../../access/problems.ts";
import { ACT_ONCE, actOnce } from "../kit/act-once.ts";
import { callerRequest } from "../kit/answer.ts";
import { defineFree } from "../kit/endpoint.ts";
import { ValidationFailed, valueFault } from "../kit/validation-failed.ts";
import { keyShape, renderKey, secretSchema } from "../schemas/key-sale.ts";
import { toEip55 } from "../schemas/values.ts";

/** Services of the endpoint. */
type Needs = {
  readonly owners: OwnerAccess;
  readonly repeats: RepeatStore;
  readonly keys: Pick<KeyServices, "rotate" | "boughtBy">;
};

const ENDPOINT = "POST /keys/rotate";

const bodySchema = z
  .object({
    key_id: z.uuid().optional().openapi({
      description: "With SIGN-IN-WITH-X, the key to renew; needed where the wallet bought several",
    }),
  })
  .default({})
  .openapi("RotateKeyInput");

const rotatedSchema = z
  .object({
    api_key: secretSchema.openapi({
      description:
        "The key from now on, for the header X-API-Key. Shown once: a repeat of the request shows null",
    }),
    ...keyShape,
  })
  .openapi("RotatedKey");

/** POST /keys/rotate. */
export const postKeysRotate = defineFree<Needs>()({
  method: "post",
  path: "/keys/rotate",
  operationId: "rotate_key",
  tag: "Keys",
  summary: "Replace an API key by a new one",
  description:
    "Gives a key another secret; the old one is dead at once, and balance, rate, policy and subscriptions stay. By the key itself in `X-API-Key`, or by `SIGN-IN-WITH-X` of the wallet that bought it, with `key_id` where that wallet bought several: so a lost answer is not a lost purchase. Under one `Idempotency-Key` the key is renewed once, and a repeat answers without the secret, which is stored nowhere. A request with the old key cannot be repeated: that key is refused from then on.",
  identity: "owner",
  headers: ACT_ONCE.headers,
  request: { params: z.object({}), query: z.object({}), body: bodySchema },
  answer: { schema: rotatedSchema, description: "The key with its new secret" },
  problems: ["not-found", "database-unavailable", "internal", ...ACT_ONCE.problems],
  async respond(context, { body }, { deps, now }) {
    const owner = await deps.owners.identify(callerRequest(context));
    const keyId = body?.key_id?.toLowerCase() ?? null;
    return actOnce(context, deps.repeats, {
      scope: ownerText(owner),
      endpoint: ENDPOINT,
      input: { keyId },
      async run() {
        const right = await rightOf(context.req, { owner, keyId, now }, deps);
        const rotated = await deps.keys.rotate(right, now);
        if (rotated === null) throw gone(right);
        const shown = renderKey(rotated.key);
        return { answer: { api_key: rotated.secret, ...shown }, stored: { api_key: null, ...shown } };
      },
    });
  },
});

async function rightOf(
  request: HonoRequest,
  { owner, keyId, now }: { readonly owner: Owner; readonly keyId: string | null; readonly now: Date },
  deps: Pick<Needs, "keys">,
): Promise<RotationRight> {
  switch (owner.kind) {
    case "key":
      if (keyId !== null && keyId !== owner.keyId)
        throw keyIdFault(keyId, "another key than the one in X-API-Key");
      return { kind: "holder", keyHash: hashApiKey(presentedKey(request) ?? "") };
    case "wallet":
      return {
        kind: "buyer",
        boughtBy: owner.address,
        keyId: keyId ?? (await onlyKeyOf(owner.address, now, deps)),
      };
  }
}

async function onlyKeyOf(wallet: Address, now: Date, { keys }: Pick<Needs, "keys">): Promise<string> {
  const [first, ...others] = await keys.boughtBy(wallet, now);
  if (first === undefined) throw nothingBought(wallet);
  if (others.length === 0) return first;
  throw keyIdFault(null, `needed, since this wallet bought several keys: ${[first, ...others].join(", ")}`);
}

function gone(right: RotationRight): Problem {
  switch (right.kind) {
    case "holder":
      return unauthorized("key-unknown", "The key was replaced or revoked meanwhile.");
    case "buyer":
      return new Problem("not-found", `${toEip55(right.boughtBy)} bought no live key ${right.keyId}.`);
  }
}

function nothingBought(wallet: Address): Problem {
  return new Problem("not-found", `${toEip55(wallet)} bought no key that is live.`);
}

function keyIdFault(input: string | null, error: string): ValidationFailed {
  return new ValidationFailed([valueFault(["body", "key_id"], input, error)]);
}
