import { z } from "@hono/zod-openapi";
import type { Address } from "viem";
import type { Policy } from "../../model/score/policy-shape.ts";
import { gradeReason } from "../../reports/explain-score.ts";
import type { GradePoint, HistoryQuery, ScoreHistory } from "../../scores/score-history.ts";
import type { ScorePoint, ScoreReader } from "../../scores/stored-score.ts";
import { answerJson } from "../kit/answer.ts";
import { defineFree } from "../kit/endpoint.ts";
import { notIndexed } from "../kit/wallet-report.ts";
import {
  chainIdSchema,
  historyEntrySchema,
  nullableGradeSchema,
  renderHistoryEntry,
} from "../schemas/ahs-record.ts";
import { reasonShape } from "../schemas/explanation.ts";
import { addressParams, eip55Schema, flag, isoSchema, toEip55 } from "../schemas/values.ts";

/** Services of the endpoint. */
type Needs = {
  readonly chainId: number;
  readonly policy: Policy;
  readonly scores: Pick<ScoreReader, "snapshot">;
  readonly scoreHistory: ScoreHistory;
};

const PAGE = 90;
const LONGEST_PAGE = 365;
/** ISO 8601 in UTC. */
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,6})?Z$/;

const query = z.object({
  points: z.enum(["days", "grade_changes"]).default("days").openapi({
    description:
      "days: the last score of each UTC day. grade_changes: the first score, and each whose grade differs from the one before",
  }),
  limit: z
    .string()
    .regex(/^[0-9]{1,3}$/)
    .transform(Number)
    .pipe(z.int().min(1).max(LONGEST_PAGE))
    .default(PAGE)
    .openapi({
      type: "integer",
      minimum: 1,
      maximum: LONGEST_PAGE,
      default: PAGE,
      description: "Maximum number of points",
    }),
  cursor: z
    .string()
    .regex(TIME)
    .transform((time) => new Date(time))
    .refine((time) => !Number.isNaN(time.getTime()), { error: "no such time exists" })
    .optional()
    .openapi({
      type: "string",
      pattern: TIME.source,
      description: "`next_cursor` of the page before, or any time: only scores as of an earlier one",
      example: "2026-11-21T00:00:00.000Z",
    }),
});

const pointSchema = z
  .object({
    ...historyEntrySchema.shape,
    sanctioned: flag("Whether the wallet was on a sanctions list then, which alone makes the score 0"),
    previous_grade: nullableGradeSchema.optional().openapi({
      description:
        "With grade_changes: the grade before; null for the first score and after a record without enough history",
      example: "C",
    }),
    grade_reason: reasonShape.grade_reason.optional().openapi({
      description: "With grade_changes: why the new grade is what it is, from the stored record",
    }),
  })
  .openapi("ScorePoint");

const historySchema = z
  .object({
    address: eip55Schema,
    chain_id: chainIdSchema,
    points: query.shape.points.unwrap(),
    history: z
      .array(pointSchema)
      .max(LONGEST_PAGE)
      .openapi({ description: "Newest first; empty for a wallet without a score" }),
    next_cursor: isoSchema.nullable().openapi({
      description:
        "Null on the last page. A page of grade_changes covers 5,000 scores at most, and may have fewer points than `limit`",
      example: null,
    }),
  })
  .openapi("ScoreHistory");

/** GET /ahs/history/{address}. */
export const getAhsHistory = defineFree<Needs>()({
  method: "get",
  path: "/ahs/history/{address}",
  operationId: "list_score_history",
  tool: "Lists the stored scores of a wallet, newest first: one a day, or each change of its grade with the reason. Use it to see whether an agent improves or declines.",
  tag: "Scores",
  summary: "Stored scores of a wallet over time",
  description:
    "The stored scores of a wallet with grade, confidence, both dimensions and model version, newest first. It scores nothing: `GET /ahs/{address}` does. A model version that differs from the one before may explain a change by itself.",
  request: { params: addressParams, query, body: null },
  answer: { schema: historySchema, description: "A page of the history" },
  problems: ["not-indexed", "index-unavailable", "database-unavailable"],
  async respond(context, { params: { address }, query: { points, limit, cursor } }, { deps }) {
    const { followed, score } = await deps.scores.snapshot(address);
    if (!followed && score === null) throw notIndexed(address);
    const { history, next } = await readPage(address, { points, before: cursor ?? null, limit }, deps);
    const body: z.infer<typeof historySchema> = {
      address: toEip55(address),
      chain_id: deps.chainId,
      points,
      history,
      next_cursor: next === null ? null : next.toISOString(),
    };
    return answerJson(context, body, { headers: { "cache-control": "public, max-age=30" } });
  },
});

type Point = z.infer<typeof pointSchema>;

async function readPage(
  address: Address,
  { points, ...page }: HistoryQuery & Pick<z.infer<typeof historySchema>, "points">,
  { scoreHistory, policy }: Pick<Needs, "scoreHistory" | "policy">,
): Promise<{ readonly history: Point[]; readonly next: Date | null }> {
  if (points === "days") {
    const { points: days, next } = await scoreHistory.daily(address, page);
    return { history: days.map(renderPoint), next };
  }
  const { points: changes, next } = await scoreHistory.gradeChanges(address, page);
  return { history: changes.map((change) => renderChange(change, policy)), next };
}

function renderPoint(point: ScorePoint): Point {
  return { ...renderHistoryEntry(point), sanctioned: point.sanctioned };
}

function renderChange(change: GradePoint, policy: Policy): Point {
  return {
    ...renderPoint(change),
    previous_grade: change.previousGrade,
    grade_reason: gradeReason(change, policy),
  };
}
