import { z } from "@hono/zod-openapi";
import type { OwnerAccess } from "../../access/access.ts";
import { chargeHeaders, ownerText, priceText } from "../../access/access.ts";
import type { RepeatStore } from "../../access/idempotent-answers.ts";
import { Problem } from "../../access/problems.ts";
import type { RetryOutcome } from "../../verification/verdicts/rerun-verdict.ts";
import { type PanelBudget, requirePanel } from "../../verification/verdicts/token-budget.ts";
import { ACT_ONCE, actOnce } from "../kit/act-once.ts";
import { addHeaders, callerRequest } from "../kit/answer.ts";
import { defineFree } from "../kit/endpoint.ts";
import { unknownVerdict, verdictIdOf } from "./require-verdict.ts";

/** Services of the endpoint. */
type Needs = {
  readonly retryVerdict: (request: { verdictId: string; owner: string; now: Date }) => Promise<RetryOutcome>;
  readonly isOfJob: (verdictId: string) => Promise<boolean>;
  readonly panelBudget: PanelBudget | null;
  readonly owners: OwnerAccess;
  readonly repeats: RepeatStore;
};

const retriedSchema = z
  .object({ verdict_id: z.uuid(), status: z.literal("pending") })
  .openapi("RetriedVerdict");

/** POST /v1/verdicts/{verdict_id}/retry. */
export const postRetry = defineFree<Needs>()({
  method: "post",
  path: "/v1/verdicts/{verdict_id}/retry",
  operationId: "retry_verdict",
  tag: "Verification",
  summary: "Have a failed verdict run again",
  description:
    "Queues a verdict that failed again, up to three times, for the API key or the wallet that submitted its output. A payment is never taken a second time. A key had its credits returned when the verdict failed: they are taken again. Where the output is a job's and no credits were returned, the job's client and provider may ask as well, signed in. After the third failure posting the output again buys a new verdict in its place; a job's output that another caller posts buys one at once.",
  request: {
    params: z.object({
      verdict_id: z.string().openapi({
        description: "As POST /v1/outputs answered it",
        example: "0f8a1c1e-7c1d-4d57-8c27-2b1f0d3f5a90",
      }),
    }),
    query: z.object({}),
    body: null,
  },
  answer: { schema: retriedSchema, description: "The verdict, queued again" },
  identity: "owner",
  headers: ACT_ONCE.headers,
  problems: [
    "balance-insufficient",
    "not-the-submitter",
    "not-found",
    "verdict-not-failed",
    "retries-used-up",
    "texts-dropped",
    "panel-not-configured",
    "panel-budget-spent",
    "database-unavailable",
    "internal",
    ...ACT_ONCE.problems,
  ],
  async respond(context, { params }, { deps, now }): Promise<Response> {
    const verdictId = verdictIdOf(params.verdict_id);
    const owner = ownerText(await deps.owners.identify(callerRequest(context)));
    return actOnce(context, deps.repeats, {
      scope: owner,
      endpoint: "POST /v1/verdicts/{verdict_id}/retry",
      input: { verdictId },
      async run() {
        await requirePanel(deps.panelBudget, now, { owner, isOfJob: await deps.isOfJob(verdictId) });
        const charge = requireQueued(verdictId, await deps.retryVerdict({ verdictId, owner, now }));
        if (charge?.kind === "taken") addHeaders(context, chargeHeaders(charge.units, charge.balanceUnits));
        const answer = { verdict_id: verdictId, status: "pending" };
        return { answer, stored: answer };
      },
    });
  },
});

/** The charge of a queued retry; throws the refusal of any other outcome. */
function requireQueued(
  id: string,
  outcome: RetryOutcome,
): Extract<RetryOutcome, { readonly kind: "queued" }>["charge"] {
  switch (outcome.kind) {
    case "queued":
      return outcome.charge;
    case "unknown":
      throw unknownVerdict(id);
    case "not-the-submitter":
      throw new Problem(
        "not-the-submitter",
        `Verdict ${id} can be retried by the key or the wallet that submitted its output; a payment of theirs lets client and provider of its job retry it too. Posting a job's output again buys a new verdict.`,
      );
    case "not-failed":
      throw new Problem(
        "verdict-not-failed",
        `Verdict ${id} is ${outcome.status}; one that failed can be retried.`,
      );
    case "used-up":
      throw new Problem(
        "retries-used-up",
        `Verdict ${id} was retried three times, or replaced. Posting the output again buys a new one.`,
      );
    case "texts-dropped":
      throw new Problem("texts-dropped", `The texts of verdict ${id} are no longer kept.`);
    case "short":
      throw new Problem(
        "balance-insufficient",
        `A verdict costs ${priceText(outcome.units)} USD, which were returned when it failed, and the balance of this key is ${priceText(outcome.balanceUnits)} USD.`,
      );
  }
}
