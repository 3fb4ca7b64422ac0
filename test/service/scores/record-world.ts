import { Client } from "pg";
import pino from "pino";
import type { Address } from "viem";
import { AHS_2026_2 } from "../../../service/model/score/policy.ts";
import { defaultPublishPolicy } from "../../../service/oracle/publish-policy.ts";
import type { ScoringRunContext } from "../../../service/scores/run-scoring.ts";
import { createTestDatabase, openMigrated } from "../../support/test-database.ts";
import { callsOf } from "../model/features/histories.ts";
import {
  blockHash,
  createIndexTables,
  enrichTo,
  finalize,
  followEnriched,
  insertOwnCall,
} from "../model/features/index-tables.ts";

export const CHAIN_ID = 31_337;
const SCHEMA = "chain_31337";
const GENESIS = 1_790_000_000;
/** Blocks 0 to NEWEST are indexed, those up to FINALIZED are final. */
export const FINALIZED = 20;
export const NEWEST = 50;

export type RecordWorld = Awaited<ReturnType<typeof createRecordWorld>>;

/** A migrated database with an index of empty blocks, which tests change as a chain would. */
export async function createRecordWorld() {
  const database = await createTestDatabase();
  const db = openMigrated(database.url);
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await createIndexTables(client, SCHEMA);
  await client.query(`create table ${SCHEMA}.oracle_score (
    wallet text primary key, present boolean not null, ahs_score integer not null, sanctioned boolean not null,
    insufficient boolean not null, safe_micro_usd numeric(78) not null, as_of numeric(78) not null,
    as_of_time numeric(78) not null)`);
  const mine = async (number: number): Promise<void> => {
    await client.query(`insert into ${SCHEMA}.block values ($1, $2, $3, 1)`, [
      number,
      blockHash(number),
      GENESIS + number,
    ]);
  };
  for (let number = 0; number <= NEWEST; number += 1) await mine(number);
  await finalize(client, SCHEMA, { number: FINALIZED, timestamp: GENESIS + FINALIZED });
  await enrichTo(client, SCHEMA, FINALIZED);
  const context: ScoringRunContext = {
    db,
    chainId: CHAIN_ID,
    chain: {
      market: { native: { symbol: "ETH", decimals: 18, feed: null }, wrappedNative: null, tokens: [] },
      accounts: { entryPoints: [], publicFunders: [], mixers: [], venues: [], vettedServices: [] },
    },
    policy: AHS_2026_2,
    publishPolicy: defaultPublishPolicy,
    now: () => new Date((GENESIS + NEWEST) * 1000),
    rescoreIntervalSeconds: 600,
    logger: pino({ level: "silent" }),
  };
  return {
    context,
    db,
    url: database.url,
    mine,
    follow: (wallet: Address, block: number) => followEnriched(client, SCHEMA, { wallet, block }),
    sanction: async (wallet: Address, block: number, listed = true): Promise<void> => {
      await client.query(`insert into ${SCHEMA}.sanctions_change values ($1, $2, $3, $4, 0, $5, '0x01')`, [
        `${block}:0:0`,
        wallet,
        listed,
        block,
        GENESIS + block,
      ]);
    },
    /** Replaces the blocks from this one on; what happened in them is gone. */
    reorg: async (from: number): Promise<void> => {
      await client.query(`update ${SCHEMA}.block set hash = '0xf' || substr(hash, 4) where number >= $1`, [
        from,
      ]);
      await client.query(`delete from ${SCHEMA}.sanctions_change where block >= $1`, [from]);
      await client.query(`delete from ${SCHEMA}.wallet where followed_block >= $1`, [from]);
    },
    /** Publishes a wallet as sanctioned, by the oracle's events. */
    publishSanctioned: async (wallet: Address, asOf: number): Promise<void> => {
      await client.query(`insert into ${SCHEMA}.oracle_score values ($1, true, 0, true, false, 0, $2, $3)`, [
        wallet,
        asOf,
        GENESIS + asOf,
      ]);
    },
    /** An own call in a block, as enrichment stores it. */
    call: async (wallet: Address, block: number, to: Address): Promise<void> => {
      const [made] = callsOf([{ at: GENESIS + block, to }]);
      if (made === undefined) throw new Error("one step makes one call");
      await insertOwnCall(client, { wallet, call: { ...made, blockNumber: block, hash: blockHash(block) } });
      await client.query(
        `insert into ahs.contact values ($1, $2, $3, 1, 0, $4, $5, $4, $5) on conflict do nothing`,
        [CHAIN_ID, to, wallet, block, GENESIS + block],
      );
    },
    /** Stores facts of a node about an account, read at a block. */
    learn: async (account: Address, block = 1): Promise<void> => {
      await client.query(
        "insert into ahs.account_fact values ($1, $2, true, null, null, 1, 1, 'index', $3)",
        [CHAIN_ID, account, block],
      );
    },
    /** Makes a block final and enriches up to it. */
    settle: async (block: number): Promise<void> => {
      await finalize(client, SCHEMA, { number: block, timestamp: GENESIS + block });
      await enrichTo(client, SCHEMA, block);
    },
    query: (text: string) => client.query(text),
    dropIndex: () => client.query(`drop schema ${SCHEMA} cascade`),
    currentScores: async () => {
      const { rows } = await client.query(
        "select wallet, as_of_block::int, sanctioned, grade from ahs.current_score order by wallet",
      );
      return rows;
    },
    countScores: async (): Promise<number> => {
      const { rows } = await client.query("select count(*)::int as count from ahs.score");
      return rows[0].count;
    },
    pendingIntents: async () => {
      const { rows } = await client.query(
        "select wallet, reason from ahs.publish_intent where state = 'pending' order by wallet",
      );
      return rows;
    },
    close: async (): Promise<void> => {
      await client.end();
      await db.$client.end();
      await database.drop();
    },
  };
}
