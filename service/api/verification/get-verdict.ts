import { hash } from "node:crypto";
import { z } from "@hono/zod-openapi";
import { answer, namesVersion } from "../kit/answer.ts";
import type { ApiContext } from "../kit/api-env.ts";
import { defineFree } from "../kit/endpoint.ts";
import { renderVerdict } from "./render-verdict.ts";
import { VERDICT_EXAMPLE } from "./verdict-example.ts";
import { requireVerdict, type VerdictPorts } from "./verdict-ports.ts";
import { verdictParams, verdictSchema } from "./verdict-schema.ts";

/** GET /v1/verdicts/{verdict_id}. */
export const getVerdict = defineFree({
  method: "get",
  path: "/v1/verdicts/{verdict_id}",
  tag: "Verdicts",
  summary: "A verdict on a delivered output",
  description:
    "Free, for whoever knows the id. Poll it every second or two until the status is `completed` or `failed`; or give the output a `webhook_url`. A completed one carries an `ETag`: with it in `If-None-Match` the answer is 304 while nothing changed, and what may still change is its settlement, or a HOLD. What was signed for a job's escrow stands in `settlement.signed`: whoever likes may bring it to the evaluator themselves.",
  request: { params: verdictParams, query: z.object({}), body: null },
  answer: { schema: verdictSchema, example: VERDICT_EXAMPLE, description: "The verdict" },
  alternatives: { 304: { description: "Unchanged since the ETag in If-None-Match" } },
  headers: { "If-None-Match": "ETags that the caller holds: 304 where one of them is current" },
  problems: ["not-found", "database-unavailable", "internal"],
  async respond(context, { params }, { deps }: { deps: VerdictPorts }) {
    const verdict = renderVerdict(await requireVerdict(params.verdict_id, deps));
    const body = JSON.stringify(verdict);
    return verdict.status === "completed" ? answerTagged(context, body) : answerFresh(context, body);
  },
});

/** The id is all that a reader needs, so no shared cache may hold an answer. */
const REVALIDATED = { "cache-control": "private, no-cache" } as const;

function answerTagged(context: ApiContext, body: string): Response {
  const version = hash("sha256", body, "base64url");
  const headers = { etag: `"${version}"`, ...REVALIDATED };
  if (namesVersion(context.req.header("if-none-match"), version))
    return answer(context, { status: 304, body: null, headers });
  return answer(context, { status: 200, body, headers: { "content-type": "application/json", ...headers } });
}

function answerFresh(context: ApiContext, body: string): Response {
  const headers = { "content-type": "application/json", "cache-control": "private, no-store" };
  return answer(context, { status: 200, body, headers });
}
