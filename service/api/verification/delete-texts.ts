import { z } from "@hono/zod-openapi";
import type { OwnerAccess } from "../../access/access.ts";
import { ownerText } from "../../access/access.ts";
import { Problem } from "../../access/problems.ts";
import type { ErasureOutcome } from "../../verification/verdicts/verdict-result.ts";
import { answerJson, callerRequest } from "../kit/answer.ts";
import { defineFree } from "../kit/endpoint.ts";
import { isoSchema } from "../schemas/values.ts";
import { unknownVerdict, verdictIdOf } from "./require-verdict.ts";
import { verdictParams } from "./verdict-schema.ts";

/** Services of the endpoint. */
type Needs = {
  readonly owners: OwnerAccess;
  readonly eraseTexts: (request: { verdictId: string; owner: string; now: Date }) => Promise<ErasureOutcome>;
};

const erasureSchema = z
  .object({
    verdict_id: z.uuid(),
    requested_at: isoSchema.openapi({ description: "When the first request was made" }),
    erased_at: isoSchema
      .nullable()
      .openapi({ description: "Null until a worker has erased them, which takes seconds" }),
  })
  .openapi("TextErasure");

/** DELETE /v1/verdicts/{verdict_id}/texts. */
export const deleteTexts = defineFree<Needs>()({
  method: "delete",
  path: "/v1/verdicts/{verdict_id}/texts",
  operationId: "erase_verdict_texts",
  tag: "Verdicts",
  summary: "Erase the texts of a verdict",
  description:
    "Erases for good the output, the evidence texts, the models' answers, and what quotes them in the decisions and their evidence documents. Hashes, verdict, scores, rules and evidence hashes stay.\n\n- Texts and evidence are answered 410 then: fetch the evidence first if you may need to prove the `reason` on chain.\n- For the key that submitted the output, the wallet that paid for it, and its client and provider, signed in by `SIGN-IN-WITH-X`. If the client asks by its wallet, its specification is erased as well, unless another verdict or an open job needs it.\n- 409 while the verdict is pending or run again, while its job can still be settled by it, and while it failed and its payer can have it retried, unless the payer asks. Asking again answers the same. Backups keep what they held.",
  identity: "owner",
  request: { params: verdictParams, query: z.object({}), body: null },
  answer: { schema: erasureSchema, description: "The texts are erased, or will be within seconds" },
  problems: ["not-the-submitter", "not-found", "verdict-open", "database-unavailable", "internal"],
  async respond(context, { params }, { deps, now }) {
    const owner = ownerText(await deps.owners.identify(callerRequest(context)));
    const verdictId = verdictIdOf(params.verdict_id);
    const outcome = await deps.eraseTexts({ verdictId, owner, now });
    if (outcome.kind !== "requested") throw refusalOf(outcome, verdictId);
    const body = {
      verdict_id: verdictId,
      requested_at: outcome.requestedAt.toISOString(),
      erased_at: outcome.erasedAt?.toISOString() ?? null,
    };
    return answerJson(context, body, { headers: { "cache-control": "private, no-store" } });
  },
});

function refusalOf(outcome: Exclude<ErasureOutcome, { kind: "requested" }>, verdictId: string): Problem {
  switch (outcome.kind) {
    case "unknown":
      return unknownVerdict(verdictId);
    case "stranger":
      return new Problem(
        "not-the-submitter",
        "Texts are erased for the key that submitted the output, the wallet that paid for it, the client or the provider.",
      );
    case "open":
      return new Problem(
        "verdict-open",
        `The verdict is ${outcome.status}: its texts can be erased once it is completed or failed.`,
      );
    case "owed":
      return new Problem(
        "verdict-open",
        "The verdict failed, and its payer can have it retried: until then only the payer can have its texts erased.",
      );
    case "unsettled":
      return new Problem(
        "verdict-open",
        "The job of this verdict is not settled: its texts can be erased once the escrow has completed, rejected or refunded it.",
      );
  }
}
