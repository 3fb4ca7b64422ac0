import { sql } from "drizzle-orm";
import { type Address, zeroAddress } from "viem";
import { prepared } from "../../db/statement.ts";

// No bench row measures these; they share parts that the builder cannot name, and sum numbers of the chain.

type Bounds = {
  readonly chainId: number;
  readonly wallet: Address;
  readonly throughBlock: number;
  readonly since: number;
  readonly limit: number;
};

const chainId = sql.placeholder("chainId");
const wallet = sql.placeholder("wallet");
const throughBlock = sql.placeholder("throughBlock");
const since = sql.placeholder("since");

/**
 * Whether a transfer t happened in an own call of the wallet on its chain, a transaction or an execution, or is the payment that it
 * signed: the log after the one of the authorization, which the call's position is.
 */
export const IS_OWN = sql`(t.sender is not distinct from ${wallet} or exists (
  select from ahs.own_call c
  where c.chain_id = ${chainId} and c.wallet = ${wallet} and c.block = t.block and c.hash = t.transaction_hash
    and (c.origin <> 'authorization' or c.position = t.log_index)))`;

const MOVEMENT = sql`t.token, t.amount, t.block::float8 as block, t.timestamp::float8 as timestamp,
  t.transaction_hash as hash, t.log_index as "logIndex"`;

const NEWEST_FIRST = sql`order by t.block desc, t.log_index desc, t.item desc limit ${sql.placeholder("limit")}`;

export const transfersSent = prepared<Bounds>(
  "transfers_sent",
  sql`
  select ${MOVEMENT}, t."to" as peer from ahs.enrich_transfer t
  where t.chain_id = ${chainId} and t."from" = ${wallet} and t."to" <> ${wallet} and t."to" <> ${zeroAddress} and t.block <= ${throughBlock}
    and t.timestamp >= ${since} and t.standard in ('native', 'erc20') and t.amount > 0 and ${IS_OWN}
  ${NEWEST_FIRST}`,
);

export const transfersReturned = prepared<Bounds & { readonly peers: readonly Address[] }>(
  "transfers_returned",
  sql`
  select ${MOVEMENT}, t."from" as peer from ahs.enrich_transfer t
  where t.chain_id = ${chainId} and t."to" = ${wallet} and t."from" = any(${sql.placeholder("peers")}::text[]) and t.block <= ${throughBlock}
    and t.timestamp >= ${since} and t.standard in ('native', 'erc20') and t.amount > 0
  ${NEWEST_FIRST}`,
);

export const transfersReceived = prepared<Bounds>(
  "transfers_received",
  sql`
  select token, standard, count(*) filter (where not own)::int as transfers,
    count(distinct "from") filter (where not own)::int as senders,
    sum(amount) filter (where not own) as amount,
    max(timestamp) filter (where not own)::float8 as "lastAt", count(*)::int as read
  from (
    select t.token, t.standard, t."from", t.amount, t.timestamp, ${IS_OWN} as own from ahs.enrich_transfer t
    where t.chain_id = ${chainId} and t."to" = ${wallet} and t."from" <> ${wallet} and t.block <= ${throughBlock} and t.timestamp >= ${since}
    ${NEWEST_FIRST}
  ) newest
  group by token, standard
  order by transfers desc, token collate "C", standard`,
);

export const transfersDrawn = prepared<Bounds>(
  "transfers_drawn",
  sql`
  select token, bool_or(not own) as drawn, count(*)::int as read from (
    select t.token, ${IS_OWN} as own from ahs.enrich_transfer t
    where t.chain_id = ${chainId} and t."from" = ${wallet} and t.block <= ${throughBlock} and t.timestamp >= ${since}
    ${NEWEST_FIRST}
  ) newest
  group by token`,
);
