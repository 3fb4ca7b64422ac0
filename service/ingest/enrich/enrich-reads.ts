import { eq } from "drizzle-orm";
import { escapeIdentifier, type PoolClient } from "pg";
import type { Address, Hex } from "viem";
import type { SamplingRule } from "../../chain/deployments.ts";
import { type Database, NUMERIC_AS_BIGINT } from "../../db/database.ts";
import { enrichCursor } from "../../db/tables/enrich.ts";

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

/** Condition on a row `w` of wallets: false for a contract that many call and that never calls, as a token; it has no score. */
export function isNoHubSql({ chainId, asOfBlock }: { readonly chainId: number; readonly asOfBlock: number }) {
  return `(w.own_calls > 0 or w.busy_until is null or w.busy_until < ${asOfBlock}
    or exists (select from ahs.own_call o where o.chain_id = ${chainId} and o.wallet = w.address))`;
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
  { chainId, schema, asOfBlock }: { chainId: number; schema: string; asOfBlock: number },
): Promise<EnrichState> {
  const cursors = await client.query<EnrichCursor>(
    "select block::float8 as block, block_hash as hash from ahs.enrich_cursor where chain_id = $1",
    [chainId],
  );
  const wallets = await client.query<{ address: Address; followed: number }>(
    `select w.address, w.followed_block::float8 as followed from ${escapeIdentifier(schema)}.wallet w
     where w.followed_block <= $1 and ${isNoHubSql({ chainId, asOfBlock })}`,
    [asOfBlock],
  );
  const past = await client.query<EnrichState["past"][number]>(
    `select wallet, past_next::float8 as next, past_until::float8 as until from ahs.enrich_wallet
     where chain_id = $1 and past_next is not null`,
    [chainId],
  );
  return {
    cursor: cursors.rows[0] ?? null,
    wallets: new Map(wallets.rows.map((row) => [row.address, row.followed])),
    past: past.rows,
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
  readonly schema: string;
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
  const { schema, of, from, to: until, maxCallBlocks } = range;
  const table = `${escapeIdentifier(schema)}.transaction`;
  const followed = new Set(range.wallets);
  const wallets = of === "past" ? range.wallets : await readCallers(client, range, followed);
  const place = `block::float8 as block, transaction_index as "transactionIndex", timestamp::float8 as timestamp`;
  const blocks = await client.query<{ block: number }>(
    `select distinct block::float8 as block from ${table}
     where "from" = any($1::text[]) and own and block between $2 and $3 order by block limit $4`,
    [wallets, from, until, maxCallBlocks + 1],
  );
  const to = lastReadable(
    blocks.rows.map(({ block }) => block),
    range,
  );
  const { rows: calls } = await client.query<IndexedCall>({
    text: `select hash, ${place}, "from" as wallet, "to", input, value, ok, gas_limit as "gasLimit",
             gas_used as "gasUsed", effective_gas_price as "gasPrice"
           from ${table} where "from" = any($1::text[]) and own and block between $2 and $3
           order by block, transaction_index`,
    values: [wallets, from, to],
    ...NUMERIC_AS_BIGINT,
  });
  const callers = [...new Set(calls.map((call) => call.wallet))];
  const { rows: creations } = await client.query<Creation>(
    `select "from" as wallet, contract_address as contract, ${place}
     from ${table} where "from" = any($1::text[]) and own and ok and contract_address is not null and block <= $2`,
    [callers, to],
  );
  const isPast = of === "past";
  const payees = isPast ? "unnest($3::text[]) as w (address)" : `${escapeIdentifier(schema)}.wallet w`;
  // Wallet by wallet: no plan may read all transactions.
  const { rows: payments } = await client.query<NativePayment>({
    text: `select t.hash, ${place}, t."from", t."to", t.value from ${payees}
           cross join lateral (
             select * from ${table} where "to" = w.address and not own and ok and value > 0 and block between $1 and $2 offset 0
           ) t`,
    values: [from, to, ...(isPast ? [range.wallets] : [])],
    ...NUMERIC_AS_BIGINT,
  });
  return { to, calls, creations, payments: payments.filter((payment) => followed.has(payment.to)) };
}

/** Those of the wallets that made a call since the range's first block. */
async function readCallers(
  client: PoolClient,
  { schema, from }: Pick<CallsRange, "schema" | "from">,
  wallets: ReadonlySet<Address>,
): Promise<readonly Address[]> {
  const { rows } = await client.query<{ address: Address }>(
    `select address from ${escapeIdentifier(schema)}.wallet where last_call_block >= $1`,
    [from],
  );
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
  const { rows } = await client.query<Creation>(
    `select creator as wallet, address as contract, existed_block::float8 as block, existed_at::float8 as timestamp,
       0 as "transactionIndex"
     from ahs.account_fact where chain_id = $1 and creator = any($2::text[]) and source = 'index' and existed_block is not null`,
    [chainId, [...new Set(wallets)]],
  );
  return rows;
}

export type IndexedBlock = {
  readonly hash: Hex;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly baseFeeWei: bigint | null;
};

/** Blocks of the index by number; those that it does not hold are left out. */
export async function readIndexedBlocks(client: PoolClient, schema: string, numbers: readonly number[]) {
  const { rows } = await client.query<IndexedBlock & { number: number }>({
    text: `select number::float8 as number, hash, timestamp::float8 as timestamp, base_fee_per_gas as "baseFeeWei"
           from ${escapeIdentifier(schema)}.block where number = any($1::numeric[])`,
    values: [numbers],
    ...NUMERIC_AS_BIGINT,
  });
  return new Map(rows.map(({ number, ...block }) => [number, block]));
}

/** Senders of those of the transactions that are own calls of followed wallets, by transaction hash. */
export async function readOwnSenders(client: PoolClient, schema: string, hashes: readonly Hex[]) {
  const { rows } = await client.query<{ hash: Hex; sender: Address }>(
    `select hash, "from" as sender from ${escapeIdentifier(schema)}.transaction where hash = any($1::text[]) and own`,
    [hashes],
  );
  return new Map(rows.map((row) => [row.hash, row.sender]));
}
