import { desc, eq, max } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { isOneOf } from "../db/columns.ts";
import { hasTables, indexOf, numberOf } from "../db/index-tables.ts";

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
  const { block, oracleScore } = indexOf(chainId);
  if (!(await hasTables(db, chainId, oracleScore, block))) return null;
  const [newest] = await db
    .select({ number: numberOf(block.number) })
    .from(block)
    .orderBy(desc(block.number))
    .limit(1);
  return newest?.number ?? null;
}

/** The oracle's records of these wallets (lower-case), by wallet; one never published has none. */
export async function readOracleStates(
  db: NodePgDatabase,
  chainId: number,
  wallets: readonly string[],
): Promise<Map<string, OracleState>> {
  const { oracleScore } = indexOf(chainId);
  const { wallet, present, ahsScore, sanctioned, insufficient, safeMicroUsd, asOf, asOfTime } = oracleScore;
  const rows = await db
    .select({
      wallet,
      present,
      ahsScore,
      sanctioned,
      insufficient,
      safeMicroUsd,
      asOf: numberOf(asOf),
      asOfSeconds: numberOf(asOfTime),
    })
    .from(oracleScore)
    .where(isOneOf(wallet, wallets));
  return new Map(
    rows.map(({ asOfSeconds, ...row }) => [row.wallet, { ...row, asOfTime: new Date(asOfSeconds * 1000) }]),
  );
}

/** A root that the oracle's events show for an epoch; null without one. */
export async function readOracleRoot(
  db: NodePgDatabase,
  chainId: number,
  epoch: number,
): Promise<string | null> {
  const { oracleRoot } = indexOf(chainId);
  const [row] = await db
    .select({ root: oracleRoot.root })
    .from(oracleRoot)
    .where(eq(oracleRoot.epoch, BigInt(epoch)));
  return row?.root ?? null;
}

/** The newest epoch that the oracle's events show; null before the first. */
export async function readNewestOracleEpoch(db: NodePgDatabase, chainId: number): Promise<number | null> {
  const { oracleRoot } = indexOf(chainId);
  const [row] = await db.select({ epoch: max(oracleRoot.epoch) }).from(oracleRoot);
  return row?.epoch == null ? null : Number(row.epoch);
}
