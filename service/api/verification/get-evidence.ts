import { hash } from "node:crypto";
import { z } from "@hono/zod-openapi";
import { Problem } from "../../access/problems.ts";
import { answer, namesVersion } from "../kit/answer.ts";
import { defineFree } from "../kit/endpoint.ts";
import { requireVerdict, type VerdictPorts } from "./verdict-ports.ts";
import { VERDICT_ID_EXAMPLE, verdictParams } from "./verdict-schema.ts";

const query = z.object({
  run: z
    .string()
    .regex(/^[1-9][0-9]{0,3}$/)
    .transform(Number)
    .optional()
    .openapi({
      param: { name: "run", in: "query" },
      type: "integer",
      minimum: 1,
      description: "Number of an earlier decision, as in methodology.runs; without it the newest",
    }),
});

/** Published at an address of its own, a decision's evidence never changes. */
const IMMUTABLE = "private, max-age=31536000, immutable";
const REVALIDATED = "private, no-cache";

/** GET /v1/verdicts/{verdict_id}/evidence. */
export const getEvidence = defineFree({
  method: "get",
  path: "/v1/verdicts/{verdict_id}/evidence",
  tag: "Verdicts",
  summary: "Evidence of a verdict",
  description:
    "The very bytes whose keccak256 is the verdict's `evidence_hash`, and the `reason` at the job's escrow: hashes, findings and quotes of at most 200 characters, as RFC 8785 JSON; never the texts. `Content-Digest` is their SHA-256 (RFC 9530). 404 before the first decision.",
  request: { params: verdictParams, query, body: null },
  answer: {
    schema: z.looseObject({}).openapi({ description: "The evidence, by its own version" }),
    example: { verdict_id: VERDICT_ID_EXAMPLE, final_verdict: "ALLOW" },
    description: "The evidence",
  },
  alternatives: { 304: { description: "Unchanged since the ETag in If-None-Match" } },
  headers: { "If-None-Match": "ETags that the caller holds: 304 where one of them is current" },
  problems: ["not-found", "database-unavailable", "internal"],
  async respond(context, { params, query: { run = null } }, { deps }: { deps: VerdictPorts }) {
    const { id } = await requireVerdict(params.verdict_id, deps);
    const evidence = await deps.verdicts.evidence(id, run);
    if (evidence === null) {
      const which = run === null ? "no decision yet" : `no decision ${run}`;
      throw new Problem("not-found", `Verdict ${id} has ${which}.`);
    }
    const headers = {
      etag: `"${evidence.hash}"`,
      "cache-control": run === null ? REVALIDATED : IMMUTABLE,
      "content-digest": `sha-256=:${hash("sha256", evidence.body, "base64")}:`,
    };
    if (namesVersion(context.req.header("if-none-match"), evidence.hash))
      return answer(context, { status: 304, body: null, headers });
    return answer(context, {
      status: 200,
      body: evidence.body,
      headers: { "content-type": "application/json", ...headers },
    });
  },
});
