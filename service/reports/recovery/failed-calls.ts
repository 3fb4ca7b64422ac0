import { escapeIdentifier, type PoolClient } from "pg";
import type { Address, Hex } from "viem";
import { type Database, NUMERIC_AS_BIGINT } from "../../db/database.ts";
import { readSnapshotInTime } from "../../db/index-snapshot.ts";
import { WALLET_BOUNDS } from "../../model/features/call-line.ts";
import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import { newestCalls } from "../../scores/read/read-calls.ts";

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

/**
 * A failed transaction. `l1Fee` is what a rollup charged for posting it, in wei, 0 without such a fee; null if its
 * receipt was not read yet.
 */
export type FailedCall = SentCall & { readonly l1Fee: bigint | null };

/** A transaction from before the index followed its sender, as a history source reported it. */
export type ReportedCall = Omit<SentCall, "nonce" | "input"> & { readonly l1Fee: bigint };

/** Newest reported success per method, account and recipient. */
export type ReportedSuccess = Pick<SentCall, "hash" | "block" | "transactionIndex" | "to" | "selector"> & {
  /** By the calldata of an ERC-20 transfer or transferFrom; null for any other call. */
  readonly recipient: Address | null;
};

/** A failed call of a smart account inside a transaction that succeeded. */
export type FailedExecution = Pick<SentCall, "hash" | "block" | "timestamp" | "to" | "selector"> & {
  readonly position: number;
};

/** Outcomes of a wallet's transactions as of one block; newest first. */
export type CallOutcomes = NonNullable<Awaited<ReturnType<typeof readOutcomes>>>;

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
export function createOutcomeReader(db: Database, chainId: number) {
  const schema = escapeIdentifier(`chain_${chainId}`);
  return (query: OutcomesQuery) =>
    readSnapshotInTime(db, (client) => readOutcomes(client, { ...query, schema, chainId }));
}

/** `schema` is the views schema of the index, escaped. */
type Reading = OutcomesQuery & { readonly schema: string; readonly chainId: number };

async function readOutcomes(client: PoolClient, reading: Reading) {
  const { schema, wallet, listedDays, recentDays } = reading;
  const heads = await client.query<{ number: number; hash: Hex; timestamp: number }>(
    `select number::float8, hash, timestamp::float8 from ${schema}.block order by number desc limit 1`,
  );
  const [head] = heads.rows;
  if (head === undefined) return null;
  const listedSince = head.timestamp - listedDays * SECONDS_PER_DAY;
  const recentSince = head.timestamp - recentDays * SECONDS_PER_DAY;
  const newest = await client.query<{ nonce: number }>(
    `select nonce from ${schema}.transaction where "from" = $1 and own
           order by block desc, transaction_index desc limit 1`,
    [wallet],
  );
  const [last] = newest.rows;
  return {
    head,
    /** Highest sent nonce plus one; null if the index holds none. */
    nextNonce: last === undefined ? null : last.nonce + 1,
    ...(await readFailures(client, reading, listedSince)),
    ...(await readOwnCode(client, reading, recentSince)),
    ...(await readSuccesses(client, reading, recentSince)),
    reported: await readReported(client, reading, { listedSince, recentSince }),
  };
}

/** Reads the newest failures, up to a total size of calldata. A rollup's fee is known after enrichment. */
async function readFailures(
  client: PoolClient,
  { schema, chainId, wallet }: Reading,
  listedSince: number,
): Promise<{
  readonly failures: readonly FailedCall[];
  readonly failuresFound: number;
  readonly executions: readonly FailedExecution[];
}> {
  const failures = await client.query<FailedCall & { found: number; bytes: bigint; place: string }>({
    ...NUMERIC_AS_BIGINT,
    text: `select newest.*, case when enriched.l1_fee_wei is null and enriched.effect is not null then 0
                                 else enriched.l1_fee_wei end as "l1Fee"
           from (
             select ${columnsWith("input")}, count(*) over ()::int as found,
               sum(octet_length(input)) over (order by block desc, transaction_index desc) as bytes,
               row_number() over (order by block desc, transaction_index desc) as place
             from ${newestSent(schema)} sent
             where not ok and timestamp >= $2
             order by block desc, transaction_index desc limit ${MAX_FAILURES}
           ) as newest
           left join ahs.own_call as enriched on enriched.chain_id = $3 and enriched.wallet = $1
             and enriched.block = newest.block and enriched.transaction_index = newest."transactionIndex"
             and enriched.position = 0
           where newest.bytes <= ${MAX_FAILURES_READ} or newest.place = 1
           order by newest.block desc, newest."transactionIndex" desc`,
    values: [wallet, listedSince, chainId],
  });
  const executions = await client.query<FailedExecution>(
    `select hash, block::float8, timestamp::float8, "to", selector, position::int
           from ${newestCalls("$1", "$2")} executed
           where position > 0 and not ok and timestamp >= $3
           order by block desc, transaction_index desc, position desc limit ${MAX_FAILURES}`,
    [chainId, wallet, listedSince],
  );
  return {
    failures: failures.rows.map(({ found: _found, bytes: _bytes, place: _place, ...call }) => call),
    failuresFound: failures.rows[0]?.found ?? 0,
    executions: executions.rows,
  };
}

/**
 * Reads successes since the oldest recent failure: the newest per calldata that failed or has a known method, and the
 * newest per failed method and account. No success is missing from `completeFrom` on; null if none is missing at all.
 */
async function readSuccesses(
  client: PoolClient,
  { schema, chainId, wallet, knownSelectors }: Reading,
  recentSince: number,
): Promise<{ readonly successes: readonly SentCall[]; readonly completeFrom: number | null }> {
  const compared = await client.query<{ after: number }>(
    `select block::float8 as after from (
             select block, sum(octet_length(input)) over (order by block desc, transaction_index desc) as bytes
             from ${newestSent(schema)} sent where timestamp >= $2
           ) as summed where bytes > ${MAX_COMPARED} order by block desc limit 1`,
    [wallet, recentSince],
  );
  const after = compared.rows[0]?.after ?? null;
  const { rows } = await client.query<SentCall & { isRead: boolean }>({
    ...NUMERIC_AS_BIGINT,
    text: successesSql(schema),
    values: [wallet, recentSince, knownSelectors, chainId, after ?? -1],
  });
  const omitted = rows.findIndex(({ isRead }, place) => !isRead || place === MAX_SUCCESSES);
  const read = omitted === -1 ? rows : rows.slice(0, omitted);
  const last = rows[omitted]?.block ?? after;
  return {
    successes: read.map(({ isRead: _isRead, ...call }) => call),
    completeFrom: last === null ? null : last + 1,
  };
}

function successesSql(schema: string): string {
  return `
    with failed as materialized (
      select coalesce("to", '') as target, coalesce(selector, '') as method, md5(input) as digest, min(block) as block
      from ${newestSent(schema)} sent where not ok and timestamp >= $2 and block > $5 group by 1, 2, 3
      union all
      select coalesce("to", ''), coalesce(selector, ''), '', min(block) from ${newestCalls("$4", "$1")} reported
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
    ), summed as (
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
  return `hash, block::float8, transaction_index as "transactionIndex", timestamp::float8, "to", nonce, value, ${input},
    selector, gas_limit as "gasLimit", gas_used as "gasUsed", effective_gas_price as "gasPrice"`;
}

/** Reads what is known of the wallet's own code (EIP-7702), and of the calls that it made. */
async function readOwnCode(
  client: PoolClient,
  { schema, chainId, wallet }: Reading,
  recentSince: number,
): Promise<{
  /** Newest success per account and method in others' transactions. `to` is null if the target is unknown. */
  readonly executed: readonly { to: Address | null; selector: Hex | null; block: number }[];
  /** The newest recent success that called the wallet itself, so that its own code may have done anything. */
  readonly selfCall: Pick<SentCall, "hash" | "block" | "transactionIndex"> | null;
  /** The newest block with known executions by the wallet's own code; null if they were never read. */
  readonly enrichedBlock: number | null;
}> {
  const executed = await client.query<{ to: Address | null; selector: Hex | null; block: number }>(
    `select "to", selector, max(block)::float8 as block
           from ${newestCalls("$1", "$2")} executed
           where position > 0 and ok and timestamp >= $3
           group by "to", selector`,
    [chainId, wallet, recentSince],
  );
  const selfCalls = await client.query<Pick<SentCall, "hash" | "block" | "transactionIndex">>(
    `select hash, block::float8, transaction_index as "transactionIndex" from ${schema}.transaction
           where "to" = $1 and ok and input <> '0x' and timestamp >= $2
           order by block desc, transaction_index desc limit 1`,
    [wallet, recentSince],
  );
  const enriched = await client.query<{ block: number }>(
    `select least(cursor.block, read.past_next - 1)::float8 as block
           from ahs.enrich_cursor as cursor join ahs.enrich_wallet as read using (chain_id)
           where cursor.chain_id = $1 and read.wallet = $2`,
    [chainId, wallet],
  );
  return {
    executed: executed.rows,
    selfCall: selfCalls.rows[0] ?? null,
    enrichedBlock: enriched.rows[0]?.block ?? null,
  };
}

/** Reads the transactions that a history source reported and the index does not have. */
async function readReported(
  client: PoolClient,
  { schema, chainId, wallet }: Reading,
  { listedSince, recentSince }: { listedSince: number; recentSince: number },
): Promise<{
  readonly failures: readonly ReportedCall[];
  readonly failuresFound: number;
  readonly successes: readonly ReportedSuccess[];
  /** No success is missing from this block on; null if none is missing at all. */
  readonly completeFrom: number | null;
  /** Whether the index continues where the source ends; otherwise transactions in between are unknown. */
  readonly meetsIndex: boolean;
}> {
  const missing = `reported.position = 0 and reported.source <> 'enrich' and reported.timestamp >= $3
    and not exists (select from ${schema}.transaction sent where sent.hash = reported.hash and sent.own)`;
  const failures = await client.query<ReportedCall & { found: number }>({
    ...NUMERIC_AS_BIGINT,
    text: `select hash, block::float8, transaction_index as "transactionIndex", timestamp::float8, "to", value, selector,
             gas_limit as "gasLimit", gas_used as "gasUsed", gas_price_wei as "gasPrice",
             coalesce(l1_fee_wei, 0) as "l1Fee", count(*) over ()::int as found
           from ${newestCalls("$1", "$2")} reported where ${missing} and not ok
           order by block desc, transaction_index desc limit ${MAX_FAILURES}`,
    values: [chainId, wallet, listedSince],
  });
  const successes = await client.query<ReportedSuccess>(
    `select * from (
             select distinct on ("to", selector, recipient)
               hash, block::float8, transaction_index as "transactionIndex", "to", selector, recipient
             from ${newestCalls("$1", "$2")} reported where ${missing} and ok
             order by "to", selector, recipient, reported.block desc, transaction_index desc
           ) newest order by block desc, "transactionIndex" desc limit ${MAX_SUCCESSES + 1}`,
    [chainId, wallet, recentSince],
  );
  const meeting = await client.query<{ meets: boolean }>(
    `select kept.to_block >= followed.followed_block - 1 as meets
           from ahs.kept_history kept join ${schema}.wallet followed on followed.address = kept.wallet
           where kept.chain_id = $1 and kept.wallet = $2`,
    [chainId, wallet],
  );
  const [omitted] = successes.rows.slice(MAX_SUCCESSES);
  return {
    failures: failures.rows.map(({ found: _found, ...call }) => call),
    failuresFound: failures.rows[0]?.found ?? 0,
    successes: successes.rows.slice(0, MAX_SUCCESSES),
    completeFrom: omitted === undefined ? null : omitted.block + 1,
    meetsIndex: meeting.rows[0]?.meets === true,
  };
}
