import { and, between, eq, gte, isNotNull, lte, type SQL, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { PoolClient } from "pg";
import type { Address, Hex } from "viem";
import type { SamplingRule } from "../../chain/deployments.ts";
import { isOneOf } from "../../db/columns.ts";
import { builderOn, type Database, NUMERIC_AS_BIGINT } from "../../db/database.ts";
import { indexOf, numberOf } from "../../db/index-tables.ts";
import { toQuery } from "../../db/statement.ts";
import { accountFact, enrichCursor, enrichWallet } from "../../db/tables/enrich.ts";
import { nativePayments } from "./enrich-reads.sql.ts";
import { sampleOf, samplesEndingIn, stretchStart } from "./stretches.ts";

/** How far the chain is enriched. */
export type EnrichCursor = { readonly block: number; readonly hash: Hex };

/** Null before anything is enriched. */
export async function readEnrichCursor(
  db: Pick<Database, "select">,
  chainId: number,
): Promise<EnrichCursor | null> {
  const [cursor] = await selectCursor(db, chainId);
  return cursor ?? null;
}

/** A query of it. */
export function selectCursor(db: Pick<Database, "select">, chainId: number) {
  return db
    .select({ block: enrichCursor.block, hash: enrichCursor.blockHash })
    .from(enrichCursor)
    .where(eq(enrichCursor.chainId, chainId));
}

/** Condition on a wallet of the index: false for a contract that many call and that never calls, as a token; it has no score. */
export function isNoHub({
  chainId,
  asOfBlock,
}: {
  readonly chainId: number;
  readonly asOfBlock: number;
}): SQL {
  const { wallet } = indexOf(chainId);
  return sql`(${wallet.ownCalls} > 0 or ${wallet.busyUntil} is null or ${wallet.busyUntil} < ${asOfBlock}
    or exists (select from ahs.own_call o where o.chain_id = ${chainId} and o.wallet = ${wallet.address}))`;
}

export type EnrichState = {
  readonly cursor: EnrichCursor | null;
  /** Every followed wallet with the block in which the index began to follow it. */
  readonly wallets: ReadonlyMap<Address, number>;
  /** Pasts that are still to be read, both ends included. */
  readonly past: readonly { readonly wallet: Address; readonly next: number; readonly until: number }[];
};

/** The cursor, the wallets followed by a block of the index, and what is open of their past; within the caller's snapshot. */
export async function readEnrichState(
  client: PoolClient,
  { chainId, asOfBlock }: { readonly chainId: number; readonly asOfBlock: number },
): Promise<EnrichState> {
  const db = builderOn(client);
  const { wallet } = indexOf(chainId);
  const wallets = await db
    .select({ address: wallet.address, followed: numberOf(wallet.followedBlock) })
    .from(wallet)
    .where(and(lte(wallet.followedBlock, BigInt(asOfBlock)), isNoHub({ chainId, asOfBlock })));
  const { pastNext, pastUntil } = enrichWallet;
  const past = await db
    .select({
      wallet: enrichWallet.wallet,
      next: sql<number>`${pastNext}::float8`,
      until: sql<number>`${pastUntil}::float8`,
    })
    .from(enrichWallet)
    .where(and(eq(enrichWallet.chainId, chainId), isNotNull(pastNext)));
  return {
    cursor: await readEnrichCursor(db, chainId),
    wallets: new Map(wallets.map((row) => [row.address, row.followed])),
    past,
  };
}

/** A call that a followed wallet made, as the index holds it. */
export type IndexedCall = {
  readonly hash: Hex;
  readonly block: number;
  readonly transactionIndex: number;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly value: bigint;
  readonly wallet: Address;
  readonly to: Address | null;
  readonly input: Hex;
  readonly ok: boolean;
  readonly gasLimit: bigint;
  readonly gasUsed: bigint;
  /** Wei per gas. */
  readonly gasPrice: bigint;
};

/** Native coin that an account that is not followed sent to a followed wallet. */
export type NativePayment = Pick<
  IndexedCall,
  "hash" | "block" | "transactionIndex" | "timestamp" | "value"
> & { readonly from: Address; readonly to: Address };

/** A contract that an own call of a wallet created. */
export type Creation = Pick<IndexedCall, "block" | "transactionIndex" | "timestamp" | "wallet"> & {
  readonly contract: Address;
};

type CallsRange = {
  readonly chainId: number;
  /** Whether the range's samples are read with its calls. */
  readonly of: "chain" | "past";
  readonly from: number;
  readonly to: number;
  readonly wallets: readonly Address[];
  readonly rule: SamplingRule;
  readonly maxCallBlocks: number;
};

/**
 * Reads the wallets' own calls of the range in one snapshot; it ends earlier where more than `maxCallBlocks` blocks hold own
 * calls or are sampled. The creations are all of the wallets that called, up to the end of the range.
 */
export async function readRangeCalls(client: PoolClient, range: CallsRange) {
  const { chainId, of, from, to: until, maxCallBlocks } = range;
  const db = builderOn(client);
  const { transaction: sent } = indexOf(chainId);
  const { block, transactionIndex, contractAddress } = sent;
  const followed = new Set(range.wallets);
  const wallets = of === "past" ? range.wallets : await readCallers(db, range, followed);
  const place = { block: numberOf(block), transactionIndex, timestamp: numberOf(sent.timestamp) };
  const isOwnIn = (to: number) =>
    and(isOneOf(sent.from, wallets), eq(sent.own, true), between(block, BigInt(from), BigInt(to)));
  const blocks = await db
    .selectDistinct({ block: place.block })
    .from(sent)
    .where(isOwnIn(until))
    .orderBy(sql`1`)
    .limit(maxCallBlocks + 1);
  const to = lastReadable(
    blocks.map((row) => row.block),
    range,
  );
  const calls: IndexedCall[] = await db
    .select({
      hash: sent.hash,
      block: place.block,
      transactionIndex,
      timestamp: place.timestamp,
      wallet: sent.from,
      to: sent.to,
      input: sql<Hex>`${sent.input}`,
      value: sent.value,
      ok: sent.ok,
      gasLimit: sent.gasLimit,
      gasUsed: sent.gasUsed,
      gasPrice: sent.effectiveGasPrice,
    })
    .from(sent)
    .where(isOwnIn(to))
    .orderBy(block, transactionIndex);
  const callers = [...new Set(calls.map((call) => call.wallet))];
  const creations: Creation[] = await db
    .select({ wallet: sent.from, contract: sql<Address>`${contractAddress}`, ...place })
    .from(sent)
    .where(
      and(
        isOneOf(sent.from, callers),
        eq(sent.own, true),
        eq(sent.ok, true),
        isNotNull(contractAddress),
        lte(block, BigInt(to)),
      ),
    );
  const payees = of === "past" ? range.wallets : null;
  const { rows: payments } = await client.query<NativePayment>({
    ...NUMERIC_AS_BIGINT,
    ...toQuery(nativePayments(chainId, { from, to, payees })),
  });
  return { to, calls, creations, payments: payments.filter((payment) => followed.has(payment.to)) };
}

/** Those of the wallets that made a call since the range's first block. */
async function readCallers(
  db: NodePgDatabase,
  { chainId, from }: Pick<CallsRange, "chainId" | "from">,
  wallets: ReadonlySet<Address>,
): Promise<readonly Address[]> {
  const { wallet } = indexOf(chainId);
  const rows = await db
    .select({ address: wallet.address })
    .from(wallet)
    .where(gte(wallet.lastCallBlock, BigInt(from)));
  return rows.map(({ address }) => address).filter((address) => wallets.has(address));
}

/** The last block up to which no more than `maxCallBlocks` blocks are to be read; at least the range's first. */
function lastReadable(callBlocks: readonly number[], { of, from, to, rule, maxCallBlocks }: CallsRange) {
  const calls = callBlocks.map((block) => ({ block, needs: [block, stretchStart(rule, block)] }));
  const starts = of === "chain" ? samplesEndingIn(rule, { from, to }) : [];
  const samples = starts.map((start) => ({ block: start + rule.blocks - 1, needs: sampleOf(rule, start) }));
  const read = new Set<number>();
  for (const { block, needs } of [...calls, ...samples].toSorted((a, b) => a.block - b.block)) {
    for (const number of needs) read.add(number);
    if (read.size > maxCallBlocks) return Math.max(from, block - 1);
  }
  return to;
}

/** Contracts that own calls of the wallets created, as far as enrichment has read them. */
export async function readKnownCreations(
  client: PoolClient,
  { chainId, wallets }: { readonly chainId: number; readonly wallets: readonly Address[] },
): Promise<readonly Creation[]> {
  const { creator, address, existedBlock, existedAt } = accountFact;
  return builderOn(client)
    .select({
      wallet: sql<Address>`${creator}`,
      contract: address,
      block: sql<number>`${existedBlock}::float8`,
      timestamp: sql<number>`${existedAt}::float8`,
      transactionIndex: sql<number>`0`,
    })
    .from(accountFact)
    .where(
      and(
        eq(accountFact.chainId, chainId),
        isOneOf(creator, [...new Set(wallets)]),
        eq(accountFact.source, "index"),
        isNotNull(existedBlock),
      ),
    );
}

export type IndexedBlock = {
  readonly hash: Hex;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly baseFeeWei: bigint | null;
};

/** Blocks of the index by number; those that it does not hold are left out. */
export async function readIndexedBlocks(client: PoolClient, chainId: number, numbers: readonly number[]) {
  const { block } = indexOf(chainId);
  const { hash, timestamp, baseFeePerGas: baseFeeWei } = block;
  const rows = await builderOn(client)
    .select({ number: numberOf(block.number), hash, timestamp: numberOf(timestamp), baseFeeWei })
    .from(block)
    .where(isOneOf(block.number, numbers));
  return new Map<number, IndexedBlock>(rows.map(({ number, ...read }) => [number, read]));
}

/** Senders of those of the transactions that are own calls of followed wallets, by transaction hash. */
export async function readOwnSenders(client: PoolClient, chainId: number, hashes: readonly Hex[]) {
  const { transaction } = indexOf(chainId);
  const { hash, from: sender, own } = transaction;
  const rows = await builderOn(client)
    .select({ hash, sender })
    .from(transaction)
    .where(and(isOneOf(hash, hashes), eq(own, true)));
  return new Map(rows.map((row) => [row.hash, row.sender]));
}
