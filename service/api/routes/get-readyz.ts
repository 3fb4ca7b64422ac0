import { z } from "@hono/zod-openapi";
import { databaseFailure } from "../../db/database-failure.ts";
import { ageSeconds, type SourceWatch } from "../../sanctions/sources.ts";
import type { IndexHead } from "../../scores/scores.ts";
import { answerJson } from "../kit/answer.ts";
import { defineFree } from "../kit/endpoint.ts";

export type GetReadyzPorts = {
  readonly scores: { head(): Promise<IndexHead | null> };
  readonly maxIndexAgeSeconds: number;
  readonly sanctionsSources: SourceWatch;
};

const checkSchema = z.object({ ok: z.boolean(), detail: z.string() }).openapi("ReadinessCheck");

const sanctionsSourceSchema = z
  .object({
    source: z.enum(["chainalysis-oracle", "ofac-sdn"]),
    checked_at: z.iso.datetime().nullable().openapi({
      description: "Until when the source is known: its newest block or last import; null if never",
    }),
    age_seconds: z.int().min(0).nullable(),
    edition: z.string().nullable().openapi({ description: "The block, or the list's own date" }),
    entries: z.int().min(0),
    list_hash: z.string().nullable().openapi({
      description: "keccak256 of the RFC 8785 form of its {address, reference} entries by address",
    }),
    unasked_wallets: z
      .int()
      .min(0)
      .nullable()
      .openapi({ description: "Wallets that the contract still has to be asked about; null for a list" }),
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

const EXAMPLE: Readiness = {
  status: "ok",
  checks: {
    database: { ok: true, detail: "answers" },
    index: { ok: true, detail: "block 7999 is 3 s old, at most 120 s allowed" },
  },
  sanctions: [
    {
      source: "chainalysis-oracle",
      checked_at: "2026-11-20T09:59:57.000Z",
      age_seconds: 3,
      edition: "block 7999",
      entries: 1,
      list_hash: "0x3e9cc35d2f8e9d8f5e0a4b2a4e2c7b8fb38d1f1f4c5c0e6d4f3d2c1b0a998877",
      unasked_wallets: 0,
    },
    {
      source: "ofac-sdn",
      checked_at: "2026-11-20T06:00:00.000Z",
      age_seconds: 14_400,
      edition: "2026-11-18",
      entries: 91,
      list_hash: "0x91d3e0a4b7c25f608f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a6978",
      unasked_wallets: null,
    },
  ],
};

/** GET /readyz: 200 only if the database answers and the index is fresh. */
export const getReadyz = defineFree({
  method: "get",
  path: "/readyz",
  tag: "Operation",
  summary: "Readiness",
  description:
    "200 when the database answers and the newest indexed block is young enough, else 503; each check is listed. The ages of the sanctions sources are reported and do not affect the status: an unreachable source keeps its last list.",
  request: { params: z.object({}), query: z.object({}), body: null },
  answer: { schema: readyzSchema, example: EXAMPLE, description: "Ready" },
  alternatives: { 503: { schema: readyzSchema, description: "Not ready" } },
  problems: ["internal"],
  async respond(context, _input, { deps, now }: { deps: GetReadyzPorts; now: Date }) {
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
export async function readReadiness(deps: GetReadyzPorts, now: Date): Promise<Readiness> {
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
      source: status.source,
      checked_at: status.checkedAt?.toISOString() ?? null,
      age_seconds: ageSeconds(status, now),
      edition: status.edition,
      entries: status.entries,
      list_hash: status.listHash,
      unasked_wallets: status.unasked,
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
