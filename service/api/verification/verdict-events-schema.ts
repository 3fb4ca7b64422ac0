import { z } from "@hono/zod-openapi";
import type {
  DecidedData,
  FailedData,
  ReviewDueData,
  VerdictEvent,
} from "../../verification/verdicts/verdict-events.ts";
import { eip55Schema, isoSchema } from "../schemas/values.ts";
import type { DescribedEvent } from "../schemas/webhooks.ts";
import { causeSchema, decisionSchema, hashSchema, VERDICT_ID_EXAMPLE } from "./verdict-schema.ts";

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
  error_message: z.string(),
}) satisfies z.ZodType<FailedData>;

const reviewDueSchema = z.object({
  verdict_id: z.uuid(),
  status: z.literal("completed"),
  final_verdict: z.literal("HOLD"),
  chain_id: z.int(),
  escrow: eip55Schema,
  job_id: z.string().openapi({ description: "Hexadecimal, as the verdict's settlement has it" }),
  review_by: isoSchema,
  expires_at: isoSchema.openapi({ description: "When the job runs out, and its client may be refunded" }),
}) satisfies z.ZodType<ReviewDueData>;

const DECIDED_EXAMPLE: DecidedData = {
  verdict_id: VERDICT_ID_EXAMPLE,
  status: "completed",
  final_verdict: "ALLOW",
  run: 1,
  cause: "submitted",
  evidence_hash: `0x${"44".repeat(32)}`,
  evaluated_at: "2026-11-20T10:00:09.000Z",
};

const REVIEW_DUE_EXAMPLE: ReviewDueData = {
  verdict_id: VERDICT_ID_EXAMPLE,
  status: "completed",
  final_verdict: "HOLD",
  chain_id: 31_337,
  escrow: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
  job_id: "0x7",
  review_by: "2026-11-27T04:00:00.000Z",
  expires_at: "2026-11-29T10:00:00.000Z",
};

/** Events of a verdict with schema and example of their bodies. Receivers fetch results by id. */
export const VERDICT_EVENTS: Readonly<Record<VerdictEvent, DescribedEvent>> = {
  "verdict.completed": described("verdict.completed", "A verdict is ALLOW or REJECT.", {
    data: decidedSchema,
    example: DECIDED_EXAMPLE,
    component: "VerdictCompletedEvent",
  }),
  "verdict.held": described(
    "verdict.held",
    "A verdict is HOLD: evidence may be handed in, or a reviewer decide.",
    {
      data: decidedSchema,
      example: { ...DECIDED_EXAMPLE, final_verdict: "HOLD" },
      component: "VerdictHeldEvent",
    },
  ),
  "verdict.failed": described(
    "verdict.failed",
    "No verdict could be made, and none will be unless it is retried.",
    {
      data: failedSchema,
      example: {
        verdict_id: VERDICT_ID_EXAMPLE,
        status: "failed",
        error_message:
          "The panel gave too few answers: domain_expert, evidence_checker and critic abstained.",
      },
      component: "VerdictFailedEvent",
    },
  ),
  "verdict.review_due": described(
    "verdict.review_due",
    "A quarter of a held job's time is left: without a decision its client is refunded when it runs out.",
    { data: reviewDueSchema, example: REVIEW_DUE_EXAMPLE, component: "VerdictReviewDueEvent" },
  ),
};

function described(
  type: VerdictEvent,
  summary: string,
  {
    data,
    example,
    component,
  }: { readonly data: z.ZodType; readonly example: unknown; readonly component: string },
): DescribedEvent {
  const timestamp = "2026-11-20T10:00:09.000Z";
  return {
    summary,
    schema: z
      .object({
        type: z.literal(type),
        timestamp: isoSchema.openapi({ description: "When it happened; the same at every attempt" }),
        data,
      })
      .openapi(component),
    example: { type, timestamp, data: example },
  };
}
