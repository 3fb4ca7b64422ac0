import { sql } from "drizzle-orm";
import type { Hex } from "viem";
import type { Database } from "../../db/database.ts";
import { enrichReading } from "../../db/tables/enrich.ts";

/** A range that is being read, or in which a process died. */
export type Reading = {
  readonly task: "chain" | "past";
  readonly from: number;
  readonly to: number;
  readonly deaths: number;
};

/** A transaction is left out after so many: one may be a process that was ended from outside just then. */
const FATAL_DEATHS = 2;

/**
 * Counts what an earlier process left as one death each, of the range that it noted last and of the transaction that it was
 * decoding. Answers those ranges, finished ones among them, and the transactions that are left out.
 */
export async function takeOverReadings(
  db: Database,
  chainId: number,
): Promise<{ readonly readings: readonly Reading[]; readonly fatal: ReadonlySet<Hex> }> {
  return db.transaction(async (tx) => {
    await tx.execute(sql`
      insert into ahs.enrich_death as known (chain_id, transaction_hash, deaths)
      select distinct chain_id, transaction_hash, 1 from ahs.enrich_reading
      where chain_id = ${chainId} and transaction_hash is not null
      on conflict (chain_id, transaction_hash) do update set deaths = known.deaths + 1`);
    const { rows: readings } = await tx.execute<Reading>(sql`
      update ahs.enrich_reading set deaths = deaths + 1, transaction_hash = null where chain_id = ${chainId}
      returning task, from_block::float8 as from, to_block::float8 as to, deaths`);
    const { rows: fatal } = await tx.execute<{ hash: Hex }>(sql`
      select transaction_hash as hash from ahs.enrich_death
      where chain_id = ${chainId} and deaths >= ${FATAL_DEATHS}`);
    return { readings, fatal: new Set(fatal.map(({ hash }) => hash)) };
  });
}

/** Notes the range that is read next. */
export async function noteReading(
  db: Database,
  chainId: number,
  { task, from, to, deaths }: Reading,
): Promise<void> {
  const place = { fromBlock: from, toBlock: to, deaths, transactionHash: null };
  await db
    .insert(enrichReading)
    .values({ chainId, task, ...place })
    .onConflictDoUpdate({ target: [enrichReading.chainId, enrichReading.task], set: place });
}

/** Notes the transaction that is decoded next; null once it is decoded. */
export async function noteTransaction(
  db: Database,
  at: { readonly chainId: number; readonly task: Reading["task"]; readonly transaction: Hex | null },
): Promise<void> {
  await db.execute(sql`
    update ahs.enrich_reading set transaction_hash = ${at.transaction}
    where chain_id = ${at.chainId} and task = ${at.task}`);
}

/** Forgets the ranges that no process died in. */
export async function endReadings(db: Database, chainId: number): Promise<void> {
  await db.execute(sql`delete from ahs.enrich_reading where chain_id = ${chainId} and deaths = 0`);
}
