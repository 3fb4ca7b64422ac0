import { z } from "@hono/zod-openapi";
import { clockFault } from "../../db/database-clock.ts";
import { databaseFailure } from "../../db/database-failure.ts";
import { freshnessOf } from "../../db/index-head.ts";
import { ageSeconds, type SourceWatch } from "../../sanctions/sources.ts";
import type { ScoreReader } from "../../scores/stored-score.ts";
import { answerJson } from "../kit/answer.ts";
import { defineFree } from "../kit/endpoint.ts";
import type { ServerLife } from "../kit/server-life.ts";
import { count, fieldsOf, isoSchema, text } from "../schemas/values.ts";

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
    checks: z.object({ server: checkSchema, database: checkSchema }),
    index: checkSchema,
    sanctions: z.array(sanctionsSourceSchema).nullable().openapi({
      description: "How fresh each source is, whatever the status; null while it cannot be read",
    }),
  })
  .openapi("Readiness");

export type Readiness = z.infer<typeof readyzSchema>;

/** GET /readyz: 503 only while this server should get no request. */
export const getReadyz = defineFree<ReadinessNeeds>()({
  method: "get",
  path: "/readyz",
  operationId: "check_readiness",
  tag: "Operation",
  summary: "Readiness",
  description:
    "503 while this server should get no request: it shuts down, its clock differs from the database's, or the database does not answer; each check is listed. `index` and `sanctions` say how fresh the data is and do not affect the status: endpoints that need fresh data refuse by themselves.",
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

type ReadinessNeeds = {
  /** Seconds after which the newest indexed block counts as too old to answer from. */
  readonly maxIndexAgeSeconds: number;
  readonly sanctionsSources: SourceWatch;
  /** Seconds by which this machine's date is ahead of the clock; negative if it is behind. */
  readonly clockAheadSeconds: () => number;
  readonly life: Pick<ServerLife, "leaving">;
  readonly scores: Pick<ScoreReader, "head">;
};

/** Whether this server should get requests, and how fresh its data is. */
export async function readReadiness(deps: ReadinessNeeds, now: Date): Promise<Readiness> {
  const server = serverOf(deps);
  const { database, index } = await readData(deps, now);
  return {
    status: server.ok && database.ok ? "ok" : "unavailable",
    checks: { server, database },
    index,
    sanctions: database.ok ? await sanctionsOf(deps.sanctionsSources, now) : null,
  };
}

type Check = z.infer<typeof checkSchema>;

function serverOf({ life, clockAheadSeconds }: ReadinessNeeds): Check {
  const fault = life.leaving ? "shuts down" : clockFault(clockAheadSeconds());
  return fault === null ? { ok: true, detail: "takes requests" } : { ok: false, detail: fault };
}

/** Reads the newest block, by which the database shows that it answers. */
async function readData(
  { scores, maxIndexAgeSeconds }: ReadinessNeeds,
  now: Date,
): Promise<{ readonly database: Check; readonly index: Check }> {
  const database = { ok: true, detail: "answers" };
  try {
    const head = await scores.head();
    const index =
      head === null
        ? { ok: false, detail: "holds no block" }
        : freshnessOf(head, { now, maxAgeSeconds: maxIndexAgeSeconds });
    return { database, index };
  } catch (error) {
    switch (databaseFailure(error)) {
      case "database":
        return {
          database: { ok: false, detail: "does not answer" },
          index: { ok: false, detail: "unknown" },
        };
      case "index":
        return { database, index: { ok: false, detail: "first pass not finished" } };
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
