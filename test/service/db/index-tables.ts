import type { Database } from "../../../service/db/database.ts";

/** The tables of one chain's index that the store reads, with the columns and types that Ponder gives them. */
export async function createIndexTables(db: Database, chainId: number): Promise<void> {
  await db.$client.query(`
    create schema "chain_${chainId}";
    set local search_path to "chain_${chainId}";
    create table block (
      number numeric(78) primary key, hash text not null, "timestamp" numeric(78) not null, base_fee_per_gas numeric(78)
    );
    create table wallet (
      address text primary key, source text not null, followed_block numeric(78) not null, own_calls integer not null,
      own_failures integer not null, first_call_block numeric(78), last_call_block numeric(78),
      last_call_at numeric(78), touched_block numeric(78) not null,
      received_window numeric(78), received integer not null default 0, busy_until numeric(78)
    );
    create table sanctions_change (
      id text primary key, address text not null, listed boolean not null, block numeric(78) not null,
      log_index integer not null, "timestamp" numeric(78) not null, transaction_hash text not null
    );
    create table oracle_score (
      wallet text primary key, present boolean not null, ahs_score integer not null, d1_score integer not null,
      d2_score integer not null, confidence_bps integer not null, sanctioned boolean not null,
      insufficient boolean not null, model_version integer not null, as_of numeric(78) not null,
      as_of_time numeric(78) not null, transaction_hash text not null, published_block numeric(78) not null,
      published_at numeric(78) not null
    );
    set search_path to default;`);
}
