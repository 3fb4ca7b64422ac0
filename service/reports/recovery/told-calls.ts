import type { PoolClient } from "pg";
import type { Address, Hex } from "viem";
import { QUERY_DEADLINE } from "../../db/database.ts";
import { newestCalls } from "../../scores/read/read-calls.ts";

/** A transaction from before the index followed its sender, as a history source reported it, without nonce and calldata. */
export type ToldCall = {
  readonly hash: Hex;
  readonly block: number;
  readonly transactionIndex: number;
  /** Unix seconds of its block. */
  readonly timestamp: number;
  /** Null for a contract creation. */
  readonly to: Address | null;
  readonly value: bigint;
  /** First four bytes of the calldata; null for a plain transfer. */
  readonly selector: Hex | null;
  readonly gasLimit: bigint;
  readonly gasUsed: bigint;
  /** Wei per gas. */
  readonly gasPrice: bigint;
  /** Wei that a rollup charged for posting it; 0 without such a fee. */
  readonly l1Fee: bigint;
};

/** Newest reported success per method, account and recipient. */
export type ToldSuccess = Pick<ToldCall, "hash" | "block" | "transactionIndex" | "to" | "selector"> & {
  /** By the calldata of an ERC-20 transfer or transferFrom; null for any other call. */
  readonly recipient: Address | null;
};

/** Transactions that a history source reported and the index does not have; newest first. */
export type ToldOutcomes = {
  /** The newest failures of the listed days. */
  readonly failures: readonly ToldCall[];
  readonly failuresFound: number;
  /** Of the recent days. */
  readonly successes: readonly ToldSuccess[];
  /** No success is missing from this block on; null if none is missing at all. */
  readonly completeFrom: number | null;
  /** Whether the index continues where the source ends; otherwise transactions in between are unknown. */
  readonly meetsIndex: boolean;
};

const MAX_FAILURES = 200;
const MAX_SUCCESSES = 2_000;

/** Reads the reported transactions on the client's snapshot. */
export async function readToldOutcomes(
  client: PoolClient,
  query: {
    /** Views schema of the index, escaped. */
    readonly schema: string;
    readonly chainId: number;
    readonly wallet: Address;
    /** Unix seconds. */
    readonly listedSince: number;
    readonly recentSince: number;
  },
): Promise<ToldOutcomes> {
  const { schema, chainId, wallet, listedSince, recentSince } = query;
  const failures = await client.query<ToldRow & { readonly found: number }>({
    ...QUERY_DEADLINE,
    text: `select hash, block::float8, transaction_index as "transactionIndex", timestamp::float8, "to",
             value::text, selector, gas_limit::text as "gasLimit", gas_used::text as "gasUsed",
             gas_price_wei::text as "gasPrice", coalesce(l1_fee_wei, 0)::text as "l1Fee", count(*) over ()::int as found
           from ${newestCalls("$1", "$2")} told where ${isTold(schema)} and not ok
           order by block desc, transaction_index desc limit ${MAX_FAILURES}`,
    values: [chainId, wallet, listedSince],
  });
  const successes = await client.query<ToldSuccess>({
    ...QUERY_DEADLINE,
    text: `select * from (
             select distinct on ("to", selector, recipient)
               hash, block::float8, transaction_index as "transactionIndex", "to", selector, recipient
             from ${newestCalls("$1", "$2")} told where ${isTold(schema)} and ok
             order by "to", selector, recipient, told.block desc, transaction_index desc
           ) newest order by block desc, "transactionIndex" desc limit ${MAX_SUCCESSES + 1}`,
    values: [chainId, wallet, recentSince],
  });
  const meeting = await client.query<{ readonly meets: boolean }>({
    ...QUERY_DEADLINE,
    text: `select kept.to_block >= followed.followed_block - 1 as meets
           from ahs.kept_history kept join ${schema}.wallet followed on followed.address = kept.wallet
           where kept.chain_id = $1 and kept.wallet = $2`,
    values: [chainId, wallet],
  });
  const [omitted] = successes.rows.slice(MAX_SUCCESSES);
  return {
    failures: failures.rows.map(toldCallOf),
    failuresFound: failures.rows[0]?.found ?? failures.rows.length,
    successes: successes.rows.slice(0, MAX_SUCCESSES),
    completeFrom: omitted === undefined ? null : omitted.block + 1,
    meetsIndex: meeting.rows[0]?.meets === true,
  };
}

/** SQL: transactions of own_call since $3 (Unix seconds) that the index does not have. */
function isTold(schema: string): string {
  return `told.position = 0 and told.source <> 'enrich'
    and told.timestamp >= $3
    and not exists (select from ${schema}.transaction sent where sent.hash = told.hash and sent.own)`;
}

type Amounts = "value" | "gasLimit" | "gasUsed" | "gasPrice" | "l1Fee";
type ToldRow = Omit<ToldCall, Amounts> & { readonly [name in Amounts]: string };

function toldCallOf(row: ToldRow): ToldCall {
  const { hash, block, transactionIndex, timestamp, to, selector } = row;
  return {
    ...{ hash, block, transactionIndex, timestamp, to, selector },
    value: BigInt(row.value),
    gasLimit: BigInt(row.gasLimit),
    gasUsed: BigInt(row.gasUsed),
    gasPrice: BigInt(row.gasPrice),
    l1Fee: BigInt(row.l1Fee),
  };
}
