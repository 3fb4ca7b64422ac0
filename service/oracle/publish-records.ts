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
  const { rows } = await db.execute<{ number: string | null }>(
    sql`select max(number) as number from ${viewOf(chainId, "block")}`,
  );
  const number = rows[0]?.number;
  return number === null || number === undefined ? null : Number(number);
}

/** The oracle's records of these wallets (lower-case), by wallet; one never published has none. */
export async function readOracleStates(
  db: NodePgDatabase,
  chainId: number,
  wallets: readonly string[],
): Promise<Map<string, OracleState>> {
  const { rows } = await db.execute<OracleRow>(
    sql`select wallet, present, ahs_score, sanctioned, insufficient, as_of, as_of_time
      from ${viewOf(chainId, "oracle_score")} where wallet = any(${sql.param(wallets)})`,
  );
  return new Map(rows.map((row) => [row.wallet, oracleState(row)]));
}

/** A root that the oracle's events show for an epoch; null when there is none. */
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
  const { rows } = await db.execute<{ epoch: string | null }>(
    sql`select max(epoch) as epoch from ${viewOf(chainId, "oracle_root")}`,
  );
  const epoch = rows[0]?.epoch;
  return epoch === null || epoch === undefined ? null : Number(epoch);
}

type OracleRow = {
  wallet: string;
  present: boolean;
  ahs_score: number;
  sanctioned: boolean;
  insufficient: boolean;
  as_of: string;
  as_of_time: string;
};

function oracleState(row: OracleRow): OracleState {
  return {
    wallet: row.wallet,
    present: row.present,
    ahsScore: row.ahs_score,
    sanctioned: row.sanctioned,
    insufficient: row.insufficient,
    asOf: Number(row.as_of),
    asOfTime: new Date(Number(row.as_of_time) * 1000),
  };
}
