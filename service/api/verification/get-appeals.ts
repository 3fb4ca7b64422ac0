import { z } from "@hono/zod-openapi";
import { usd } from "../../access/access.ts";
import { APPEAL_PERCENT, LEAST_APPEAL_UNITS } from "../../verification/escrow/appeal-price.ts";
import { type AppealFigures, FIGURE_DAYS } from "../../verification/escrow/appeal-rows.ts";
import { answerJson } from "../kit/answer.ts";
import { defineFree } from "../kit/endpoint.ts";
import { flag, int, text } from "../schemas/values.ts";

/** Services of the endpoint. */
type Needs = {
  readonly appeals: {
    /** Longest time to appeal, and the model of the second panel; null if there are no appeals. */
    readonly terms: { readonly windowSeconds: number; readonly model: string } | null;
    figures(): Promise<AppealFigures>;
  };
};

const appealsSchema = z
  .object({
    enabled: flag("Whether decisions on jobs can be appealed here", true),
    window_seconds: int(
      "Longest time to appeal; a quarter of the time to the job's expiry, if that is less",
      600,
    ).nullable(),
    least_price_usd: z.string().openapi({ example: "0.500" }),
    price_percent: int("Of what the decision moves: the price, if that is more", Number(APPEAL_PERCENT)),
    model: text("Model of the second panel", "other-model-1").nullable(),
    days: int("Days that the figures are about", FIGURE_DAYS),
    decided: int("Appeals with a decision of the second panel", 12),
    upheld: int("With the same decision", 9),
    overturned: int("With the opposite decision", 2),
    held: int("With HOLD: the first decision was settled", 1),
    failed: int("Without a decision in time: the first was settled, and the price went back", 0),
    open: int("Under way now", 1),
    overturn_rate: z.number().min(0).max(1).nullable().openapi({
      description: "`overturned` of `decided`, to 0.0001; null without any",
      example: 0.1667,
    }),
  })
  .openapi("Appeals");

/** GET /v1/appeals. */
export const getAppeals = defineFree<Needs>()({
  method: "get",
  path: "/v1/appeals",
  operationId: "get_appeals",
  tag: "Operation",
  summary: "Terms and figures of appeals",
  description:
    "Terms of appeals, and what the second panel decided in the last 90 days. `enabled` is false without a second panel. Figures are at most half a minute old.",
  request: { params: z.object({}), query: z.object({}), body: null },
  answer: { schema: appealsSchema, description: "Terms and figures" },
  problems: ["database-unavailable", "internal"],
  async respond(context, _input, { deps: { appeals } }) {
    const { upheld, overturned, held, failed, open } = await appeals.figures();
    const decided = upheld + overturned + held;
    const body = {
      enabled: appeals.terms !== null,
      window_seconds: appeals.terms?.windowSeconds ?? null,
      least_price_usd: usd(LEAST_APPEAL_UNITS),
      price_percent: Number(APPEAL_PERCENT),
      model: appeals.terms?.model ?? null,
      days: FIGURE_DAYS,
      decided,
      upheld,
      overturned,
      held,
      failed,
      open,
      overturn_rate: decided === 0 ? null : Math.round((overturned / decided) * 10_000) / 10_000,
    };
    return answerJson(context, body, { headers: { "cache-control": "public, max-age=30" } });
  },
});
