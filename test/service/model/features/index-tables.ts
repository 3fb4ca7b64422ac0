import type { Client } from "pg";
import type { Address, Hex } from "viem";
import type { OwnCall } from "../../../../service/model/features/types.ts";
import { callsOf } from "./histories.ts";

/** The tables of the index that scoring reads, shaped and named as Ponder makes them. */
export async function createIndexTables(client: Pick<Client, "query">, schema: string): Promise<void> {
  await client.query(`
    create schema ${schema};
    create table ${schema}._ponder_checkpoint (
      chain_name text primary key, chain_id bigint not null, safe_checkpoint varchar(75) not null,
      latest_checkpoint varchar(75) not null, finalized_checkpoint varchar(75) not null);
    create table ${schema}.block (
      number numeric(78) primary key, hash text not null, timestamp numeric(78) not null, base_fee_per_gas numeric(78));
    create table ${schema}.wallet (
      address text primary key, source text not null, followed_block numeric(78) not null, own_calls integer not null,
      own_failures integer not null, first_call_block numeric(78), last_call_block numeric(78),
      last_call_at numeric(78), touched_block numeric(78) not null,
      received_window numeric(78), received integer not null default 0, busy_until numeric(78));
    create table ${schema}.transaction (
      hash text primary key, block numeric(78) not null, transaction_index integer not null,
      timestamp numeric(78) not null, "from" text not null, "to" text, nonce integer not null,
      value numeric(78) not null, input text not null, selector text, gas_limit numeric(78) not null,
      gas_used numeric(78) not null, effective_gas_price numeric(78) not null, base_fee_per_gas numeric(78),
      ok boolean not null, contract_address text, own boolean not null);
    create table ${schema}.agent_wallet (
      id text primary key, agent_id numeric(78) not null, wallet text not null, from_block numeric(78) not null,
      to_block numeric(78));
    create index on ${schema}.agent_wallet (wallet);
    create table ${schema}.sanctions_change (
      id text primary key, address text not null, listed boolean not null, block numeric(78) not null,
      log_index integer not null, timestamp numeric(78) not null, transaction_hash text not null);
    create index on ${schema}.sanctions_change (address, block, log_index);
    create table ${schema}.job (
      id text primary key, escrow text not null, job_id numeric(78) not null, status text not null, client text,
      funded numeric(78), provider text, deliverable text, submitted_block numeric(78), submitted_block_hash text,
      submitted_log_index integer, submitted_transaction text, submitted_at numeric(78), first_submitted_block numeric(78),
      ended_by text, end_reason text, ended_block numeric(78), ended_at numeric(78), ended_transaction text);
    create table ${schema}.verdict_event (
      id text primary key, escrow text not null, job_id numeric(78) not null, kind text not null, decision integer not null,
      score integer, evidence_hash text not null, review_by numeric(78), block numeric(78) not null,
      timestamp numeric(78) not null, transaction_hash text not null);
    create table ${schema}.bond_change (
      id text primary key, wallet text not null, block numeric(78) not null, available numeric(78) not null);`);
}

/** The indexes of the transaction table; a table filled before they are made is filled sooner. */
export async function createTransactionIndexes(client: Client, schema: string): Promise<void> {
  await client.query(`
    create index on ${schema}.transaction ("from", block, transaction_index);
    create index on ${schema}.transaction ("to", block);`);
}

/** The hash that tests give a block. */
export function blockHash(number: number): Hex {
  return `0x${number.toString(16).padStart(64, "0")}`;
}

/** The checkpoint of a finalized block, as Ponder encodes it. */
export async function finalize(
  client: Pick<Client, "query">,
  schema: string,
  block: { readonly number: number; readonly timestamp: number },
): Promise<void> {
  const digits = (value: number, length: number) => value.toString().padStart(length, "0");
  const checkpoint = `${digits(block.timestamp, 10)}${digits(31337, 16)}${digits(block.number, 16)}${"9".repeat(33)}`;
  await client.query(
    `insert into ${schema}._ponder_checkpoint values ('local', 31337, $1, $1, $1)
     on conflict (chain_name) do update set finalized_checkpoint = excluded.finalized_checkpoint`,
    [checkpoint],
  );
}

/** Enriches the chain up to a block that the index holds. */
export async function enrichTo(client: Pick<Client, "query">, schema: string, block: number): Promise<void> {
  await client.query(
    `insert into ahs.enrich_cursor select 31337, number, hash from ${schema}.block where number = $1
     on conflict (chain_id) do update set block = excluded.block, block_hash = excluded.block_hash`,
    [block],
  );
}

/** Starts following a wallet. */
export async function follow(
  client: Pick<Client, "query">,
  schema: string,
  { wallet, block }: { readonly wallet: Address; readonly block: number },
): Promise<void> {
  await client.query(
    `insert into ${schema}.wallet values ($1, 'registered', $2, 0, 0, null, null, null, $2)`,
    [wallet, block],
  );
}

/** Starts following a wallet whose blocks since then are all enriched. */
export async function followEnriched(
  client: Client,
  schema: string,
  followed: { readonly wallet: Address; readonly block: number },
): Promise<void> {
  await follow(client, schema, followed);
  await client.query("insert into ahs.enrich_wallet values (31337, $1, $2, null, null)", [
    followed.wallet,
    followed.block,
  ]);
}

/** An own call as enrichment, or a history source, stores it. */
export async function insertOwnCall(
  client: Pick<Client, "query">,
  { call, wallet, source = "enrich" }: { call: OwnCall; wallet: Address; source?: string },
): Promise<void> {
  const { receipt } = call;
  await client.query(
    `insert into ahs.own_call (chain_id, wallet, block, transaction_index, position, hash, origin, source, timestamp, "to",
       selector, value, ok, gas_limit, gas_used, gas_price_wei, fee_wei, l1_fee_wei, recipient, amount, market_price_wei,
       effect, logs, emitters, moves)
     values (31337, $1, $2, $3, $4, $5, 'transaction', $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,
       $20, $21, $22, $23)`,
    [
      ...[wallet, call.blockNumber, call.transactionIndex, call.position, call.hash, source, call.timestamp],
      ...[call.to, call.selector, call.value, call.ok, call.gasLimit, call.gasUsed, call.gasPrice],
      // The fee holds what posting it cost.
      ...[call.gasUsed * call.gasPrice, call.fee - call.gasUsed * call.gasPrice],
      ...[call.recipient, call.amount, receipt?.marketPrice, receipt?.effect],
      receipt === null ? null : receipt.emitters.length,
      receipt?.emitters,
      receipt?.moves.map(({ token, amount }) => `${token}:${amount}`),
    ],
  );
}

/** Makes one own call of the wallet known, in place of all others. */
export async function insertOnlyCall(client: Pick<Client, "query">, wallet: Address): Promise<void> {
  await client.query("delete from ahs.own_call where chain_id = 31337 and wallet = $1", [wallet]);
  for (const call of callsOf([{ at: 0 }])) await insertOwnCall(client, { wallet, call });
}

/** A mined transaction; it is an own call of its sender unless the sender is a stranger. */
export async function insertTransaction(
  client: Client,
  schema: string,
  sent: { readonly call: OwnCall; readonly from: Address; readonly nonce: number; readonly own?: boolean },
): Promise<void> {
  const { call } = sent;
  await client.query(
    `insert into ${schema}.transaction values
     ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 1000000000, $14, null, $15)`,
    [
      call.hash,
      call.blockNumber,
      call.transactionIndex,
      call.timestamp,
      sent.from,
      call.to,
      sent.nonce,
      call.value,
      call.selector ?? "0x",
      call.selector,
      call.gasLimit,
      call.gasUsed,
      call.fee / call.gasUsed,
      call.ok,
      sent.own ?? true,
    ],
  );
}
