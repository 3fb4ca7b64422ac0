import { z } from "@hono/zod-openapi";
import { type AlertEvent, THRESHOLD_EVENT } from "../../alerts/plan-events.ts";
import { thresholdsFrom, WATCHED_VALUES } from "../../alerts/thresholds.ts";
import type { AlertThresholds } from "../../db/tables/alerts.ts";
import { echoInput } from "../validation/echo-input.ts";
import { laxInteger } from "../validation/lax-values.ts";
import { ValidationFailed } from "../validation/validation-failed.ts";

/** 0 to 1 in at most three decimals. */
const CONFIDENCE = /^(?:0(?:\.[0-9]{1,3})?|1(?:\.0{1,3})?)$/;

/** The query parameters that choose thresholds. */
export const thresholdQuery = {
  score_below: scoreBelow("score_below", "the score"),
  d1_below: scoreBelow("d1_below", "the first dimension"),
  d2_below: scoreBelow("d2_below", "the second dimension"),
  confidence_below: z
    .string()
    .regex(CONFIDENCE)
    .transform(Number)
    .optional()
    .openapi({
      param: { name: "confidence_below", in: "query", required: false },
      type: "number",
      minimum: 0,
      maximum: 1,
      multipleOf: 0.001,
      description:
        "Be told when the confidence falls below this, 0 to 1 in at most three decimals. Nothing is below 0.",
      example: 0.5,
    }),
} as const;

type Given = {
  readonly score_below?: number | undefined;
  readonly d1_below?: number | undefined;
  readonly d2_below?: number | undefined;
  readonly confidence_below?: number | undefined;
};

/** The thresholds of a query as they are stored; null where it has none. */
export function thresholdsOf(query: Given): AlertThresholds | null {
  return thresholdsFrom({
    ahs_score: query.score_below,
    d1_score: query.d1_below,
    d2_score: query.d2_below,
    confidence: query.confidence_below,
  });
}

/**
 * Throws the 422 of events that do not go with thresholds: thresholds of which nobody would be told, and the event of thresholds
 * where there are none; `held` answers whether the subscription has some already.
 */
export async function refuseUnheard(
  {
    events,
    thresholds,
  }: { readonly events: readonly AlertEvent[] | undefined; readonly thresholds: AlertThresholds | null },
  held: () => Promise<boolean>,
): Promise<void> {
  if (events === undefined) return;
  const isAsked = events.includes(THRESHOLD_EVENT);
  if (thresholds !== null && !isAsked)
    throw refusal(
      events,
      `thresholds were given, and events leave ${THRESHOLD_EVENT} out: nobody would be told`,
    );
  if (thresholds === null && isAsked && !(await held()))
    throw refusal(
      events,
      `${THRESHOLD_EVENT} needs a threshold: give score_below, d1_below, d2_below or confidence_below`,
    );
}

/** A threshold and how its value stands. */
export const watchedSchema = z
  .object({
    value: z.enum(WATCHED_VALUES),
    below: z.number().openapi({ description: "The threshold" }),
    current: z
      .number()
      .nullable()
      .openapi({ description: "Of the newest score; null without a score, or without enough history" }),
  })
  .openapi("WatchedThreshold");

/** A threshold that a change of score took its value below. */
export const breachSchema = z
  .object({
    value: z.enum(WATCHED_VALUES),
    below: z.number().openapi({ description: "The threshold" }),
    previous: z.number().nullable().openapi({ description: "At or above the threshold, or null: unknown" }),
    current: z.number(),
  })
  .openapi("ThresholdBreach");

function scoreBelow(name: string, what: string) {
  return laxInteger(z.int().min(0).max(100))
    .optional()
    .openapi({
      param: { name, in: "query", required: false },
      type: "integer",
      minimum: 0,
      maximum: 100,
      description: `Be told when ${what} falls below this. Nothing is below 0.`,
    });
}

function refusal(events: readonly AlertEvent[], error: string): ValidationFailed {
  const loc = ["query", "events"];
  const input = echoInput(events.join(","));
  return new ValidationFailed([
    { type: "value_error", loc, msg: `Value error, ${error}`, input, ctx: { error } },
  ]);
}
