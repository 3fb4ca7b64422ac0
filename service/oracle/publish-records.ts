import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { viewOf } from "../db/index-snapshot.ts";

/** A wallet's record in the oracle, as the index replays it from the oracle's events. */
export type OracleState = {
  readonly wallet: string;
  /** False after an invalidation: only the floor for asOf is left. */
  readonly present: boolean;
  readonly ahsScore: number;
  readonly sanctioned: boolean;
  readonly insufficient: boolean;
  readonly safeMicroUsd: bigint;
  readonly asOf: number;
  readonly asOfTime: Date;
};

/** Block up to which the index has followed the chain; null while there is no index to read. */
export async function readIndexedBlock(db: NodePgDatabase, chainId: number): Promise<number | null> {
  const { rows: found } = await db.execute<{ exists: boolean }>(
    sql`select to_regclass(${`chain_${chainId}.oracle_score`}) is not null
      and to_regclass(${`chain_${chainId}.block`}) is not null as exists`,
  );
  if (found[0]?.exists !== true) return null;
  const { rows } = await db.execute<{ number: number | null }>(
    sql`select max(number)::float8 as number from ${viewOf(chainId, "block")}`,
  );
  return rows[0]?.number ?? null;
}

/** The oracle's records of these wallets (lower-case), by wallet; one never published has none. */
export async function readOracleStates(
  db: NodePgDatabase,
  chainId: number,
  wallets: readonly string[],
): Promise<Map<string, OracleState>> {
  type Row = Omit<OracleState, "asOfTime" | "safeMicroUsd"> & {
    readonly asOfSeconds: number;
    readonly safeAmount: string;
  };
  const { rows } = await db.execute<Row>(
    sql`select wallet, present, ahs_score as "ahsScore", sanctioned, insufficient, as_of::float8 as "asOf",
        as_of_time::float8 as "asOfSeconds", safe_micro_usd::text as "safeAmount"
      from ${viewOf(chainId, "oracle_score")} where wallet = any(${sql.param(wallets)})`,
  );
  return new Map(
    rows.map(({ asOfSeconds, safeAmount, ...row }) => [
      row.wallet,
      { ...row, asOfTime: new Date(asOfSeconds * 1000), safeMicroUsd: BigInt(safeAmount) },
    ]),
  );
}

/** A root that the oracle's events show for an epoch; null without one. */
export async function readOracleRoot(
  db: NodePgDatabase,
  chainId: number,
  epoch: number,
): Promise<string | null> {
  const { rows } = await db.execute<{ root: string }>(
    sql`select root from ${viewOf(chainId, "oracle_root")} where epoch = ${epoch}`,
  );
  return rows[0]?.root ?? null;
}

/** The newest epoch that the oracle's events show; null before the first. */
export async function readNewestOracleEpoch(db: NodePgDatabase, chainId: number): Promise<number | null> {
  const { rows } = await db.execute<{ epoch: number | null }>(
    sql`select max(epoch)::float8 as epoch from ${viewOf(chainId, "oracle_root")}`,
  );
  return rows[0]?.epoch ?? null;
}
