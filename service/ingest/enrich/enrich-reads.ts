import { sql } from "drizzle-orm";
import { escapeIdentifier, type PoolClient } from "pg";
import type { Address, Hex } from "viem";
import type { Database } from "../../db/database.ts";

/** How far the chain is enriched. */
export type EnrichCursor = { readonly block: number; readonly hash: Hex };

/** A wallet's past that is still to be read, both ends included. */
type OpenPast = { readonly wallet: Address; readonly next: number; readonly until: number };

export type EnrichState = {
  readonly cursor: EnrichCursor | null;
  /** Every followed wallet with the block in which the index began to follow it. */
  readonly wallets: ReadonlyMap<Address, number>;
  readonly past: readonly OpenPast[];
};

/** Null before anything is enriched. */
export async function readEnrichCursor(db: Database, chainId: number): Promise<EnrichCursor | null> {
  const { rows } = await db.execute<EnrichCursor>(
    sql`select block::float8 as block, block_hash as hash from ahs.enrich_cursor where chain_id = ${chainId}`,
  );
  return rows[0] ?? null;
}

/**
 * Condition on a row `w` of the index's wallets: false for a contract that many others call and that makes no call of its own, as a
 * token or a router. It has no score, and logs by the million.
 */
export function isNoHubSql({ chainId, asOfBlock }: { readonly chainId: number; readonly asOfBlock: number }) {
  return `(w.own_calls > 0 or w.busy_until is null or w.busy_until < ${asOfBlock}
    or exists (select from ahs.own_call o where o.chain_id = ${chainId} and o.wallet = w.address))`;
}

/** The cursor, the wallets followed by a block of the index, and what is open of their past; within the caller's snapshot. */
export async function readEnrichState(
  client: PoolClient,
  {
    chainId,
    schema,
    asOfBlock,
  }: { readonly chainId: number; readonly schema: string } & { readonly asOfBlock: number },
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
  const past = await client.query<OpenPast>(
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
  readonly wallet: Address;
  readonly to: Address | null;
  readonly input: Hex;
  readonly value: bigint;
  readonly ok: boolean;
  readonly gasLimit: bigint;
  readonly gasUsed: bigint;
  /** Wei per gas. */
  readonly gasPrice: bigint;
};

/** Native coin that an account that is not followed sent to a followed wallet. */
export type NativePayment = {
  readonly hash: Hex;
  readonly block: number;
  readonly transactionIndex: number;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly from: Address;
  readonly to: Address;
  readonly value: bigint;
};

/** A contract that an own call of a wallet created. */
export type Creation = {
  readonly wallet: Address;
  readonly contract: Address;
  readonly block: number;
  readonly transactionIndex: number;
  /** Unix seconds. */
  readonly timestamp: number;
};

export type RangeCalls = {
  /** Last block of the range that was read: an earlier one than asked for where too many blocks hold own calls. */
  readonly to: number;
  /** In the order of the chain. */
  readonly calls: readonly IndexedCall[];
  /** Of the wallets that called, up to the end of the range. */
  readonly creations: readonly Creation[];
  readonly payments: readonly NativePayment[];
};

export type RangeQuery = {
  readonly schema: string;
  readonly from: number;
  readonly to: number;
  readonly wallets: readonly Address[];
  /** Most blocks with own calls in one range. */
  readonly maxCallBlocks: number;
};

/** Own calls of the wallets from one block to another, both included; within the caller's snapshot. */
export async function readRangeCalls(client: PoolClient, query: RangeQuery): Promise<RangeCalls> {
  const { from, wallets, maxCallBlocks } = query;
  const table = `${escapeIdentifier(query.schema)}.transaction`;
  const blocks = await client.query<{ block: number }>(
    `select distinct block::float8 as block from ${table}
     where "from" = any($1::text[]) and own and block between $2 and $3 order by block limit $4`,
    [wallets, from, query.to, maxCallBlocks + 1],
  );
  const to =
    blocks.rows.length > maxCallBlocks ? (blocks.rows[maxCallBlocks - 1]?.block ?? query.to) : query.to;
  const calls = await readOwnTransactions(client, table, { ...query, to });
  const callers = [...new Set(calls.map((call) => call.wallet))];
  const creations = await client.query<Creation>(
    `select "from" as wallet, contract_address as contract, block::float8 as block, transaction_index as "transactionIndex",
       timestamp::float8 as timestamp
     from ${table} where "from" = any($1::text[]) and own and ok and contract_address is not null and block <= $2`,
    [callers, to],
  );
  const payments = await client.query<Omit<NativePayment, "value"> & { value: string }>(
    `select hash, block::float8 as block, transaction_index as "transactionIndex", timestamp::float8 as timestamp,
       "from", "to", value::text as value
     from ${table} where "to" = any($1::text[]) and not own and ok and value > 0 and block between $2 and $3`,
    [wallets, from, to],
  );
  return {
    to,
    calls,
    creations: creations.rows,
    payments: payments.rows.map((row) => ({ ...row, value: BigInt(row.value) })),
  };
}

type Quantities = "value" | "gasLimit" | "gasUsed" | "gasPrice";

async function readOwnTransactions(
  client: PoolClient,
  table: string,
  { wallets, from, to }: Pick<RangeQuery, "wallets" | "from" | "to">,
): Promise<readonly IndexedCall[]> {
  const { rows } = await client.query<Omit<IndexedCall, Quantities> & Readonly<Record<Quantities, string>>>(
    `select hash, block::float8 as block, transaction_index as "transactionIndex", timestamp::float8 as timestamp,
       "from" as wallet, "to", input, value::text as value, ok, gas_limit::text as "gasLimit",
       gas_used::text as "gasUsed", effective_gas_price::text as "gasPrice"
     from ${table} where "from" = any($1::text[]) and own and block between $2 and $3 order by block, transaction_index`,
    [wallets, from, to],
  );
  return rows.map((row) => ({
    ...row,
    value: BigInt(row.value),
    gasLimit: BigInt(row.gasLimit),
    gasUsed: BigInt(row.gasUsed),
    gasPrice: BigInt(row.gasPrice),
  }));
}

export type IndexedBlock = {
  readonly hash: Hex;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly baseFeeWei: bigint | null;
};

/** Blocks of the index by number; those that it does not hold are left out. */
export async function readIndexedBlocks(
  client: PoolClient,
  schema: string,
  numbers: readonly number[],
): Promise<ReadonlyMap<number, IndexedBlock>> {
  const { rows } = await client.query<{ number: number; hash: Hex; timestamp: number; fee: string | null }>(
    `select number::float8 as number, hash, timestamp::float8 as timestamp, base_fee_per_gas::text as fee
     from ${escapeIdentifier(schema)}.block where number = any($1::numeric[])`,
    [numbers],
  );
  return new Map(
    rows.map(({ number, hash, timestamp, fee }) => [
      number,
      { hash, timestamp, baseFeeWei: fee === null ? null : BigInt(fee) },
    ]),
  );
}

/** Senders of those of the transactions that are own calls of followed wallets, by transaction hash. */
export async function readOwnSenders(
  client: PoolClient,
  schema: string,
  hashes: readonly Hex[],
): Promise<ReadonlyMap<Hex, Address>> {
  const { rows } = await client.query<{ hash: Hex; sender: Address }>(
    `select hash, "from" as sender from ${escapeIdentifier(schema)}.transaction where hash = any($1::text[]) and own`,
    [hashes],
  );
  return new Map(rows.map((row) => [row.hash, row.sender]));
}
