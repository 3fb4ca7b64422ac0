import type { Client } from "pg";
import type { Address, Hex } from "viem";
import type { OwnCall } from "../../../service/features/types.ts";

/** The tables of the index that scoring reads, shaped and named as Ponder makes them. */
export async function createIndexTables(client: Client, schema: string): Promise<void> {
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
      last_call_at numeric(78), touched_block numeric(78) not null);
    create table ${schema}.transaction (
      hash text primary key, block numeric(78) not null, transaction_index integer not null,
      timestamp numeric(78) not null, "from" text not null, "to" text, nonce integer not null,
      value numeric(78) not null, input text not null, selector text, gas_limit numeric(78) not null,
      gas_used numeric(78) not null, effective_gas_price numeric(78) not null, base_fee_per_gas numeric(78),
      ok boolean not null, contract_address text, own boolean not null);
    create table ${schema}.sanctions_change (
      id text primary key, address text not null, listed boolean not null, block numeric(78) not null,
      log_index integer not null, timestamp numeric(78) not null, transaction_hash text not null);
    create index on ${schema}.sanctions_change (address, block, log_index);`);
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
  client: Client,
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

/** Starts following a wallet. */
export async function follow(
  client: Client,
  schema: string,
  { wallet, block }: { readonly wallet: Address; readonly block: number },
): Promise<void> {
  await client.query(
    `insert into ${schema}.wallet values ($1, 'registered', $2, 0, 0, null, null, null, $2)`,
    [wallet, block],
  );
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
