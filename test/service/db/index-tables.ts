import type { Database } from "../../../service/db/database.ts";
import { createIndexTables as createScoringTables } from "../model/features/index-tables.ts";

/** The tables of one chain's index that the store reads, with the columns and types that Ponder gives them. */
export async function createIndexTables(db: Database, chainId: number): Promise<void> {
  await createScoringTables(db.$client, `"chain_${chainId}"`);
  await db.$client.query(`
    create table "chain_${chainId}".oracle_score (
      wallet text primary key, present boolean not null, ahs_score integer not null, d1_score integer not null,
      d2_score integer not null, confidence_bps integer not null, sanctioned boolean not null,
      insufficient boolean not null, model_version integer not null, safe_micro_usd numeric(78) not null, as_of numeric(78) not null,
      as_of_time numeric(78) not null, transaction_hash text not null, published_block numeric(78) not null,
      published_at numeric(78) not null
    )`);
}
