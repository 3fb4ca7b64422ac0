import type { Address } from "viem";
import type { Database } from "../db/database.ts";
import { QUERY_DEADLINE } from "../db/query-deadline.ts";
import type { Grade } from "../model/score/record.ts";

/** The newest stored score of one UTC day. */
export type DayScore = {
  readonly asOfTime: Date;
  /** Null where there was too little history, as is the grade. */
  readonly ahsScore: number | null;
  readonly grade: Grade | null;
};

type DayRow = { readonly as_of_time: Date; readonly ahs_score: number | null; readonly grade: Grade | null };

/** Reads the newest score of each of the last so many days that have one, oldest first; the wallet is lower-case. */
export function createDailyScores(
  db: Database,
  { chainId, days }: { readonly chainId: number; readonly days: number },
): (wallet: Address) => Promise<readonly DayScore[]> {
  return async (wallet) => {
    const { rows } = await db.$client.query<DayRow>({
      ...QUERY_DEADLINE,
      name: "daily_scores",
      text: `
        select * from (
          select distinct on (day) as_of_time, ahs_score, grade
          from (
            select as_of_time, ahs_score, grade, as_of_block, id, (as_of_time at time zone 'UTC')::date as day
            from ahs.score where chain_id = $1 and wallet = $2
          ) as scored
          order by day desc, as_of_block desc, id desc
          limit $3
        ) as daily
        order by as_of_time`,
      values: [chainId, wallet, days],
    });
    return rows.map((row) => ({ asOfTime: row.as_of_time, ahsScore: row.ahs_score, grade: row.grade }));
  };
}
