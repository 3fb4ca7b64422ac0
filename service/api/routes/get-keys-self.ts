import { z } from "@hono/zod-openapi";
import type { KeyServices } from "../../access/key-services.ts";
import { unauthorized } from "../../access/problems.ts";
import { answerJson, callerRequest } from "../kit/answer.ts";
import { defineFree } from "../kit/endpoint.ts";
import { keyShape, renderKey, usdOf } from "../schemas/key-sale.ts";
import { eip55Schema, isoSchema, toEip55 } from "../schemas/values.ts";

/** Services of the endpoint. */
type Needs = {
  readonly keys: Pick<KeyServices, "enter" | "find" | "spending">;
};

const WINDOW_DAYS = 30;
const DAY_MS = 86_400_000;

const selfSchema = z
  .object({
    ...keyShape,
    partner: z.boolean(),
    bought_by: eip55Schema
      .nullable()
      .openapi({ description: "The wallet that paid for it; null if it was not bought" }),
    created_at: isoSchema,
    spent: z
      .object({
        from: isoSchema,
        to: isoSchema,
        total_usd: z.number().openapi({ example: 1.12 }),
        endpoints: z.array(
          z.object({
            endpoint: z.string().openapi({ example: "GET /ahs/{address}" }),
            calls: z.int().positive(),
            spent_usd: z.number().openapi({ example: 1 }),
          }),
        ),
      })
      .openapi("KeySpending", {
        description:
          "What answered calls cost in the last 30 days, the dearest endpoint first; a key without a limit is never charged",
      }),
  })
  .openapi("KeySelf");

/** GET /keys/self. */
export const getKeysSelf = defineFree<Needs>()({
  method: "get",
  path: "/keys/self",
  operationId: "get_balance",
  tool: "Returns the balance of the API key, its rate limit, and what it spent in the last 30 days by operation. Use it before expensive calls.",
  tag: "Keys",
  summary: "Balance and spending of the key",
  description: "What the key in `X-API-Key` is, what is left on it, and what it spent in the last 30 days.",
  identity: "key",
  request: { params: z.object({}), query: z.object({}), body: null },
  answer: { schema: selfSchema, description: "The key" },
  problems: ["database-unavailable", "internal"],
  async respond(context, _input, { deps, now }) {
    const caller = await deps.keys.enter(callerRequest(context));
    if (caller === null) throw unauthorized("key-missing", "Send the key in the header X-API-Key.");
    const since = new Date(now.getTime() - WINDOW_DAYS * DAY_MS);
    const [key, spending] = await Promise.all([
      deps.keys.find(caller.keyId),
      deps.keys.spending(caller.keyId, since),
    ]);
    if (key === null) throw new Error(`key ${caller.keyId} was identified and is not there`);
    const units = spending.reduce((sum, line) => sum + line.units, 0);
    const answer = {
      ...renderKey(key),
      partner: key.partner,
      bought_by: key.boughtBy === null ? null : toEip55(key.boughtBy),
      created_at: key.createdAt.toISOString(),
      spent: {
        from: since.toISOString(),
        to: now.toISOString(),
        total_usd: usdOf(units),
        endpoints: spending.map((line) => ({
          endpoint: line.endpoint,
          calls: line.calls,
          spent_usd: usdOf(line.units),
        })),
      },
    };
    return answerJson(context, answer, { headers: { "cache-control": "private, no-store" } });
  },
});
