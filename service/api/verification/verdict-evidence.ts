import { hash } from "node:crypto";
import { z } from "@hono/zod-openapi";
import type { OwnerAccess } from "../../access/access.ts";
import { ownerText } from "../../access/access.ts";
import type { RepeatStore } from "../../access/idempotent-answers.ts";
import { Problem } from "../../access/problems.ts";
import type { EvidenceOffer, EvidenceOutcome } from "../../verification/verdicts/accept-evidence.ts";
import type { readStoredEvidence } from "../../verification/verdicts/verdict-view.ts";
import { ACT_ONCE, actOnce } from "../kit/act-once.ts";
import { answer, callerRequest, namesVersion } from "../kit/answer.ts";
import { defineFree } from "../kit/endpoint.ts";
import { ValidationFailed } from "../kit/validation-failed.ts";
import { hashSchema, isoSchema, laxBoolean } from "../schemas/values.ts";
import { fault, filledTextSchema } from "./body-schema.ts";
import type { VerdictNeeds } from "./require-verdict.ts";
import { requireVerdict, unknownVerdict, verdictIdOf } from "./require-verdict.ts";
import { verdictParams } from "./verdict-schema.ts";

/** Services of the endpoint. */
type Needs = VerdictNeeds & {
  /** Evidence of the decision with this number, or of the newest if it is null. */
  readonly verdicts: { evidence(id: string, run: number | null): ReturnType<typeof readStoredEvidence> };
};

/** Services of the endpoint that takes evidence. */
type OfferNeeds = {
  readonly describeEvidenceOverflow: (text: string) => string | null;
  readonly owners: OwnerAccess;
  readonly repeats: RepeatStore;
  readonly acceptEvidence: (offer: EvidenceOffer) => Promise<EvidenceOutcome>;
};

const query = z.object({
  run: z
    .string()
    .regex(/^[1-9][0-9]{0,3}$/)
    .transform(Number)
    .optional()
    .openapi({
      type: "integer",
      minimum: 1,
      description: "Number of an earlier decision, as in methodology.runs; without it the newest",
    }),
});

/** Evidence at its own URL never changes. */
const IMMUTABLE = "private, max-age=31536000, immutable";
const REVALIDATED = "private, no-cache";

/** GET /v1/verdicts/{verdict_id}/evidence. */
export const getEvidence = defineFree<Needs>()({
  method: "get",
  path: "/v1/verdicts/{verdict_id}/evidence",
  operationId: "get_evidence",
  tool: "Returns the evidence document behind a verdict: hashes, findings and the applied rules. Use it to check a verdict against the chain.",
  tag: "Verdicts",
  summary: "Evidence of a verdict",
  description:
    "The very bytes whose keccak256 is the verdict's `evidence_hash`, and the `reason` at the job's escrow: hashes, findings and quotes of at most 200 characters, as RFC 8785 JSON; never the texts. `Content-Digest` is their SHA-256 (RFC 9530). 404 before the first decision, 410 once it was erased with the texts on request.",
  request: { params: verdictParams, query, body: null },
  answer: {
    schema: z.looseObject({}).openapi({ description: "The evidence, by its own version" }),
    description: "The evidence",
  },
  alternatives: { 304: { description: "Unchanged since the ETag in If-None-Match" } },
  headers: { "If-None-Match": "ETags that the caller holds: 304 where one of them is current" },
  problems: ["not-found", "texts-dropped", "database-unavailable", "internal"],
  async respond(context, { params, query: { run = null } }, { deps }) {
    const { id } = await requireVerdict(params.verdict_id, deps);
    const evidence = await deps.verdicts.evidence(id, run);
    if (evidence === null) {
      const which = run === null ? "no decision yet" : `no decision ${run}`;
      throw new Problem("not-found", `Verdict ${id} has ${which}.`);
    }
    if (evidence.body === null)
      throw new Problem(
        "texts-dropped",
        `The evidence of decision ${evidence.run} was erased on request. Its hash stays: ${evidence.hash}.`,
      );
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

const ENDPOINT = "POST /v1/verdicts/{verdict_id}/evidence";
const MAX_CHARACTERS = 50_000;
const BUSY_SECONDS = 30;

const bodySchema = z
  .object({
    text: filledTextSchema(MAX_CHARACTERS).openapi({
      type: "string",
      minLength: 1,
      maxLength: MAX_CHARACTERS,
      example: "The sources of rows 4 to 9, with the pages that were cited.",
    }),
    final: laxBoolean().default(false).openapi({
      type: "boolean",
      default: false,
      description: "Whether the re-run need not wait for more of the caller's",
    }),
  })
  .openapi("EvidenceInput");

const storedSchema = z
  .object({
    verdict_id: z.uuid(),
    text_hash: hashSchema.openapi({ description: "keccak256 of the text's UTF-8 bytes" }),
    count: z.int().min(1).max(3).openapi({ description: "Texts that the verdict has now" }),
    rerun_at: isoSchema.openapi({ description: "When the verdict is run again, or soon after" }),
  })
  .openapi("KeptEvidence");

/** POST /v1/verdicts/{verdict_id}/evidence. */
export const postEvidence = defineFree<OfferNeeds>()({
  method: "post",
  path: "/v1/verdicts/{verdict_id}/evidence",
  operationId: "offer_evidence",
  tool: "Submits evidence for a verdict on HOLD, which causes one new run. Use it if the verdict names what is missing.",
  tag: "Verdicts",
  summary: "Hand in evidence for a verdict on HOLD",
  description:
    "Free. Accepts up to three texts for the one re-run, each of about a sixth of what a verdict is sold for, some 10,000 characters of English, that evidence causes. The re-run starts when the third text arrives, when one has `final`, or ten minutes after the first; `rerun_at` says when. Allowed for the key that submitted the output, the wallet that paid for it, and the job's client and provider, signed in by `SIGN-IN-WITH-X`. If the verdict decides on a job, one text is kept for its client and one for its provider, each proven by its wallet, and the third is open to all of these. `final` then ends the caller's own turn: the re-run waits for both, or for ten minutes, but no longer than half the time to the job's `review_by` (after that, to its expiry). The panel reads the texts as data, as it reads the output. The earlier decision is valid until the new one is stored. With the re-run at half of a held job's time there are two re-runs at most.",
  identity: "owner",
  headers: ACT_ONCE.headers,
  request: { params: verdictParams, query: z.object({}), body: bodySchema },
  answer: { schema: storedSchema, description: "The text is kept" },
  problems: [
    "not-the-submitter",
    "not-found",
    "verdict-not-held",
    "evidence-used-up",
    "texts-dropped",
    "database-unavailable",
    "internal",
    ...ACT_ONCE.problems,
  ],
  async respond(context, { params, body }, { deps }) {
    if (body === null) throw new Error("a body was checked and is absent");
    const owner = ownerText(await deps.owners.identify(callerRequest(context)));
    const verdictId = verdictIdOf(params.verdict_id);
    const { text, final: isFinal } = body;
    const overflow = deps.describeEvidenceOverflow(text);
    if (overflow !== null) throw new ValidationFailed([fault("text", text, overflow)]);
    return actOnce(context, deps.repeats, {
      scope: owner,
      endpoint: ENDPOINT,
      input: { verdictId, text, isFinal },
      async run() {
        const outcome = await deps.acceptEvidence({ verdictId, owner, text, isFinal });
        if (outcome.kind !== "kept") throw refusalOf(outcome, verdictId);
        const answer = {
          verdict_id: verdictId,
          text_hash: outcome.textHash,
          count: outcome.count,
          rerun_at: outcome.rerunAt.toISOString(),
        };
        return { answer, stored: answer };
      },
    });
  },
});

function refusalOf(outcome: Exclude<EvidenceOutcome, { kind: "kept" }>, verdictId: string): Problem {
  switch (outcome.kind) {
    case "unknown":
      return unknownVerdict(verdictId);
    case "stranger":
      return new Problem(
        "not-the-submitter",
        "Evidence is taken from the key that submitted the output, the wallet that paid for it, the client or the provider.",
      );
    case "not-held":
      return new Problem("verdict-not-held", `The verdict is ${outcome.status}, not HOLD.`);
    case "busy":
      return new Problem(
        "verdict-not-held",
        "The verdict is being run again: its new decision comes first.",
        {
          headers: { "retry-after": String(BUSY_SECONDS) },
        },
      );
    case "used-up":
      return new Problem(
        "evidence-used-up",
        "A verdict takes three texts for one re-run, which was made or is under way.",
      );
    case "reserved":
      return new Problem(
        "evidence-used-up",
        "What is left of the three texts is kept for the job's client and provider, one for each.",
      );
    case "texts-dropped":
      return new Problem(
        "texts-dropped",
        "The texts of this verdict were dropped, so it cannot be run again.",
      );
  }
}
