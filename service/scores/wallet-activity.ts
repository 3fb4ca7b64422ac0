import type { Address } from "viem";
import { type Database, rowsInTime } from "../db/database.ts";
import { SECONDS_PER_DAY } from "../model/features/time.ts";

/** When and how much a wallet was active, by its own calls of any age. */
export type WalletActivity = {
  /** Null without an own call. */
  readonly first: Date | null;
  readonly last: Date | null;
  /** Own calls, at most `MOST_CALLS`: then there may be more. */
  readonly calls: number;
  /** Own calls of each of the last `WEEKS` weeks among those that were counted, oldest first. */
  readonly weeks: readonly number[];
};

/** Own calls that are counted of one wallet; it may have millions. */
export const MOST_CALLS = 10_000;
export const WEEKS = 13;

const WEEK_SECONDS = 7 * SECONDS_PER_DAY;

/** Reads the activity of wallets (lower-case) by ranges of the index of own calls. */
export function createActivityReader(
  db: Database,
  chainId: number,
): (wallet: Address, now: Date) => Promise<WalletActivity> {
  return async (wallet, now) => {
    const end = Math.floor(now.getTime() / 1_000);
    const [row] = await rowsInTime<ActivityRow>(db, {
      name: "wallet_activity",
      text: ACTIVITY,
      values: [chainId, wallet, end],
    });
    const counted = new Map(row?.weeks?.map(({ week, calls }) => [week, calls]));
    return {
      first: dateOf(row?.first ?? null),
      last: dateOf(row?.last ?? null),
      calls: row?.calls ?? 0,
      weeks: Array.from({ length: WEEKS }, (_, index) => counted.get(WEEKS - 1 - index) ?? 0),
    };
  };
}

type ActivityRow = {
  /** Unix seconds. */
  readonly first: number | null;
  readonly last: number | null;
  readonly calls: number;
  /** Weeks by their distance from now, the present one being 0. */
  readonly weeks: readonly { readonly week: number; readonly calls: number }[] | null;
};

const ACTIVITY = `
  with counted as materialized (
    select timestamp from ahs.own_call where chain_id = $1 and wallet = $2
    order by block desc, transaction_index desc, position desc limit ${MOST_CALLS}
  )
  select
    (select timestamp::float8 from ahs.own_call where chain_id = $1 and wallet = $2
     order by block, transaction_index, position limit 1) as first,
    (select max(timestamp)::float8 from counted) as last,
    (select count(*)::int from counted) as calls,
    (select json_agg(json_build_object('week', week, 'calls', calls)) from (
       select (($3::bigint - timestamp) / ${WEEK_SECONDS})::int as week, count(*)::int as calls from counted
       where timestamp between $3::bigint - ${WEEKS * WEEK_SECONDS - 1} and $3::bigint group by 1
     ) by_week) as weeks`;

function dateOf(seconds: number | null): Date | null {
  return seconds === null ? null : new Date(seconds * 1_000);
}
