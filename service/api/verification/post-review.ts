import { z } from "@hono/zod-openapi";
import type { RepeatStore } from "../../access/idempotent-answers.ts";
import type { KeyServices } from "../../access/key-services.ts";
import { Problem, unauthorized } from "../../access/problems.ts";
import type { Review, ReviewOutcome } from "../../verification/verdicts/verdict-result.ts";
import { ACT_ONCE, actOnce } from "../kit/act-once.ts";
import { callerRequest } from "../kit/answer.ts";
import type { ApiContext } from "../kit/api-env.ts";
import { defineFree } from "../kit/endpoint.ts";
import { hashSchema } from "../schemas/values.ts";
import { filledTextSchema } from "./body-schema.ts";
import type { VerdictNeeds } from "./require-verdict.ts";
import { requireVerdict } from "./require-verdict.ts";
import { verdictParams } from "./verdict-schema.ts";

/** Services of the endpoint. */
type Needs = VerdictNeeds & {
  readonly keys: Pick<KeyServices, "enter" | "find">;
  readonly repeats: RepeatStore;
  readonly recordReview: (review: Review) => Promise<ReviewOutcome>;
};

const ENDPOINT = "POST /v1/verdicts/{verdict_id}/review";
/** Scope of an API key. */
const SCOPE = "review";
const MAX_REASON = 2_000;

const bodySchema = z
  .object({
    decision: z.enum(["ALLOW", "REJECT"]).openapi({ example: "ALLOW" }),
    reason: filledTextSchema(MAX_REASON).openapi({
      type: "string",
      minLength: 1,
      maxLength: MAX_REASON,
      example: "The sources handed in cover every row.",
      description: "Part of the evidence",
    }),
  })
  .openapi("ReviewInput");

const reviewedSchema = z
  .object({
    verdict_id: z.uuid(),
    final_verdict: z.enum(["ALLOW", "REJECT"]),
    run: z.int().min(1).openapi({ description: "The decision's number, as in methodology.runs", example: 2 }),
    evidence_hash: hashSchema,
    reviewed_by: z.string().openapi({ example: "Trust desk" }),
  })
  .openapi("ReviewedVerdict");

/** POST /v1/verdicts/{verdict_id}/review. */
export const postReview = defineFree<Needs>()({
  method: "post",
  path: "/v1/verdicts/{verdict_id}/review",
  operationId: "review_verdict",
  tag: "Verdicts",
  summary: "Decide on a verdict on HOLD, or a failed one of a job",
  description:
    "For reviewers: an API key of the operator with the scope `review` (`ahs keys create --scope review`). The decision is one of its own in methodology.runs, with new evidence that names the key and the reason, and settles the job where there is one; leaving it on HOLD takes no call. A verdict of a job that failed may be decided too, so that the job has an end: its answer has no score, no confidence and no findings then. 409 for any other verdict.",
  identity: "key",
  headers: ACT_ONCE.headers,
  request: { params: verdictParams, query: z.object({}), body: bodySchema },
  answer: { schema: reviewedSchema, description: "The decision is recorded" },
  problems: [
    "scope-missing",
    "not-found",
    "verdict-not-held",
    "database-unavailable",
    "internal",
    ...ACT_ONCE.problems,
  ],
  async respond(context, { params, body }, { deps }) {
    if (body === null) throw new Error("a body was checked and is absent");
    const { keyId, name } = await requireReviewer(context, deps);
    const { id: verdictId } = await requireVerdict(params.verdict_id, deps);
    return actOnce(context, deps.repeats, {
      scope: `key:${keyId}`,
      endpoint: ENDPOINT,
      input: { verdictId, ...body },
      async run() {
        const outcome = await deps.recordReview({ verdictId, ...body, reviewedBy: name });
        if (outcome.kind !== "recorded") throw refusalOf(outcome);
        const answer = {
          verdict_id: verdictId,
          final_verdict: body.decision,
          run: outcome.run,
          evidence_hash: outcome.evidenceHash,
          reviewed_by: name,
        };
        return { answer, stored: answer };
      },
    });
  },
});

async function requireReviewer(
  context: ApiContext,
  { keys }: Pick<Needs, "keys">,
): Promise<{ readonly keyId: string; readonly name: string }> {
  const caller = await keys.enter(callerRequest(context));
  if (caller === null)
    throw unauthorized("key-missing", "Send an API key with the scope review in X-API-Key.");
  const reviewer = await keys.find(caller.keyId);
  if (reviewer === null || !reviewer.scopes.includes(SCOPE))
    throw new Problem("scope-missing", `This API key does not have the scope ${SCOPE}.`);
  return { keyId: caller.keyId, name: reviewer.name };
}

function refusalOf(outcome: Exclude<ReviewOutcome, { kind: "recorded" }>): Problem {
  switch (outcome.kind) {
    case "not_held":
      return new Problem("verdict-not-held", `The verdict is ${outcome.finalVerdict}, not HOLD.`);
    case "undecided":
      return new Problem(
        "verdict-not-held",
        "The verdict has no decision yet, and is not one of a job that failed.",
      );
  }
}
