import { escapeIdentifier, type PoolClient } from "pg";
import type { Address, Hex } from "viem";
import type { Database } from "./database.ts";
import { readSnapshot } from "./index-snapshot.ts";
import { QUERY_DEADLINE } from "./query-deadline.ts";

/** A transaction that a wallet sent, as the index holds it. */
export type SentCall = {
  readonly hash: Hex;
  readonly block: number;
  readonly transactionIndex: number;
  /** Unix seconds of its block. */
  readonly timestamp: number;
  /** Null for a contract creation. */
  readonly to: Address | null;
  readonly nonce: number;
  readonly value: bigint;
  readonly input: Hex;
  /** First four bytes of the input; null for a plain transfer. */
  readonly selector: Hex | null;
  readonly gasLimit: bigint;
  readonly gasUsed: bigint;
  /** Wei per gas. */
  readonly gasPrice: bigint;
};

/** A call that a smart account made and that failed, while the transaction that carried it did not. */
export type FailedExecution = Pick<SentCall, "hash" | "block" | "timestamp" | "to" | "selector"> & {
  readonly position: number;
};

/** The newest success among the calls that a smart account made of one method of one account. */
export type Executed = { readonly to: Address; readonly selector: Hex | null; readonly block: number };

/** What became of a wallet's transactions, all as of one block; newest first. */
export type CallOutcomes = {
  /** The newest block that the index holds. */
  readonly head: { readonly number: number; readonly hash: Hex; readonly timestamp: number };
  /** One above the highest nonce sent; null where the index holds none. */
  readonly nextNonce: number | null;
  /** Failures of the listed days, the newest of them. */
  readonly failures: readonly SentCall[];
  readonly failuresFound: number;
  readonly executions: readonly FailedExecution[];
  /** Of the recent days; blocks that are not enriched yet tell of none. */
  readonly executed: readonly Executed[];
  /** Of what succeeded since the oldest recent failure: the newest of each calldata that failed, and of each with a known method. */
  readonly successes: readonly SentCall[];
  /** Block from which on no such success is left out; null where none is. */
  readonly completeFrom: number | null;
};

export type OutcomesQuery = {
  readonly wallet: Address;
  /** How far back failures are listed, and how far back they count as recent. */
  readonly listedDays: number;
  readonly recentDays: number;
  /** Selectors whose successes are read whatever their calldata. */
  readonly knownSelectors: readonly Hex[];
};

const SECONDS_PER_DAY = 86_400;
const MAX_FAILURES = 200;
const MAX_SUCCESSES = 2_000;

/** Reads outcomes on one snapshot of one chain's index; null while it holds no block. */
export function createOutcomeReader(
  db: Database,
  chainId: number,
): (query: OutcomesQuery) => Promise<CallOutcomes | null> {
  const schema = escapeIdentifier(`chain_${chainId}`);
  return (query) => readSnapshot(db, (client) => readOutcomes(client, { ...query, schema, chainId }));
}

type Reading = OutcomesQuery & { readonly schema: string; readonly chainId: number };

async function readOutcomes(client: PoolClient, reading: Reading): Promise<CallOutcomes | null> {
  const { schema, chainId, wallet } = reading;
  const heads = await client.query<CallOutcomes["head"]>({
    ...QUERY_DEADLINE,
    text: `select number::float8, hash, timestamp::float8 from ${schema}.block order by number desc limit 1`,
  });
  const [head] = heads.rows;
  if (head === undefined) return null;
  const listedSince = head.timestamp - reading.listedDays * SECONDS_PER_DAY;
  const recentSince = head.timestamp - reading.recentDays * SECONDS_PER_DAY;
  const failures = await client.query<SentRow & { readonly found: number }>({
    ...QUERY_DEADLINE,
    text: `select ${COLUMNS}, count(*) over ()::int as found from ${schema}.transaction
           where "from" = $1 and own and not ok and timestamp >= $2
           order by block desc, transaction_index desc limit ${MAX_FAILURES}`,
    values: [wallet, listedSince],
  });
  const newest = await client.query<{ readonly nonce: number }>({
    ...QUERY_DEADLINE,
    text: `select nonce from ${schema}.transaction where "from" = $1 and own
           order by block desc, transaction_index desc limit 1`,
    values: [wallet],
  });
  const successes = await readSuccesses(client, reading, recentSince);
  const executions = await client.query<FailedExecution>({
    ...QUERY_DEADLINE,
    text: `select hash, block::float8, timestamp::float8, "to", selector, position::int from ahs.own_call
           where chain_id = $1 and wallet = $2 and position > 0 and not ok and timestamp >= $3
           order by block desc, transaction_index desc, position desc limit ${MAX_FAILURES}`,
    values: [chainId, wallet, listedSince],
  });
  const executed = await client.query<Executed>({
    ...QUERY_DEADLINE,
    text: `select "to", selector, max(block)::float8 as block from ahs.own_call
           where chain_id = $1 and wallet = $2 and position > 0 and ok and timestamp >= $3 and "to" is not null
           group by "to", selector`,
    values: [chainId, wallet, recentSince],
  });
  const [last] = newest.rows;
  return {
    head,
    nextNonce: last === undefined ? null : last.nonce + 1,
    failures: failures.rows.map(sentCallOf),
    failuresFound: failures.rows[0]?.found ?? failures.rows.length,
    executions: executions.rows,
    executed: executed.rows,
    ...successes,
  };
}

/** A success is one of the same calldata at the same account, or any call of a known method: what those mean is compared elsewhere. */
async function readSuccesses(
  client: PoolClient,
  { schema, wallet, knownSelectors }: Reading,
  recentSince: number,
): Promise<Pick<CallOutcomes, "successes" | "completeFrom">> {
  const { rows } = await client.query<SentRow>({
    ...QUERY_DEADLINE,
    text: successesSql(schema),
    values: [wallet, recentSince, knownSelectors],
  });
  const successes = rows.slice(0, MAX_SUCCESSES).map(sentCallOf);
  const [omitted] = rows.slice(MAX_SUCCESSES);
  return { successes, completeFrom: omitted === undefined ? null : omitted.block + 1 };
}

function successesSql(schema: string): string {
  return `
    with failed as materialized (
      select "to", md5(input) as digest, min(block) as block from ${schema}.transaction
      where "from" = $1 and own and not ok and timestamp >= $2 group by 1, 2
    ), newest as (
      select distinct on (sent."to", md5(sent.input)) sent.*
      from ${schema}.transaction sent
      where sent."from" = $1 and sent.own and sent.ok and sent.block >= (select min(block) from failed)
        and (sent.selector = any($3::text[]) or exists (
          select from failed where failed."to" is not distinct from sent."to" and failed.digest = md5(sent.input)
        ))
      order by sent."to", md5(sent.input), sent.block desc, sent.transaction_index desc
    )
    select ${COLUMNS} from newest order by block desc, transaction_index desc limit ${MAX_SUCCESSES + 1}`;
}

const COLUMNS = `hash, block::float8, transaction_index as "transactionIndex", timestamp::float8, "to", nonce,
  value::text, input, selector, gas_limit::text as "gasLimit", gas_used::text as "gasUsed",
  effective_gas_price::text as "gasPrice"`;

type Amounts = "value" | "gasLimit" | "gasUsed" | "gasPrice";
type SentRow = Omit<SentCall, Amounts> & { readonly [name in Amounts]: string };

function sentCallOf(row: SentRow): SentCall {
  const { hash, block, transactionIndex, timestamp, to, nonce, input, selector } = row;
  return {
    ...{ hash, block, transactionIndex, timestamp, to, nonce, input, selector },
    value: BigInt(row.value),
    gasLimit: BigInt(row.gasLimit),
    gasUsed: BigInt(row.gasUsed),
    gasPrice: BigInt(row.gasPrice),
  };
}
