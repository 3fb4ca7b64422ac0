import { escapeIdentifier, type PoolClient } from "pg";
import type { Address, Hex } from "viem";
import { type Database, QUERY_DEADLINE } from "../../db/database.ts";
import { readSnapshot } from "../../db/index-snapshot.ts";
import { WALLET_BOUNDS } from "../../model/features/call-line.ts";
import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import { newestCalls } from "../../scores/read/read-calls.ts";
import { readToldOutcomes, type ToldOutcomes } from "./told-calls.ts";

/** A transaction of a wallet, as the index holds it. */
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

/** A failed transaction. */
export type FailedCall = SentCall & {
  /** Wei that a rollup charged for posting it, 0 without such a fee; null if its receipt was not read yet. */
  readonly l1Fee: bigint | null;
};

/** A failed call of a smart account inside a transaction that succeeded. */
export type FailedExecution = Pick<SentCall, "hash" | "block" | "timestamp" | "to" | "selector"> & {
  readonly position: number;
};

/** Outcomes of a wallet's transactions as of one block; newest first. */
export type CallOutcomes = OwnCode & {
  /** The newest indexed block. */
  readonly head: { readonly number: number; readonly hash: Hex; readonly timestamp: number };
  /** Highest sent nonce plus one; null if the index holds none. */
  readonly nextNonce: number | null;
  /** The newest failures of the listed days, up to a total size of calldata. */
  readonly failures: readonly FailedCall[];
  readonly failuresFound: number;
  readonly executions: readonly FailedExecution[];
  /**
   * Successes since the oldest recent failure: the newest per calldata that failed or has a known method, and the
   * newest per failed method and account.
   */
  readonly successes: readonly SentCall[];
  /** No success is missing from this block on; null if none is missing at all. */
  readonly completeFrom: number | null;
  /** Transactions from before the index followed the wallet. */
  readonly told: ToldOutcomes;
};

export type OutcomesQuery = {
  readonly wallet: Address;
  /** How far back failures are listed, and how far back they count as recent. */
  readonly listedDays: number;
  readonly recentDays: number;
  /** Selectors whose successes are all read. */
  readonly knownSelectors: readonly Hex[];
};

const MAX_FAILURES = 200;
const MAX_SUCCESSES = 2_000;
/** Most characters of calldata that are hashed to compare successes with failures: 20,000 calls of 1,600. */
const MAX_COMPARED = 32 * 2 ** 20;
/** Most characters of calldata read of failures, and of successes: decoding 4 MiB takes about a second. */
const MAX_FAILURES_READ = 2 * 2 ** 20;
const MAX_SUCCESSES_READ = 4 * 2 ** 20;
/** Characters read per success, 0x included: thousands are in memory at once. */
export const READ_CHARACTERS = 32_768;

/** Reads outcomes in one snapshot of one chain's index; null while it holds no block. */
export function createOutcomeReader(
  db: Database,
  chainId: number,
): (query: OutcomesQuery) => Promise<CallOutcomes | null> {
  const schema = escapeIdentifier(`chain_${chainId}`);
  return (query) => readSnapshot(db, (client) => readOutcomes(client, { ...query, schema, chainId }));
}

type Reading = OutcomesQuery & { readonly schema: string; readonly chainId: number };

async function readOutcomes(client: PoolClient, reading: Reading): Promise<CallOutcomes | null> {
  const { schema, wallet } = reading;
  const heads = await client.query<CallOutcomes["head"]>({
    ...QUERY_DEADLINE,
    text: `select number::float8, hash, timestamp::float8 from ${schema}.block order by number desc limit 1`,
  });
  const [head] = heads.rows;
  if (head === undefined) return null;
  const recentSince = head.timestamp - reading.recentDays * SECONDS_PER_DAY;
  const newest = await client.query<{ readonly nonce: number }>({
    ...QUERY_DEADLINE,
    text: `select nonce from ${schema}.transaction where "from" = $1 and own
           order by block desc, transaction_index desc limit 1`,
    values: [wallet],
  });
  const [last] = newest.rows;
  const listedSince = head.timestamp - reading.listedDays * SECONDS_PER_DAY;
  return {
    head,
    nextNonce: last === undefined ? null : last.nonce + 1,
    ...(await readFailures(client, reading, listedSince)),
    ...(await readOwnCode(client, { ...reading, recentSince })),
    ...(await readSuccesses(client, reading, recentSince)),
    told: await readToldOutcomes(client, { ...reading, listedSince, recentSince }),
  };
}

/** Nonces and gas limits come from the index. Rollup fees are known after enrichment. */
async function readFailures(
  client: PoolClient,
  { schema, chainId, wallet }: Reading,
  listedSince: number,
): Promise<Pick<CallOutcomes, "failures" | "failuresFound" | "executions">> {
  const failures = await client.query<SentRow & { readonly found: number; readonly l1Fee: string | null }>({
    ...QUERY_DEADLINE,
    text: `select newest.*, case when told.l1_fee_wei is null and told.effect is not null then '0'
                                 else told.l1_fee_wei::text end as "l1Fee"
           from (
             select ${COLUMNS}, count(*) over ()::int as found,
               sum(octet_length(input)) over (order by block desc, transaction_index desc) as bytes,
               row_number() over (order by block desc, transaction_index desc) as place
             from ${newestSent(schema)} sent
             where not ok and timestamp >= $2
             order by block desc, transaction_index desc limit ${MAX_FAILURES}
           ) as newest
           left join ahs.own_call as told on told.chain_id = $3 and told.wallet = $1 and told.block = newest.block
             and told.transaction_index = newest."transactionIndex" and told.position = 0
           where newest.bytes <= ${MAX_FAILURES_READ} or newest.place = 1
           order by newest.block desc, newest."transactionIndex" desc`,
    values: [wallet, listedSince, chainId],
  });
  const executions = await client.query<FailedExecution>({
    ...QUERY_DEADLINE,
    text: `select hash, block::float8, timestamp::float8, "to", selector, position::int
           from ${newestCalls("$1", "$2")} executed
           where position > 0 and not ok and timestamp >= $3
           order by block desc, transaction_index desc, position desc limit ${MAX_FAILURES}`,
    values: [chainId, wallet, listedSince],
  });
  return {
    failures: failures.rows.map((row) => ({
      ...sentCallOf(row),
      l1Fee: row.l1Fee === null ? null : BigInt(row.l1Fee),
    })),
    failuresFound: failures.rows[0]?.found ?? failures.rows.length,
    executions: executions.rows,
  };
}

/** Intents are compared elsewhere. */
async function readSuccesses(
  client: PoolClient,
  { schema, chainId, wallet, knownSelectors }: Reading,
  recentSince: number,
): Promise<Pick<CallOutcomes, "successes" | "completeFrom">> {
  const compared = await client.query<{ readonly after: number }>({
    ...QUERY_DEADLINE,
    text: `select block::float8 as after from (
             select block, sum(octet_length(input)) over (order by block desc, transaction_index desc) as bytes
             from ${newestSent(schema)} sent where timestamp >= $2
           ) as summed where bytes > ${MAX_COMPARED} order by block desc limit 1`,
    values: [wallet, recentSince],
  });
  const after = compared.rows[0]?.after ?? null;
  const { rows } = await client.query<SentRow & { readonly isRead: boolean }>({
    ...QUERY_DEADLINE,
    text: successesSql(schema),
    values: [wallet, recentSince, knownSelectors, chainId, after ?? -1],
  });
  const omitted = rows.findIndex(({ isRead }, place) => !isRead || place === MAX_SUCCESSES);
  const successes = (omitted === -1 ? rows : rows.slice(0, omitted)).map(sentCallOf);
  const last = rows[omitted]?.block ?? after;
  return { successes, completeFrom: last === null ? null : last + 1 };
}

function successesSql(schema: string): string {
  return `
    with failed as materialized (
      select coalesce("to", '') as target, coalesce(selector, '') as method, md5(input) as digest, min(block) as block
      from ${newestSent(schema)} sent where not ok and timestamp >= $2 and block > $5 group by 1, 2, 3
      union all
      select coalesce("to", ''), coalesce(selector, ''), '', min(block) from ${newestCalls("$4", "$1")} told
      where position = 0 and not ok and source <> 'enrich' and timestamp >= $2
      group by 1, 2
    ), sent as (
      select sent.*, coalesce("to", '') as target, coalesce(selector, '') as method, md5(input) as digest
      from ${newestSent(schema)} sent
      where ok and block > $5 and block >= (select min(block) from failed)
    ), alike as (
      select sent.*, case when selector = any($3::text[]) or (target, digest) in (select target, digest from failed)
                          then digest else method end as meaning
      from sent
      where selector = any($3::text[]) or (target, method) in (select target, method from failed)
    ), newest as (
      select distinct on (target, meaning) * from alike
      order by target, meaning, block desc, transaction_index desc
    )
    , summed as (
      select *, sum(least(octet_length(input), ${READ_CHARACTERS}))
        over (order by block desc, transaction_index desc) <= ${MAX_SUCCESSES_READ} as "isRead"
      from newest
    )
    select ${columnsWith(`case when "isRead" then left(input, ${READ_CHARACTERS}) else '0x' end as input`)}, "isRead"
    from (select * from summed order by block desc, transaction_index desc limit ${MAX_SUCCESSES + 1}) as listed
    order by block desc, transaction_index desc`;
}

/** SQL: the newest transactions of $1, up to the model's bound. */
function newestSent(schema: string): string {
  return `(select * from ${schema}.transaction where "from" = $1 and own
    order by block desc, transaction_index desc limit ${WALLET_BOUNDS.calls})`;
}

function columnsWith(input: string): string {
  return `hash, block::float8, transaction_index as "transactionIndex", timestamp::float8, "to", nonce,
  value::text, ${input}, selector, gas_limit::text as "gasLimit", gas_used::text as "gasUsed",
  effective_gas_price::text as "gasPrice"`;
}

const COLUMNS = columnsWith("input");

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

/**
 * Newest success per account and method among calls that the wallet's own code made in others' transactions. `to` is
 * null if the target is unknown.
 */
type Executed = { readonly to: Address | null; readonly selector: Hex | null; readonly block: number };

/** Known actions of a wallet's own code. */
type OwnCode = {
  /** Of the recent days; blocks that are not enriched yet are missing. */
  readonly executed: readonly Executed[];
  /** The newest recent success that called the wallet itself, so that its own code may have done anything. */
  readonly selfCall: { readonly hash: Hex; readonly block: number; readonly transactionIndex: number } | null;
  /** The newest block with known executions by the wallet's own code; null if they were never read. */
  readonly enrichedBlock: number | null;
};

/** Reads it on the client's snapshot. */
async function readOwnCode(
  client: PoolClient,
  {
    schema,
    chainId,
    wallet,
    recentSince,
  }: {
    /** Views schema of the index, escaped. */
    readonly schema: string;
    readonly chainId: number;
    readonly wallet: Address;
    /** Unix seconds. */
    readonly recentSince: number;
  },
): Promise<OwnCode> {
  const executed = await client.query<Executed>({
    ...QUERY_DEADLINE,
    text: `select "to", selector, max(block)::float8 as block
           from ${newestCalls("$1", "$2")} executed
           where position > 0 and ok and timestamp >= $3
           group by "to", selector`,
    values: [chainId, wallet, recentSince],
  });
  const selfCalls = await client.query<NonNullable<OwnCode["selfCall"]>>({
    ...QUERY_DEADLINE,
    text: `select hash, block::float8, transaction_index as "transactionIndex" from ${schema}.transaction
           where "to" = $1 and ok and input <> '0x' and timestamp >= $2
           order by block desc, transaction_index desc limit 1`,
    values: [wallet, recentSince],
  });
  const enriched = await client.query<{ readonly block: number }>({
    ...QUERY_DEADLINE,
    text: `select least(cursor.block, read.past_next - 1)::float8 as block
           from ahs.enrich_cursor as cursor join ahs.enrich_wallet as read using (chain_id)
           where cursor.chain_id = $1 and read.wallet = $2`,
    values: [chainId, wallet],
  });
  return {
    executed: executed.rows,
    selfCall: selfCalls.rows[0] ?? null,
    enrichedBlock: enriched.rows[0]?.block ?? null,
  };
}
