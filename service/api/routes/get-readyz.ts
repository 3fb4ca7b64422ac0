import { z } from "@hono/zod-openapi";
import { databaseFailure } from "../../db/database-failure.ts";
import type { IndexHead } from "../../db/index-snapshot.ts";
import { ageSeconds, type SourceWatch } from "../../sanctions/sources.ts";
import { answerJson } from "../kit/answer.ts";
import { defineFree } from "../kit/endpoint.ts";
import { count, fieldsOf, isoSchema, text } from "../schemas/values.ts";
import type { Services } from "../services.ts";

const checkSchema = z
  .object({ ok: z.boolean().openapi({ example: true }), detail: z.string().openapi({ example: "answers" }) })
  .openapi("ReadinessCheck");

const sanctionsSourceSchema = z
  .object({
    source: z.enum(["chainalysis-oracle", "ofac-sdn"]),
    checked_at: isoSchema.nullable().openapi({
      description: "Until when the source is known: its newest block or last import; null if never",
    }),
    age_seconds: z.int().min(0).nullable().openapi({ example: 3 }),
    edition: text("The block, or the list's own date", "block 48210").nullable(),
    entries: z.int().min(0).openapi({ example: 91 }),
    list_hash: text(
      "keccak256 of the RFC 8785 form of its {address, reference} entries by address",
      "0x3e9cc35d2f8e9d8f5e0a4b2a4e2c7b8fb38d1f1f4c5c0e6d4f3d2c1b0a998877",
    ).nullable(),
    unchecked_wallets: count(
      "Wallets that the contract still has to be asked about; null for a list",
    ).nullable(),
  })
  .openapi("SanctionsSource");

const readyzSchema = z
  .object({
    status: z.enum(["ok", "unavailable"]),
    checks: z.object({ database: checkSchema, index: checkSchema }),
    sanctions: z.array(sanctionsSourceSchema).nullable().openapi({
      description: "How fresh each source is, whatever the status; null while it cannot be read",
    }),
  })
  .openapi("Readiness");

export type Readiness = z.infer<typeof readyzSchema>;

/** GET /readyz: 200 only if the database answers and the index is fresh. */
export const getReadyz = defineFree({
  method: "get",
  path: "/readyz",
  operationId: "check_readiness",
  tag: "Operation",
  summary: "Readiness",
  description:
    "200 when the database answers and the newest indexed block is young enough, else 503; each check is listed. The ages of the sanctions sources are reported and do not affect the status: an unreachable source keeps its last list.",
  request: { params: z.object({}), query: z.object({}), body: null },
  answer: { schema: readyzSchema, description: "Ready" },
  alternatives: { 503: { schema: readyzSchema, description: "Not ready" } },
  problems: ["internal"],
  async respond(context, _input, { deps, now }) {
    const readiness = await readReadiness(deps, now);
    return readiness.status === "ok"
      ? answerJson(context, readiness, { headers: { "cache-control": "no-store" } })
      : answerJson(context, readiness, {
          status: 503,
          headers: { "cache-control": "no-store", "retry-after": "5" },
        });
  },
});

/** Whether the database answers and the index is fresh, and how old the sources of sanctions are. */
export async function readReadiness(
  deps: Pick<Services, "maxIndexAgeSeconds" | "sanctionsSources"> & {
    readonly scores: Pick<Services["scores"], "head">;
  },
  now: Date,
): Promise<Readiness> {
  try {
    const readiness = readinessOf(await deps.scores.head(), deps.maxIndexAgeSeconds, now);
    return { ...readiness, sanctions: await sanctionsOf(deps.sanctionsSources, now) };
  } catch (error) {
    switch (databaseFailure(error)) {
      case "database":
        return unready({ ok: false, detail: "does not answer" }, { ok: false, detail: "unknown" });
      case "index":
        return unready({ ok: true, detail: "answers" }, { ok: false, detail: "first pass not finished" });
      case null:
        throw error;
    }
  }
}

/** Ages of the sources; null if they cannot be read, which the checks report. */
async function sanctionsOf(sources: SourceWatch, now: Date): Promise<Readiness["sanctions"]> {
  try {
    return (await sources()).map((status) => ({
      ...fieldsOf(sanctionsSourceSchema.shape, status),
      age_seconds: ageSeconds(status, now),
      unchecked_wallets: status.unchecked,
    }));
  } catch (error) {
    if (databaseFailure(error) === null) throw error;
    return null;
  }
}

function readinessOf(head: IndexHead | null, maxAgeSeconds: number, now: Date): Readiness {
  const database = { ok: true, detail: "answers" };
  if (head === null) return unready(database, { ok: false, detail: "holds no block" });
  const age = Math.floor(now.getTime() / 1000) - head.timestamp;
  const detail = `block ${head.blockNumber} is ${age} s old, at most ${maxAgeSeconds} s allowed`;
  if (age > maxAgeSeconds) return unready(database, { ok: false, detail });
  return { status: "ok", checks: { database, index: { ok: true, detail } }, sanctions: null };
}

function unready(database: Readiness["checks"]["database"], index: Readiness["checks"]["index"]): Readiness {
  return { status: "unavailable", checks: { database, index }, sanctions: null };
}
