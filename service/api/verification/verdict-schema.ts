import { z } from "@hono/zod-openapi";
import { GENERATOR_ROLES, ROLE_NAMES, type Voting } from "../../verification/panel/types.ts";
import type { SettlementStatus } from "../../verification/verdicts/verdict-view.ts";
import { eip55Schema, flag, hashSchema, int, isoSchema, text } from "../schemas/values.ts";

const BEFORE = "Null until the status is `completed`";

/** A decision. */
export const decisionSchema = z.enum(["ALLOW", "HOLD", "REJECT"]).openapi("Decision", {
  description: "HOLD: not enough to adjudicate, which is no rejection",
});

const scoreSchema = z.int().min(0).max(100).openapi({ example: 86 });
const shareSchema = z.number().min(0).max(1).openapi({ example: 0.88 });
const jobIdSchema = z.string().openapi({ example: "0x7" });
const escrowSchema = eip55Schema.openapi({ example: "0x5FbDB2315678afecb367f032d93F642f64180aa3" });

const findingSchema = z
  .object({
    role: z.enum(ROLE_NAMES),
    model: z.string().openapi({ example: "scripted" }),
    verdict: decisionSchema.nullable().openapi({
      description: "A generator's vote; null for critic and synthesiser, and where it abstained",
    }),
    score: scoreSchema.nullable(),
    confidence: shareSchema.nullable(),
    criteria: z.array(
      z.object({
        id: z.string().openapi({ example: "c1" }),
        met: flag("Null where the role does not know", true).nullable(),
        evidence: z.string().openapi({ example: "All 12 rows carry a source." }),
      }),
    ),
    objections: z.array(z.string()).openapi({ example: [] }),
    abstained: text("Why it abstained or was not asked; null where the role answered")
      .nullable()
      .openapi({ example: null }),
  })
  .openapi("Finding", {
    description:
      "What one role of the panel found: 20 objections at most, no text of more than 200 characters",
  });

/** Cause of a run or a decision. */
export const causeSchema = z.enum(["submitted", "retried", "evidence", "near_expiry", "appeal", "review"]);

const usdAmount = (description: string, example: number) =>
  z.number().min(0).openapi({ description, example });

const votingSchema = z
  .object({
    effective_votes: z.number().min(0).max(GENERATOR_ROLES.length).openapi({
      description:
        "Independent votes that the ballots behind `confidence` are worth: ballots of one model share its errors",
      example: 1.62,
    }),
    money: z
      .object({
        released_usd: usdAmount("Null if the worth is not known, which counts as above both", 40).nullable(),
        unanimous_above_usd: usdAmount("Above it an ALLOW needs the votes of all four generators", 25),
        second_model_above_usd: usdAmount("Above it an ALLOW needs a ballot of a second model", 1_000),
      })
      .nullable()
      .openapi({ description: "Null if an ALLOW releases no money, as without a bound job" }),
    second_model: z
      .object({ role: z.enum(GENERATOR_ROLES), model: z.string() })
      .nullable()
      .openapi({
        description: "The ballot of a model of another family; null without one",
        example: { role: "evidence_checker", model: "another-model" },
      }),
    evidence_order: z
      .record(z.enum(GENERATOR_ROLES), z.enum(["specification_first", "output_first"]))
      .openapi({
        description: "Which text a generator reads first",
        example: {
          criteria_auditor: "specification_first",
          domain_expert: "output_first",
          evidence_checker: "specification_first",
          user_advocate: "output_first",
        },
      }),
    not_asked: z
      .array(z.object({ role: z.enum(["critic", "synthesiser"]), reason: z.string() }))
      .readonly()
      .openapi({
        description: "Roles that were not asked, since their answers could not change the verdict",
        example: [{ role: "synthesiser", reason: "not asked: no ballot shows an unmet criterion" }],
      }),
  })
  .openapi("Voting") satisfies z.ZodType<Voting>;

const methodologySchema = z
  .object({
    panel_version: text(
      "Null, as prompt_hash, for a review of a verdict that had failed: it names no models",
      "panel-2026.1",
    ).nullable(),
    prompt_hash: text(
      "keccak256 over all prompts and schemas",
      "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    ).nullable(),
    models: z
      .record(z.string(), z.string())
      .openapi({ description: "By role", example: { criteria_auditor: "scripted", critic: "scripted" } }),
    thresholds: z
      .object({ domain: z.string(), confidence: z.number() })
      .openapi({ example: { domain: "default", confidence: 0.7 } }),
    rules_fired: z
      .array(z.string())
      .openapi({ description: "Rules that changed the outcome, in their order", example: [] }),
    voting: votingSchema.nullable().openapi({
      description:
        "How votes were counted. Null for decisions before panel-2026.1, and where the panel made none",
    }),
    runs: z
      .array(
        z.object({
          run: z.int().min(1),
          cause: causeSchema,
          final_verdict: decisionSchema,
          evidence_hash: hashSchema,
          evaluated_at: isoSchema,
        }),
      )
      .openapi({ description: "Every decision so far, oldest first; the last one is valid" }),
    reviewed_by: text("Null for a decision of the panel").nullable().openapi({ example: null }),
    review_reason: z.string().nullable().openapi({ example: null }),
  })
  .openapi("Methodology");

const SETTLEMENT_STATUSES = [
  "unbound",
  "waiting",
  "waiting_for_submission",
  "waiting_for_finality",
  "appealable",
  "appealed",
  "suspended",
  "signed",
  "settled",
  "held",
  "expired_on_hold",
  "refused",
  "expired",
] as const satisfies readonly SettlementStatus[];

const signedSchema = z
  .object({
    verdict: z
      .object({
        escrow: escrowSchema,
        job_id: jobIdSchema.openapi({ description: "Hexadecimal" }),
        deliverable: hashSchema,
        spec_hash: hashSchema,
        decision: z.int().min(1).max(3).openapi({ description: "1 ALLOW, 2 REJECT, 3 HOLD" }),
        score: scoreSchema,
        confidence_bps: z.int().min(0).max(10_000).openapi({ example: 8800 }),
        evidence_hash: hashSchema,
        issued_at: int("Unix seconds", 1_795_168_820),
        deadline: int("Unix seconds; the last at which it may be brought", 1_795_255_220),
      })
      .openapi({ description: "The EIP-712 struct, its members in the order of `Verdict`" }),
    signature: z
      .string()
      .regex(/^0x[0-9a-f]*$/)
      .openapi({ example: `0x${"99".repeat(65)}` }),
    evaluator: eip55Schema.openapi({ description: "The contract that it was signed for" }),
    signer: eip55Schema,
  })
  .openapi("SignedVerdict");

const settlementSchema = z
  .object({
    chain_id: z.int().nullable().openapi({ example: 8453 }),
    escrow: escrowSchema.nullable(),
    job_id: jobIdSchema.openapi({ description: "Hexadecimal, as erc8183_job_id" }),
    status: z.enum(SETTLEMENT_STATUSES).openapi({
      description:
        "unbound: the specification is not the job's, so nothing is ever signed. waiting: there is no decision yet, or it has not been processed. waiting_for_submission, waiting_for_finality: the job's delivery is not on chain, or not final. appealable: it is signed once its time to appeal is over. appealed: a second panel judges. suspended: it cannot be settled now. signed: on its way to the evaluator. settled: the escrow paid or refunded, in a final block. held: the HOLD is on record in a final block, or was given after the job's expiry, when none is taken, and the escrow is untouched. expired_on_hold: the job ran out while held, so its client may take the money back. refused: it is never carried out. expired: the job ran out first, or the signature, which is made anew while the job can be decided",
      example: "settled",
    }),
    tx_hash: hashSchema.nullable(),
    review_by: isoSchema.nullable().openapi({
      description: "Of a held job: when a quarter of its time is left; a person has to decide by then",
      example: null,
    }),
    reason: text("Why nothing is signed, or it was refused, where that is known")
      .nullable()
      .openapi({ example: null }),
    signed: signedSchema.nullable().openapi({
      description:
        "Null where the newest decision is not signed. Anyone may bring it: `settle(escrow, jobId, verdict, signature)` of the evaluator, for a HOLD `hold`, by the deadline. It counts once",
    }),
  })
  .openapi("Settlement");

const appealSchema = z
  .object({
    status: z.enum(["available", "not_appealed", "open", "upheld", "overturned", "held", "failed"]).openapi({
      description:
        "available: it can be appealed until `appeal_by`. not_appealed: that time is over. open: the second panel judges. upheld: it decided the same. overturned: it decided the opposite, which is valid, and the price went back. held: it decided HOLD, and the first decision is valid. failed: it made no decision until `decide_by`, the first decision is valid, and the price went back",
      example: "overturned",
    }),
    appealed_run: z.int().min(1).openapi({ description: "The decision's number, as in methodology.runs" }),
    appeal_by: isoSchema.openapi({ description: "End of the time to appeal" }),
    decide_by: isoSchema.openapi({ description: "An appeal without a decision fails then" }),
    price_usd: z.string().openapi({
      description: "Price of the appeal: a quarter of what the decision moves, at least 0.50",
      example: "8.000",
    }),
    by: z
      .enum(["client", "provider", "submitter"])
      .nullable()
      .openapi({ description: "Null without an appeal", example: "provider" }),
  })
  .openapi("VerdictAppeal");

const resultShape = {
  final_verdict: decisionSchema.nullable(),
  final_score: scoreSchema.nullable().openapi({
    description:
      "Median of the generators' scores, rounded half up. Null, as confidence, mdi and generator_majority, for a review of a verdict that had failed: the struct that is signed for the escrow, and receipts, have 0 there",
  }),
  confidence: shareSchema.nullable().openapi({
    description: "Mean confidence of those who voted with the majority, in hundredths",
  }),
  mdi: z.number().min(0).nullable().openapi({
    description: "Disagreement: population standard deviation of the generators' scores over 50",
    example: 0.06,
  }),
  on_chain_action: z.enum(["complete", "hold_pending_review", "reject"]).nullable(),
  domain: z.string().nullable().openapi({ example: "default" }),
  met_criteria: z
    .array(z.string())
    .nullable()
    .openapi({ example: ["Every row names its source."] }),
  unmet_criteria: z.array(z.string()).nullable().openapi({ example: [] }),
  key_objections: z.array(z.string()).nullable().openapi({ example: [] }),
  reasoning: text(
    "In the panel's words. Here, in key_objections and in strongest_dissent an ellipsis replaces every passage of more than 200 characters that it copied from specification, output or evidence",
    "The table answers what was asked, and each row names where it is from.",
  ).nullable(),
  strongest_dissent: z.string().nullable().openapi({ example: "Two of the sources are older than a year." }),
  generator_majority: decisionSchema.nullable(),
  critic_override_applied: z.boolean().nullable(),
  zero_history_adjustment_applied: z.boolean().nullable(),
  rejection_asymmetry_applied: z.boolean().nullable(),
  latency_ms: z.int().min(0).nullable().openapi({ example: 8412 }),
  evaluated_at: isoSchema.nullable(),
} as const;

/** The answer of GET /v1/verdicts/{verdict_id}. */
export const verdictSchema = z
  .object({
    verdict_id: z.uuid(),
    status: z.enum(["pending", "processing", "completed", "failed"]).openapi({
      description:
        "failed: no verdict could be made, `error_message` says why. A verdict with a decision stays completed: `rerun` shows another one on its way",
      example: "completed",
    }),
    ...resultShape,
    error_message: text("Null unless the status is `failed`").nullable().openapi({ example: null }),
    progress: z
      .array(
        z.object({
          role: z.enum(ROLE_NAMES),
          status: z.enum(["waiting", "asked", "answered", "abstained"]),
        }),
      )
      .nullable()
      .openapi({
        description:
          "How far each role is in the run that is due or under way, without what it says; null without one. Critic and synthesiser are asked only where they can change the verdict",
        example: null,
      }),
    rerun: z
      .object({ cause: causeSchema, status: z.enum(["pending", "processing"]) })
      .nullable()
      .openapi({
        description:
          "Of a HOLD that is run again, or of an appeal; the decision is valid until the new one is there",
        example: null,
      }),
    appeal: appealSchema.nullable().openapi({
      description:
        "Null before the decision is ready to be settled, and where it cannot be appealed: without a job, on HOLD, after a review, without a second panel, and where the price or a chance of success is missing: see panel.md",
    }),
    findings: z.array(findingSchema).nullable(),
    methodology: methodologySchema.nullable(),
    spec_hash: hashSchema,
    output_hash: hashSchema.openapi({ description: "keccak256 of the output's UTF-8 bytes" }),
    evidence_hash: hashSchema.nullable().openapi({
      description:
        "keccak256 of the bytes at GET /v1/verdicts/{verdict_id}/evidence, and the `reason` on chain",
    }),
    settlement: settlementSchema.nullable().openapi({
      description: "Null where the specification names no job",
    }),
  })
  .openapi("Verdict", { description: `Members of the result: ${BEFORE.toLowerCase()}` });

export type VerdictAnswer = z.infer<typeof verdictSchema>;

/** Path parameter of a verdict; anything but a UUID is unknown. */
export const verdictParams = z.object({
  verdict_id: z.string().openapi({
    description: "As POST /v1/outputs answered it",
    example: "7c9e6679-7425-40de-944b-e07fc1f90ae7",
  }),
});
