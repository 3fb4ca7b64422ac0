import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address } from "viem";
import type { Database } from "../../db/database.ts";
import { feedPrice } from "../../db/tables/enrich.ts";

/** Last answer of a feed on a UTC day, in US dollars with `decimals` decimals. */
export type FeedPriceRow = {
  readonly feed: Address;
  /** UTC day number. */
  readonly day: number;
  readonly block: number;
  readonly answer: bigint;
  readonly decimals: number;
};

/** Stores what feeds answered, a row for each feed and day; of a day that is there already the answer of the later block stays. */
export async function storeFeedPrices(
  tx: NodePgDatabase,
  chainId: number,
  rows: readonly FeedPriceRow[],
): Promise<number> {
  if (rows.length === 0) return 0;
  const { rowCount } = await tx
    .insert(feedPrice)
    .values(rows.map((row) => ({ chainId, ...row })))
    .onConflictDoUpdate({
      target: [feedPrice.chainId, feedPrice.feed, feedPrice.day],
      set: { block: sql`excluded.block`, answer: sql`excluded.answer`, decimals: sql`excluded.decimals` },
      setWhere: sql`${feedPrice.block} < excluded.block`,
    });
  return rowCount ?? 0;
}

/** Every stored price of the chain, by feed and rising day. */
export async function readFeedPrices(tx: NodePgDatabase, chainId: number): Promise<readonly FeedPriceRow[]> {
  const { rows } = await tx.execute<{
    feed: Address;
    day: number;
    block: number;
    answer: string;
    decimals: number;
  }>(
    sql`select feed, day, block::float8 as block, answer::text as answer, decimals
        from ahs.feed_price where chain_id = ${chainId} order by feed collate "C", day`,
  );
  return rows.map((row) => ({ ...row, answer: BigInt(row.answer) }));
}

/** Feeds of the chain that have a price of any day. */
export async function readPricedFeeds(db: Database, chainId: number): Promise<ReadonlySet<Address>> {
  const { rows } = await db.execute<{ feed: Address }>(
    sql`select distinct feed from ahs.feed_price where chain_id = ${chainId}`,
  );
  return new Set(rows.map(({ feed }) => feed));
}
