import { and, eq, ne, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address } from "viem";
import { holdChain, isIndexed } from "../../db/chain-fence.ts";
import { isOneOf } from "../../db/columns.ts";
import type { Database } from "../../db/database.ts";
import { ownCall } from "../../db/tables/enrich.ts";
import { storedHistory } from "../../db/tables/history.ts";
import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import type { AsOf, OwnCall } from "../../model/features/types.ts";
import type { HistoryRequest } from "./history.ts";

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
  const values = [chainId, wallet, asOfBlock];
  const { rows } = await db.$client.query<PastFacts>(pastQuery(`"chain_${chainId}"`), values);
  const [facts] = rows;
  if (facts === undefined) throw new Error(`the index of chain ${chainId} holds no block`);
  return facts;
}

/** $1 chain, $2 wallet, $3 as-of block. */
function pastQuery(views: string): string {
  return `
    select
      case when f.number is not null then
        json_build_object('blockNumber', f.number, 'blockHash', f.hash, 'timestamp', f.timestamp) end as followed,
      f.number is not null and f.number = start.number and start.number <= 1 as "fromChainStart",
      first.nonce as "firstNonce", last.timestamp::float8 as "lastCallAt",
      case when k.source is not null then
        json_build_object('source', k.source, 'toBlock', k.to_block, 'toHash', k.to_hash) end as stored
    from (select number from ${views}.block order by number limit 1) start
    left join ${views}.wallet w on w.address = $2 and w.followed_block <= $3
    left join lateral (
      select number, hash, timestamp from ${views}.block where number >= w.followed_block order by number limit 1
    ) f on true
    left join lateral (
      select nonce from ${views}.transaction
      where "from" = w.address and own and block <= $3 order by block, transaction_index limit 1
    ) first on true
    left join lateral (
      select timestamp from ahs.own_call
      where chain_id = $1 and wallet = $2 and block <= $3 and source = '${ENRICH}'
      order by block desc, transaction_index desc, position desc limit 1
    ) last on true
    left join ahs.kept_history k on k.chain_id = $1 and k.wallet = $2`;
}

/** Followed wallets whose stored history ends before the index begins to follow them, in random order, without those in quarantine. */
export async function readGaps(
  db: Database,
  { chainId, asOfBlock, now, limit }: { chainId: number; asOfBlock: number; now: Date; limit: number },
): Promise<Address[]> {
  const { rows } = await db.$client.query<{ wallet: Address }>(
    `select k.wallet from ahs.kept_history k
     join "chain_${chainId}".wallet w on w.address = k.wallet
     where k.chain_id = $1 and k.to_block < w.followed_block and w.followed_block <= $2
       and not exists (select from ahs.quarantine q
         where q.chain_id = $1 and q.kind = 'history' and q.subject = k.wallet and q.next_try_at > $4)
     order by random() limit $3`,
    [chainId, asOfBlock, limit, now],
  );
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
