import type { Address } from "viem";
import { type Database, rowsInTime } from "../db/database.ts";
import { SECONDS_PER_DAY } from "../model/features/time.ts";
import type { Grade } from "../model/score/record.ts";
import type { ScorePoint, StoredScore } from "./stored-score.ts";

/** A stored score whose grade differs from the one before, or the first one, with what its grade is made of. */
export type GradePoint = ScorePoint &
  Pick<StoredScore, "features" | "patterns"> & {
    /** Null for the first score, and after a record without enough history. */
    readonly previousGrade: Grade | null;
  };

/** A part of a history, newest first. */
export type HistoryPage<Point> = {
  readonly points: readonly Point[];
  /** The `before` of the next part; null for the last one. */
  readonly next: Date | null;
};

export type HistoryQuery = {
  /** Only scores as of an earlier time; null for the newest. */
  readonly before: Date | null;
  readonly limit: number;
};

/** Scores that one part of the changes of grade is found in. */
const SCORES_READ = 5_000;

export type ScoreHistory = ReturnType<typeof createScoreHistory>;

/** Reads the stored scores of wallets (lower-case) of one chain, by the index of their times. */
export function createScoreHistory(db: Database, chainId: number) {
  const valuesOf = (wallet: Address, { before, limit }: HistoryQuery) => [
    ...[chainId, wallet, before ?? "infinity", limit],
  ];
  return {
    /** The last score of each UTC day that has one; each takes one search of the index. */
    async daily(wallet: Address, query: HistoryQuery): Promise<HistoryPage<ScorePoint>> {
      const values = valuesOf(wallet, query);
      const found = await rowsInTime<ScorePoint>(db, { name: "score_daily", text: DAILY, values });
      const points = found.slice(0, query.limit);
      const last = found.length > query.limit ? points.at(-1) : undefined;
      return { points, next: last === undefined ? null : startOfDay(last.asOfTime) };
    },
    /** Changes of grade among the next 5,000 scores: a part may hold fewer than `limit`, and not be the last. */
    async gradeChanges(wallet: Address, query: HistoryQuery): Promise<HistoryPage<GradePoint>> {
      const values = valuesOf(wallet, query);
      const rows = await rowsInTime<ChangeRow>(db, { name: "score_changes", text: GRADE_CHANGES, values });
      const changes = rows.flatMap(({ isChange, isEdge: _isEdge, ...point }) => (isChange ? [point] : []));
      const points = changes.slice(0, query.limit);
      const last = changes.length > query.limit ? points.at(-1) : rows.find(({ isEdge }) => isEdge);
      return { points, next: last?.asOfTime ?? null };
    },
  };
}

/** Midnight in UTC. */
function startOfDay(time: Date): Date {
  return new Date(Math.floor(time.getTime() / DAY_MS) * DAY_MS);
}

const DAY_MS = 1_000 * SECONDS_PER_DAY;

const COLUMNS = `s.as_of_block::float8 as "asOfBlock", s.as_of_time as "asOfTime", s.model_version as "modelVersion",
  s.ahs_score as "ahsScore", s.d1_score as "d1Score", s.d2_score as "d2Score", s.grade,
  s.confidence_micros as "confidenceMicros", s.confidence_level as "confidenceLevel", s.sanctioned, s.inputs_hash as "inputsHash"`;

/** Steps from the last score of a day to the last one before that day; one more than the limit, to know of the next part. */
const DAILY = `
  with recursive daily as (
    (
      select id, as_of_time, 1 as place from ahs.score
      where chain_id = $1 and wallet = $2 and as_of_time < $3::timestamptz
      order by as_of_time desc, id desc limit 1
    )
    union all
    select earlier.id, earlier.as_of_time, daily.place + 1
    from daily cross join lateral (
      select id, as_of_time from ahs.score
      where chain_id = $1 and wallet = $2 and as_of_time < date_trunc('day', daily.as_of_time, 'UTC')
      order by as_of_time desc, id desc limit 1
    ) as earlier
    where daily.place <= $4
  )
  select ${COLUMNS} from daily join ahs.score as s using (id) order by daily.place`;

type ChangeRow = GradePoint & {
  readonly isChange: boolean;
  /** The oldest score that was compared with the one before, if older ones were not. */
  readonly isEdge: boolean;
};

/** The oldest of a full reading only shows the grade before the next one. */
const GRADE_CHANGES = `
  with newest as materialized (
    select id, as_of_time, grade from ahs.score
    where chain_id = $1 and wallet = $2 and as_of_time < $3::timestamptz
    order by as_of_time desc, id desc limit ${SCORES_READ + 1}
  ), compared as (
    select id, as_of_time, lag(grade) over by_time as previous, count(*) over () > ${SCORES_READ} as cut,
      row_number() over by_time as place, grade is distinct from lag(grade) over by_time as differs
    from newest window by_time as (order by as_of_time, id)
  ), found as (
    select id, as_of_time, previous, differs or place = 1 as "isChange", cut and place = 2 as "isEdge"
    from compared where (differs or place <= 2) and not (cut and place = 1)
  )
  select ${COLUMNS}, s.features, s.patterns, found.previous as "previousGrade", "isChange", "isEdge"
  from (
    select * from found where "isChange" or "isEdge" order by as_of_time desc, id desc limit $4 + 1
  ) as found join ahs.score as s using (id)
  order by found.as_of_time desc, found.id desc`;
