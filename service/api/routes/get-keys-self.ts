import { z } from "@hono/zod-openapi";
import { unauthorized } from "../../access/problems.ts";
import { answerJson } from "../kit/answer.ts";
import { defineFree } from "../kit/endpoint.ts";
import { KEY_EXAMPLE, type KeyPorts, keyShape, renderKey, usdOf } from "../schemas/key-sale.ts";
import { eip55Schema, isoSchema, toEip55 } from "../schemas/values.ts";

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
        total_usd: z.number(),
        endpoints: z.array(
          z.object({ endpoint: z.string(), calls: z.int().positive(), spent_usd: z.number() }),
        ),
      })
      .openapi("KeySpending", {
        description:
          "What answered calls cost in the last 30 days, the dearest endpoint first; a key without a limit is never charged",
      }),
  })
  .openapi("KeySelf");

/** GET /keys/self. */
export const getKeysSelf = defineFree({
  method: "get",
  path: "/keys/self",
  tag: "Keys",
  summary: "Balance and spending of the key",
  description: "What the key in `X-API-Key` is, what is left on it, and what it spent in the last 30 days.",
  identity: "key",
  request: { params: z.object({}), query: z.object({}), body: null },
  answer: {
    schema: selfSchema,
    example: {
      ...KEY_EXAMPLE,
      partner: false,
      bought_by: KEY_EXAMPLE.name,
      created_at: "2026-11-01T08:00:00.000Z",
      spent: {
        from: "2026-10-21T10:00:00.000Z",
        to: "2026-11-20T10:00:00.000Z",
        total_usd: 1.12,
        endpoints: [
          { endpoint: "GET /ahs/{address}", calls: 1, spent_usd: 1 },
          { endpoint: "GET /ahs/route/{address}", calls: 12, spent_usd: 0.12 },
        ],
      },
    },
    description: "The key",
  },
  problems: ["database-unavailable", "internal"],
  async respond(context, _input, { deps, now }: { deps: KeyPorts; now: Date }) {
    const caller = await deps.keys.enter(context.req);
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
