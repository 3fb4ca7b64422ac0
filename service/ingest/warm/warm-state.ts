import { and, count, eq, min, notExists, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address, Hex } from "viem";
import { countIf, isOneOf } from "../../db/columns.ts";
import type { Database } from "../../db/database.ts";
import { indexOf } from "../../db/index-tables.ts";
import { insertRows } from "../../db/insert-rows.ts";
import { enrichWallet } from "../../db/tables/enrich.ts";
import { storedHistory } from "../../db/tables/history.ts";
import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import { holdsGeneration } from "../enrich/enrich-writes.ts";
import type { BlockRange } from "../history/batch-source.ts";
import { type CallFacts, callFacts, firstNonces, type WarmWallet, warmGroup } from "./warm-state.sql.ts";

/** Wallets that are warmed together, since the same blocks are missing of each. */
export type WarmGroup = {
  readonly wallets: readonly WarmWallet[];
  /** From this block on everything is read of them; null before the first slice. */
  readonly coveredFrom: number | null;
};

/**
 * Marks followed wallets as open that nothing before the index is known of: those that were followed without a batch source. None
 * where the index begins with the chain. Returns how many.
 */
export async function openWallets(db: Database, chainId: number): Promise<number> {
  const { block } = indexOf(chainId);
  const [first] = await db.select({ number: min(block.number) }).from(block);
  if (first?.number == null || first.number <= 1n) return 0;
  const isRead = and(
    eq(storedHistory.chainId, enrichWallet.chainId),
    eq(storedHistory.wallet, enrichWallet.wallet),
  );
  const { rowCount } = await db
    .update(enrichWallet)
    .set({ warmOpen: true })
    .where(
      and(
        eq(enrichWallet.chainId, chainId),
        eq(enrichWallet.warmOpen, false),
        notExists(db.select({ wallet: storedHistory.wallet }).from(storedHistory).where(isRead)),
      ),
    );
  return rowCount ?? 0;
}

/**
 * The wallets to read next: a group that was begun before others, then those with a running subscription, then the newest. Those in
 * quarantine wait. Null where none is open.
 */
export async function readWarmGroup(
  db: Database,
  of: Parameters<typeof warmGroup>[0],
): Promise<WarmGroup | null> {
  const { rows } = await db.execute<WarmWallet & { covered: number | null }>(warmGroup(of));
  const [first] = rows;
  if (first === undefined) return null;
  return {
    coveredFrom: first.covered,
    wallets: rows.map(({ wallet, followedBlock, fromNonce }) => ({ wallet, followedBlock, fromNonce })),
  };
}

/** Numbers of wallets: those of which the past is open, and all that are followed. */
export async function countOpen(db: Pick<NodePgDatabase, "select">, chainId: number) {
  const [counts] = await db
    .select({ open: countIf(enrichWallet.warmOpen), followed: count() })
    .from(enrichWallet)
    .where(eq(enrichWallet.chainId, chainId));
  if (counts === undefined) throw new Error("expected one row of an aggregate, got none");
  return counts;
}

/** Days that are read before the block in which the index began to follow a wallet: those of the scoring window. */
export const WINDOW_DAYS = 180;

/** A wallet of a slice that was read. */
export type Covered = WarmWallet & {
  /** Hash of the block in which the index began to follow it. */
  readonly followedHash: Hex;
};

/**
 * Notes that everything is read of the wallets from the slice's first block on; one with enough calls needs no more. False, and
 * nothing noted, if the chain's data was cleared meanwhile.
 */
export async function noteSlice(
  db: Database,
  slice: {
    readonly chainId: number;
    readonly generation: string;
    readonly source: string;
    readonly range: BlockRange;
    /** Unix seconds of its first block. */
    readonly fromTimestamp: number;
    /** Whether no older slice is wanted. */
    readonly isLast: boolean;
    readonly wallets: readonly Covered[];
    readonly now: Date;
  },
): Promise<boolean> {
  const { chainId, generation, wallets, isLast } = slice;
  return db.transaction(async (tx) => {
    if (!(await holdsGeneration(tx, chainId, generation))) return false;
    const calls = await readCallFacts(tx, { chainId, wallets, fromBlock: slice.range.from });
    const isFull = ({ wallet }: Covered) => calls.get(wallet)?.isFull === true;
    // Of a wallet that had sent nothing before, no own call is missing at all.
    const isWhole = (one: Covered) => isLast && one.fromNonce === 0;
    await insertRows(tx, {
      table: "stored_history",
      rows: wallets.map((one) => ({
        chainId,
        wallet: one.wallet,
        source: slice.source,
        fromBlock: isWhole(one) ? 0 : slice.range.from,
        fromTimestamp: isWhole(one) ? 0 : slice.fromTimestamp,
        toBlock: one.followedBlock,
        toHash: one.followedHash,
        complete: isWhole(one) || isPastWindow(calls.get(one.wallet), slice.fromTimestamp),
        fromNonce: one.fromNonce,
        readAt: slice.now,
      })),
      end: sql`on conflict (chain_id, wallet) do update set
        from_block = excluded.from_block, from_timestamp = excluded.from_timestamp, complete = excluded.complete,
        from_nonce = excluded.from_nonce, read_at = excluded.read_at`,
    });
    const done = wallets.filter((one) => isLast || isFull(one)).map(({ wallet }) => wallet);
    await close(tx, chainId, done);
    return true;
  });
}

/** Notes that nothing more is to be read of the wallets. */
export async function closeWallets(db: Database, chainId: number, wallets: readonly WarmWallet[]) {
  await close(
    db,
    chainId,
    wallets.map(({ wallet }) => wallet),
  );
}

async function close(db: NodePgDatabase, chainId: number, wallets: readonly Address[]): Promise<void> {
  await db
    .update(enrichWallet)
    .set({ warmOpen: false })
    .where(and(eq(enrichWallet.chainId, chainId), isOneOf(enrichWallet.wallet, wallets)));
}

/** Whether the scoring window, which ends with the last call, begins no sooner than what is read. */
function isPastWindow(calls: CallFacts | undefined, fromTimestamp: number): boolean {
  const lastCallAt = calls?.lastCallAt ?? null;
  return lastCallAt !== null && lastCallAt - WINDOW_DAYS * SECONDS_PER_DAY >= fromTimestamp;
}

/** Of the calls from a block on: a slice that was broken off leaves older ones. */
async function readCallFacts(tx: NodePgDatabase, of: Parameters<typeof callFacts>[0]) {
  const { rows } = await tx.execute<CallFacts & { wallet: Address }>(callFacts(of));
  return new Map(rows.map(({ wallet, ...facts }) => [wallet, facts]));
}

/** Of the wallets' own transactions that the index holds after the block in which it began to follow each, the lowest nonce. */
export async function readFirstNonces(db: Database, chainId: number, wallets: readonly WarmWallet[]) {
  const { rows } = await db.execute<{ wallet: Address; nonce: number }>(firstNonces(chainId, wallets));
  return new Map(rows.map(({ wallet, nonce }) => [wallet, nonce]));
}
