import { type Column, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Address, Hex } from "viem";
import { indexOf } from "../../db/index-tables.ts";
import { WALLET_BOUNDS } from "../../model/features/call-line.ts";

// No bench row measures these; the builder cannot read from a bounded subselect under the columns of its table.

/** A wallet, lower-case, of a chain. */
export type WalletOf = { readonly chainId: number; readonly wallet: Address };

const MAX_FAILURES = 200;
export const MAX_SUCCESSES = 2_000;
/** Most characters of calldata that are hashed to compare successes with failures: 20,000 calls of 1,600. */
const MAX_COMPARED = 32 * 2 ** 20;
/** Most characters of calldata read of failures, and of successes: decoding 4 MiB takes about a second. */
const MAX_FAILURES_READ = 2 * 2 ** 20;
const MAX_SUCCESSES_READ = 4 * 2 ** 20;
/** Characters read per success, 0x included: thousands are in memory at once. */
export const READ_CHARACTERS = 32_768;

type Transactions = Record<keyof ReturnType<typeof indexOf>["transaction"]["_"]["columns"], Column>;

/** The newest transactions of a wallet as `sent`, up to the model's bound, and those columns. */
function newestSent({ chainId, wallet }: WalletOf) {
  const { transaction } = indexOf(chainId);
  const sent = alias(transaction, "sent");
  const from = sql`(
    select * from ${transaction} where ${transaction.from} = ${wallet} and ${transaction.own}
    order by ${transaction.block} desc, ${transaction.transactionIndex} desc limit ${WALLET_BOUNDS.calls}) ${sent}`;
  return { from, sent };
}

/** The newest own calls of a wallet, found by the primary key, as many as are read of one wallet. */
function newestCalls({ chainId, wallet }: WalletOf): SQL {
  return sql`(
    select * from ahs.own_call where chain_id = ${chainId} and wallet = ${wallet}
    order by block desc, transaction_index desc, position desc limit ${WALLET_BOUNDS.calls})`;
}

function newestFirst(of: Transactions): SQL {
  return sql`order by ${of.block} desc, ${of.transactionIndex} desc`;
}

function columnsWith(of: Transactions, input: SQL): SQL {
  return sql`${of.hash}, ${of.block}::float8, ${of.transactionIndex} as "transactionIndex", ${of.timestamp}::float8, ${of.to},
    ${of.nonce}, ${of.value}, ${input}, ${of.selector}, ${of.gasLimit} as "gasLimit", ${of.gasUsed} as "gasUsed",
    ${of.effectiveGasPrice} as "gasPrice"`;
}

export function headOf(chainId: number): SQL {
  const { block } = indexOf(chainId);
  return sql`select ${block.number}::float8, ${block.hash}, ${block.timestamp}::float8 from ${block} order by ${block.number} desc limit 1`;
}

export function lastNonce(of: WalletOf): SQL {
  const { from, sent } = newestSent(of);
  return sql`select ${sent.nonce} from ${from} ${newestFirst(sent)} limit 1`;
}

/** The newest failures, up to a total size of calldata. A rollup's fee is known after enrichment. */
export function failedTransactions(of: WalletOf, since: number): SQL {
  const { from, sent } = newestSent(of);
  return sql`
    select newest.*, case when enriched.l1_fee_wei is null and enriched.effect is not null then 0
                          else enriched.l1_fee_wei end as "l1Fee"
    from (
      select ${columnsWith(sent, sql`${sent.input}`)}, count(*) over ()::int as found,
        sum(octet_length(${sent.input})) over (${newestFirst(sent)}) as bytes,
        row_number() over (${newestFirst(sent)}) as place
      from ${from} where not ${sent.ok} and ${sent.timestamp} >= ${since}
      ${newestFirst(sent)} limit ${MAX_FAILURES}
    ) as newest
    left join ahs.own_call as enriched on enriched.chain_id = ${of.chainId} and enriched.wallet = ${of.wallet}
      and enriched.block = newest.block and enriched.transaction_index = newest."transactionIndex"
      and enriched.position = 0
    where newest.bytes <= ${MAX_FAILURES_READ} or newest.place = 1
    order by newest.block desc, newest."transactionIndex" desc`;
}

export function failedExecutions(of: WalletOf, since: number): SQL {
  return sql`
    select hash, block::float8, timestamp::float8, "to", selector, position::int from ${newestCalls(of)} executed
    where position > 0 and not ok and timestamp >= ${since}
    order by block desc, transaction_index desc, position desc limit ${MAX_FAILURES}`;
}

/** The newest block up to which there is too much calldata to compare. */
export function lastUncompared(of: WalletOf, since: number): SQL {
  const { from, sent } = newestSent(of);
  return sql`
    select block::float8 as after from (
      select ${sent.block}, sum(octet_length(${sent.input})) over (${newestFirst(sent)}) as bytes
      from ${from} where ${sent.timestamp} >= ${since}
    ) as summed where bytes > ${MAX_COMPARED} order by block desc limit 1`;
}

/** The newest successes per calldata that failed or has a known method, and per failed method and account. */
export function successesAfter(
  of: WalletOf,
  bounds: { readonly since: number; readonly after: number; readonly knownSelectors: readonly Hex[] },
): SQL {
  const { from, sent } = newestSent(of);
  const listed = alias(indexOf(of.chainId).transaction, "listed");
  const known = sql`any(${sql.param(bounds.knownSelectors)}::text[])`;
  const called = sql`coalesce(${sent.to}, '') as target, coalesce(${sent.selector}, '') as method, md5(${sent.input}) as digest`;
  const input = sql`case when "isRead" then left(${listed.input}, ${READ_CHARACTERS}) else '0x' end as input`;
  return sql`
    with failed as materialized (
      select ${called}, min(${sent.block}) as block
      from ${from} where not ${sent.ok} and ${sent.timestamp} >= ${bounds.since} and ${sent.block} > ${bounds.after} group by 1, 2, 3
      union all
      select coalesce("to", ''), coalesce(selector, ''), '', min(block) from ${newestCalls(of)} reported
      where position = 0 and not ok and source <> 'enrich' and timestamp >= ${bounds.since}
      group by 1, 2
    ), sent as (
      select sent.*, ${called} from ${from}
      where ${sent.ok} and ${sent.block} > ${bounds.after} and ${sent.block} >= (select min(block) from failed)
    ), alike as (
      select sent.*, case when ${sent.selector} = ${known} or (target, digest) in (select target, digest from failed)
                          then digest else method end as meaning
      from sent
      where ${sent.selector} = ${known} or (target, method) in (select target, method from failed)
    ), newest as (
      select distinct on (target, meaning) * from alike
      order by target, meaning, block desc, transaction_index desc
    ), summed as (
      select *, sum(least(octet_length(input), ${READ_CHARACTERS}))
        over (order by block desc, transaction_index desc) <= ${MAX_SUCCESSES_READ} as "isRead"
      from newest
    )
    select ${columnsWith(listed, input)}, "isRead"
    from (select * from summed order by block desc, transaction_index desc limit ${MAX_SUCCESSES + 1}) as listed
    ${newestFirst(listed)}`;
}

/** The newest success per account and method in others' transactions. */
export function executedBlocks(of: WalletOf, since: number): SQL {
  return sql`
    select "to", selector, max(block)::float8 as block from ${newestCalls(of)} executed
    where position > 0 and ok and timestamp >= ${since} group by "to", selector`;
}

/** The newest recent success that called the wallet itself. */
export function lastSelfCall({ chainId, wallet }: WalletOf, since: number): SQL {
  const { transaction: t } = indexOf(chainId);
  return sql`
    select ${t.hash}, ${t.block}::float8, ${t.transactionIndex} as "transactionIndex" from ${t}
    where ${t.to} = ${wallet} and ${t.ok} and ${t.input} <> '0x' and ${t.timestamp} >= ${since}
    ${newestFirst(t)} limit 1`;
}

/** The newest block with known executions by the wallet's own code. */
export function enrichedBlock({ chainId, wallet }: WalletOf): SQL {
  return sql`
    select least(cursor.block, read.past_next - 1)::float8 as block
    from ahs.enrich_cursor as cursor join ahs.enrich_wallet as read using (chain_id)
    where cursor.chain_id = ${chainId} and read.wallet = ${wallet}`;
}

/** Transactions that a history source reported and the index does not have. */
function reportedOnly(of: WalletOf, since: number): SQL {
  const { transaction } = indexOf(of.chainId);
  const sent = alias(transaction, "sent");
  return sql`${newestCalls(of)} reported
    where reported.position = 0 and reported.source <> 'enrich' and reported.timestamp >= ${since}
      and not exists (select from ${transaction} ${sent} where ${sent.hash} = reported.hash and ${sent.own})`;
}

export function reportedFailures(of: WalletOf, since: number): SQL {
  return sql`
    select hash, block::float8, transaction_index as "transactionIndex", timestamp::float8, "to", value, selector,
      gas_limit as "gasLimit", gas_used as "gasUsed", gas_price_wei as "gasPrice",
      coalesce(l1_fee_wei, 0) as "l1Fee", count(*) over ()::int as found
    from ${reportedOnly(of, since)} and not ok
    order by block desc, transaction_index desc limit ${MAX_FAILURES}`;
}

export function reportedSuccesses(of: WalletOf, since: number): SQL {
  return sql`
    select * from (
      select distinct on ("to", selector, recipient)
        hash, block::float8, transaction_index as "transactionIndex", "to", selector, recipient
      from ${reportedOnly(of, since)} and ok
      order by "to", selector, recipient, reported.block desc, transaction_index desc
    ) newest order by block desc, "transactionIndex" desc limit ${MAX_SUCCESSES + 1}`;
}

/** Whether the index continues where the source ends. */
export function meetsIndex({ chainId, wallet }: WalletOf): SQL {
  const { wallet: followed } = indexOf(chainId);
  const f = alias(followed, "f");
  return sql`
    select stored.to_block >= ${f.followedBlock} - 1 as meets
    from ahs.stored_history stored join ${followed} ${f} on ${f.address} = stored.wallet
    where stored.chain_id = ${chainId} and stored.wallet = ${wallet}`;
}
