import { and, eq, gt, lte, ne, notExists, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address } from "viem";
import { holdChain, isIndexed } from "../../db/chain-fence.ts";
import { isOneOf } from "../../db/columns.ts";
import type { Database } from "../../db/database.ts";
import { indexOf } from "../../db/index-tables.ts";
import { ownCall } from "../../db/tables/enrich.ts";
import { storedHistory } from "../../db/tables/history.ts";
import { quarantine } from "../../db/tables/quarantine.ts";
import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import type { AsOf, OwnCall } from "../../model/features/types.ts";
import type { HistoryRequest } from "./history.ts";
import { pastFacts } from "./stored-history.sql.ts";

/** Under this name enrichment writes own calls; every other source of a row is a history source. */
const ENRICH = "enrich";

export type NewStoredHistory = Omit<typeof storedHistory.$inferInsert, "readAt">;

/** Rows of one statement: far below the number of parameters that it may have. */
const ROWS = 1_000;

/**
 * Stores a source's report on a wallet in place of an earlier one that reaches no further; calls from enrichment stay. False, and
 * nothing stored, if the index does not hold its last block.
 */
export async function storeHistory(db: Database, history: NewStoredHistory, calls: readonly OwnCall[]) {
  return db.transaction(async (tx) => {
    await holdChain(tx, history.chainId);
    const last = { blockNumber: history.toBlock, blockHash: history.toHash };
    if (!(await isIndexed(tx, history.chainId, last))) return false;
    if (await putCoverage(tx, history)) await putCalls(tx, history, calls);
    return true;
  });
}

/** Also keeps others who store the same wallet's history waiting until the transaction ends. */
async function putCoverage(tx: NodePgDatabase, history: NewStoredHistory): Promise<boolean> {
  const { chainId, wallet, ...report } = history;
  const stored = await tx
    .insert(storedHistory)
    .values({ chainId, wallet, ...report })
    .onConflictDoUpdate({
      target: [storedHistory.chainId, storedHistory.wallet],
      set: { ...report, readAt: sql`now()` },
      setWhere: sql`${storedHistory.toBlock} <= excluded.to_block`,
    })
    .returning({ wallet: storedHistory.wallet });
  return stored.length > 0;
}

async function putCalls(
  tx: NodePgDatabase,
  { chainId, wallet, source }: NewStoredHistory,
  calls: readonly OwnCall[],
): Promise<void> {
  // The same source reports the same calls again: the blocks are final.
  const isKnown = and(
    eq(ownCall.source, source),
    isOneOf(
      ownCall.hash,
      calls.map(({ hash }) => hash),
    ),
  );
  const isOfWallet = and(eq(ownCall.chainId, chainId), eq(ownCall.wallet, wallet));
  await tx.delete(ownCall).where(and(isOfWallet, ne(ownCall.source, ENRICH), sql`not (${isKnown})`));
  for (let start = 0; start < calls.length; start += ROWS) {
    const rows = calls.slice(start, start + ROWS).map((call) => rowOf(call, { chainId, wallet, source }));
    await tx.insert(ownCall).values(rows).onConflictDoNothing();
  }
}

function rowOf(call: OwnCall, of: Pick<NewStoredHistory, "chainId" | "wallet" | "source">) {
  const { blockNumber: block, gasPrice: gasPriceWei, fee, receipt, ...same } = call;
  const feeWei = call.gasUsed * gasPriceWei;
  const l1FeeWei = fee === feeWei ? null : fee - feeWei;
  return { ...of, ...same, block, origin: "transaction" as const, gasPriceWei, feeWei, l1FeeWei };
}

/** Facts that decide how much of a wallet's past to read from a source; all of them as of a block. */
export type PastFacts = {
  /** First block in which the index followed the wallet; null where it does not. */
  readonly followed: AsOf | null;
  /** Whether the index begins with the chain, and followed the wallet from there. */
  readonly fromChainStart: boolean;
  /** Nonce of the wallet's first own transaction in the index; null without one. */
  readonly firstNonce: number | null;
  /** Unix seconds of the wallet's newest own call, by enrichment; null without one. */
  readonly lastCallAt: number | null;
  /** Null if no source has reported on the wallet. */
  readonly stored: { readonly source: string; readonly toBlock: number; readonly toHash: string } | null;
};

/** Reads them for a wallet (lower-case) as of a block. */
export async function readPastFacts(
  db: Database,
  { chainId, wallet, asOfBlock }: { chainId: number; wallet: string; asOfBlock: number },
): Promise<PastFacts> {
  const { rows } = await db.$client.query<PastFacts>(pastFacts(chainId, { wallet, asOfBlock }));
  const [facts] = rows;
  if (facts === undefined) throw new Error(`the index of chain ${chainId} holds no block`);
  return facts;
}

/** Followed wallets whose stored history ends before the index begins to follow them, in random order, without those in quarantine. */
export async function readGaps(
  db: Database,
  { chainId, asOfBlock, now, limit }: { chainId: number; asOfBlock: number; now: Date; limit: number },
): Promise<Address[]> {
  const { wallet } = indexOf(chainId);
  const isHeld = and(
    eq(quarantine.chainId, chainId),
    eq(quarantine.kind, "history"),
    eq(quarantine.subject, storedHistory.wallet),
    gt(quarantine.nextTryAt, now),
  );
  const rows = await db
    .select({ wallet: storedHistory.wallet })
    .from(storedHistory)
    .innerJoin(wallet, eq(wallet.address, storedHistory.wallet))
    .where(
      and(
        eq(storedHistory.chainId, chainId),
        sql`${storedHistory.toBlock} < ${wallet.followedBlock}`,
        lte(wallet.followedBlock, BigInt(asOfBlock)),
        notExists(db.select({ kind: quarantine.kind }).from(quarantine).where(isHeld)),
      ),
    )
    .orderBy(sql`random()`)
    .limit(limit);
  return rows.map((row) => row.wallet);
}

export type PastQuestion = Pick<HistoryRequest, "wallet" | "asOf"> & { readonly windowDays: number };

/** Plans the request to a source before a wallet can be scored: its past, or the part before the index followed it; else null. */
export function planPast(facts: PastFacts, question: PastQuestion): HistoryRequest | null {
  return isCovered(facts, question) ? null : requestPast(facts, question);
}

/** The same request, even if everything is known already. */
export function requestPast(facts: PastFacts, { wallet, asOf, windowDays }: PastQuestion): HistoryRequest {
  const seconds = windowDays * SECONDS_PER_DAY;
  const { followed, lastCallAt } = facts;
  return {
    wallet,
    // The block in which following began is read as well: calls of its beginning are in no index.
    asOf: followed ?? asOf,
    edge:
      followed === null || lastCallAt === null
        ? { kind: "before_last_call", seconds }
        : { kind: "since", timestamp: lastCallAt - seconds },
  };
}

function isCovered(facts: PastFacts, { asOf, windowDays }: PastQuestion): boolean {
  const { followed, fromChainStart, firstNonce, lastCallAt, stored } = facts;
  if (followed === null) return stored?.toBlock === asOf.blockNumber && stored.toHash === asOf.blockHash;
  return (
    fromChainStart ||
    firstNonce === 0 ||
    (stored !== null && stored.toBlock >= followed.blockNumber) ||
    (lastCallAt !== null && lastCallAt - windowDays * SECONDS_PER_DAY >= followed.timestamp)
  );
}
