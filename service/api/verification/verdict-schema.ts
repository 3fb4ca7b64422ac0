import { z } from "@hono/zod-openapi";
import { ROLE_NAMES } from "../../verification/panel/types.ts";
import type { SettlementStatus } from "../../verification/verdicts/verdict-view.ts";
import { eip55Schema, isoSchema } from "../schemas/values.ts";

const BEFORE = "Null until the status is `completed`";

/** A decision. */
export const decisionSchema = z.enum(["ALLOW", "HOLD", "REJECT"]).openapi("Decision", {
  description: "HOLD: not enough to adjudicate, which is no rejection",
});

/** keccak256 or a transaction, as 0x and 64 lower-case hexadecimal digits. */
export const hashSchema = z.string().regex(/^0x[0-9a-f]{64}$/);

const findingSchema = z
  .object({
    role: z.enum(ROLE_NAMES),
    model: z.string(),
    verdict: decisionSchema.nullable().openapi({
      description: "A generator's vote; null for critic and synthesiser, and where it abstained",
    }),
    score: z.int().min(0).max(100).nullable(),
    confidence: z.number().min(0).max(1).nullable(),
    criteria: z.array(
      z.object({
        id: z.string(),
        met: z.boolean().nullable().openapi({ description: "Null where the role cannot tell" }),
        evidence: z.string(),
      }),
    ),
    objections: z.array(z.string()),
    abstained: z.string().nullable().openapi({ description: "Why; null where the role answered" }),
  })
  .openapi("Finding", {
    description:
      "What one role of the panel found: 20 objections at most, no text of more than 200 characters",
  });

/** Cause of a run or a decision. */
export const causeSchema = z.enum(["submitted", "retried", "evidence", "near_expiry", "review"]);

const methodologySchema = z
  .object({
    panel_version: z.string().nullable().openapi({
      description: "Null, as prompt_hash, for a review of a verdict that had failed: it names no models",
    }),
    prompt_hash: z.string().nullable().openapi({ description: "keccak256 over all prompts and schemas" }),
    models: z.record(z.string(), z.string()).openapi({ description: "By role" }),
    thresholds: z.object({ domain: z.string(), confidence: z.number() }),
    rules_fired: z
      .array(z.string())
      .openapi({ description: "Rules that changed the outcome, in their order" }),
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
      .openapi({ description: "Every decision so far, oldest first; the last one stands" }),
    reviewed_by: z.string().nullable().openapi({ description: "Null for a decision of the panel" }),
    review_reason: z.string().nullable(),
  })
  .openapi("Methodology");

const SETTLEMENT_STATUSES = [
  "unbound",
  "waiting",
  "waiting_for_submission",
  "waiting_for_finality",
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
        escrow: eip55Schema,
        job_id: z.string().openapi({ description: "Hexadecimal" }),
        deliverable: hashSchema,
        spec_hash: hashSchema,
        decision: z.int().min(1).max(3).openapi({ description: "1 ALLOW, 2 REJECT, 3 HOLD" }),
        score: z.int().min(0).max(100),
        confidence_bps: z.int().min(0).max(10_000),
        evidence_hash: hashSchema,
        issued_at: z.int().openapi({ description: "Unix seconds" }),
        deadline: z.int().openapi({ description: "Unix seconds; the last at which it may be brought" }),
      })
      .openapi({ description: "The EIP-712 struct, its members in the order of `Verdict`" }),
    signature: z.string().regex(/^0x[0-9a-f]*$/),
    evaluator: eip55Schema.openapi({ description: "The contract that it was signed for" }),
    signer: eip55Schema,
  })
  .openapi("SignedVerdict");

const settlementSchema = z
  .object({
    chain_id: z.int().nullable(),
    escrow: eip55Schema.nullable(),
    job_id: z.string().openapi({ description: "Hexadecimal, as erc8183_job_id" }),
    status: z.enum(SETTLEMENT_STATUSES).openapi({
      description:
        "unbound: the specification is not the job's, so nothing is ever signed. waiting: there is no decision yet, or it was not looked at. waiting_for_submission, waiting_for_finality: the job's delivery is not on chain, or not final. suspended: it cannot be settled now. signed: on its way to the evaluator. settled: the escrow paid or refunded, in a final block. held: the HOLD is on record in a final block, or was given after the job's expiry, when none is taken, and the escrow is untouched. expired_on_hold: the job ran out while held, so its client may take the money back. refused: it is never carried out. expired: the job ran out first, or the signature, which is made anew while the job can be decided",
    }),
    tx_hash: hashSchema.nullable(),
    review_by: isoSchema.nullable().openapi({
      description: "Of a held job: when a quarter of its time is left; somebody has to decide by then",
    }),
    reason: z
      .string()
      .nullable()
      .openapi({ description: "Why nothing is signed, or it was refused, where that is known" }),
    signed: signedSchema.nullable().openapi({
      description:
        "Null where the newest decision is not signed. Anyone may bring it: `settle(escrow, jobId, verdict, signature)` of the evaluator, for a HOLD `hold`, by the deadline. It counts once",
    }),
  })
  .openapi("Settlement");

const resultShape = {
  final_verdict: decisionSchema.nullable(),
  final_score: z.int().min(0).max(100).nullable().openapi({
    description:
      "Mean of the generators' scores, rounded half up. Null, as confidence, mdi and generator_majority, for a review of a verdict that had failed: the struct that is signed for the escrow, and receipts, have 0 there",
  }),
  confidence: z.number().min(0).max(1).nullable().openapi({
    description: "Mean confidence of those who voted with the majority, in hundredths",
  }),
  mdi: z.number().min(0).nullable().openapi({
    description: "Disagreement: population standard deviation of the generators' scores over 50",
  }),
  on_chain_action: z.enum(["complete", "hold_pending_review", "reject"]).nullable(),
  domain: z.string().nullable(),
  met_criteria: z.array(z.string()).nullable(),
  unmet_criteria: z.array(z.string()).nullable(),
  key_objections: z.array(z.string()).nullable(),
  reasoning: z.string().nullable().openapi({
    description:
      "In the panel's words. Here, in key_objections and in strongest_dissent an ellipsis stands for whatever it copied in more than 200 characters from specification, output or evidence",
  }),
  strongest_dissent: z.string().nullable(),
  generator_majority: decisionSchema.nullable(),
  critic_override_applied: z.boolean().nullable(),
  zero_history_adjustment_applied: z.boolean().nullable(),
  rejection_asymmetry_applied: z.boolean().nullable(),
  latency_ms: z.int().min(0).nullable(),
  evaluated_at: isoSchema.nullable(),
} as const;

/** The answer of GET /v1/verdicts/{verdict_id}. */
export const verdictSchema = z
  .object({
    verdict_id: z.uuid(),
    status: z.enum(["pending", "processing", "completed", "failed"]).openapi({
      description:
        "failed: no verdict could be made, `error_message` says why. A verdict with a decision stays completed: `rerun` tells of another one on its way",
    }),
    ...resultShape,
    error_message: z.string().nullable().openapi({ description: "Null unless the status is `failed`" }),
    rerun: z
      .object({ cause: causeSchema, status: z.enum(["pending", "processing"]) })
      .nullable()
      .openapi({
        description: "Of a HOLD that is run again; its decision stands until the new one is there",
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

export const VERDICT_ID_EXAMPLE = "7c9e6679-7425-40de-944b-e07fc1f90ae7";

/** Path parameter of a verdict; anything but a UUID is unknown. */
export const verdictParams = z.object({
  verdict_id: z.string().openapi({
    param: { name: "verdict_id", in: "path" },
    description: "As POST /v1/outputs answered it",
    example: VERDICT_ID_EXAMPLE,
  }),
});
