import { z } from "@hono/zod-openapi";
import { databaseFailure } from "../store/database-failure.ts";
import type { IndexHead } from "../store/scores.ts";
import { answerJson } from "./answer.ts";
import { defineFree } from "./endpoint.ts";

export type GetReadyzPorts = {
  readonly scores: { head(): Promise<IndexHead | null> };
  readonly maxIndexAgeSeconds: number;
};

const checkSchema = z.object({ ok: z.boolean(), detail: z.string() }).openapi("ReadinessCheck");

const readyzSchema = z
  .object({
    status: z.enum(["ok", "unavailable"]),
    checks: z.object({ database: checkSchema, index: checkSchema }),
  })
  .openapi("Readiness");

type Readiness = z.infer<typeof readyzSchema>;

const EXAMPLE: Readiness = {
  status: "ok",
  checks: {
    database: { ok: true, detail: "answers" },
    index: { ok: true, detail: "block 7999 is 3 s old, at most 120 s allowed" },
  },
};

/** GET /readyz: 200 only when the database answers and the index is fresh. */
export const getReadyz = defineFree({
  method: "get",
  path: "/readyz",
  tag: "Operation",
  summary: "Readiness",
  description:
    "200 when the database answers and the newest indexed block is young enough, else 503; each check is listed.",
  request: { params: z.object({}), query: z.object({}), body: null },
  answer: { schema: readyzSchema, example: EXAMPLE, description: "Ready" },
  alternatives: { 503: { schema: readyzSchema, description: "Not ready" } },
  problems: ["internal"],
  async respond(context, _input, { deps, now }: { deps: GetReadyzPorts; now: Date }) {
    const readiness = await check(deps, now);
    return readiness.status === "ok"
      ? answerJson(context, readiness, { headers: { "cache-control": "no-store" } })
      : answerJson(context, readiness, {
          status: 503,
          headers: { "cache-control": "no-store", "retry-after": "5" },
        });
  },
});

async function check(deps: GetReadyzPorts, now: Date): Promise<Readiness> {
  try {
    return readinessOf(await deps.scores.head(), deps.maxIndexAgeSeconds, now);
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

function readinessOf(head: IndexHead | null, maxAgeSeconds: number, now: Date): Readiness {
  const database = { ok: true, detail: "answers" };
  if (head === null) return unready(database, { ok: false, detail: "holds no block" });
  const age = Math.floor(now.getTime() / 1000) - head.timestamp;
  const detail = `block ${head.blockNumber} is ${age} s old, at most ${maxAgeSeconds} s allowed`;
  if (age > maxAgeSeconds) return unready(database, { ok: false, detail });
  return { status: "ok", checks: { database, index: { ok: true, detail } } };
}

function unready(database: Readiness["checks"]["database"], index: Readiness["checks"]["index"]): Readiness {
  return { status: "unavailable", checks: { database, index } };
}
