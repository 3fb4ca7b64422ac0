import { z } from "@hono/zod-openapi";
import type {
  AppealedData,
  AppealFailedData,
  AppealHeldData,
  DecidedData,
  FailedData,
  ReviewDueData,
  VerdictEvent,
} from "../../verification/verdicts/verdict-events.ts";
import { chainIdSchema } from "../schemas/ahs-record.ts";
import { eip55Schema, hashSchema, isoSchema, text } from "../schemas/values.ts";
import { type DescribedEvent, eventSchema } from "../schemas/webhooks.ts";
import { causeSchema, decisionSchema } from "./verdict-schema.ts";

const decidedSchema = z.object({
  verdict_id: z.uuid(),
  status: z.literal("completed"),
  final_verdict: decisionSchema,
  run: z.int().min(1).openapi({ description: "The decision's number, as in methodology.runs" }),
  cause: causeSchema,
  evidence_hash: hashSchema,
  evaluated_at: isoSchema,
}) satisfies z.ZodType<DecidedData>;

const failedSchema = z.object({
  verdict_id: z.uuid(),
  status: z.literal("failed"),
  error_message: z.string().openapi({
    example: "The panel gave too few answers: domain_expert, evidence_checker and critic abstained.",
  }),
}) satisfies z.ZodType<FailedData>;

const appealedRun = z
  .int()
  .min(1)
  .openapi({ description: "The appealed decision's number, as in methodology.runs" });

const appealedSchema = z.object({
  verdict_id: z.uuid(),
  status: z.literal("completed"),
  final_verdict: decisionSchema.openapi({ description: "The appealed decision", example: "REJECT" }),
  appealed_run: appealedRun,
  appellant: z.enum(["client", "provider", "submitter"]).openapi({ example: "provider" }),
  decide_by: isoSchema.openapi({ description: "Without a decision until then the appeal fails" }),
}) satisfies z.ZodType<AppealedData>;

const appealHeldSchema = z.object({
  verdict_id: z.uuid(),
  status: z.literal("completed"),
  run: z.int().min(1).openapi({ description: "The second panel's HOLD, as in methodology.runs", example: 2 }),
  appealed_run: appealedRun.openapi({ description: "The decision that is valid" }),
}) satisfies z.ZodType<AppealHeldData>;

const appealFailedSchema = z.object({
  verdict_id: z.uuid(),
  status: z.literal("completed"),
  appealed_run: appealedRun.openapi({ description: "The decision that is valid" }),
  error_message: z.string().openapi({
    example: "The second panel made no decision until 2026-11-20T11:00:00.000Z.",
  }),
}) satisfies z.ZodType<AppealFailedData>;

const reviewDueSchema = z.object({
  verdict_id: z.uuid(),
  status: z.literal("completed"),
  final_verdict: z.literal("HOLD"),
  chain_id: chainIdSchema,
  escrow: eip55Schema,
  job_id: text("Hexadecimal, as the verdict's settlement has it", "0x7"),
  review_by: isoSchema.openapi({ example: "2026-11-27T04:00:00.000Z" }),
  expires_at: isoSchema.openapi({
    description: "When the job runs out, and its client may be refunded",
    example: "2026-11-29T10:00:00.000Z",
  }),
}) satisfies z.ZodType<ReviewDueData>;

/** Events of a verdict with the schemas of their bodies. Receivers fetch results by id. */
export const VERDICT_EVENTS: Readonly<Record<VerdictEvent, DescribedEvent>> = {
  "verdict.completed": {
    summary: "A verdict is ALLOW or REJECT.",
    schema: eventSchema("verdict.completed", decidedSchema).openapi("VerdictCompletedEvent"),
  },
  "verdict.held": {
    summary: "A verdict is HOLD: evidence may be handed in, or a reviewer decide.",
    schema: eventSchema(
      "verdict.held",
      decidedSchema.extend({ final_verdict: decisionSchema.openapi({ example: "HOLD" }) }),
    ).openapi("VerdictHeldEvent"),
  },
  "verdict.failed": {
    summary: "No verdict could be made, and none will be unless it is retried.",
    schema: eventSchema("verdict.failed", failedSchema).openapi("VerdictFailedEvent"),
  },
  "verdict.appealed": {
    summary:
      "A decision is under appeal: it is not settled before the second panel's, which is an event of its own.",
    schema: eventSchema("verdict.appealed", appealedSchema).openapi("VerdictAppealedEvent"),
  },
  "verdict.appeal_held": {
    summary: "The second panel decided HOLD: the appealed decision is settled.",
    schema: eventSchema("verdict.appeal_held", appealHeldSchema).openapi("VerdictAppealHeldEvent"),
  },
  "verdict.appeal_failed": {
    summary: "An appeal gave no decision: the appealed one is settled, and the price went back.",
    schema: eventSchema("verdict.appeal_failed", appealFailedSchema).openapi("VerdictAppealFailedEvent"),
  },
  "verdict.review_due": {
    summary:
      "A quarter of a held job's time is left: without a decision its client is refunded when it runs out.",
    schema: eventSchema("verdict.review_due", reviewDueSchema).openapi("VerdictReviewDueEvent"),
  },
};
