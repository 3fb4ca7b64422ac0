import { Client } from "pg";
import type { Address } from "viem";
import { afterAll, beforeAll, beforeEach } from "vitest";
import type { Database } from "../../../../service/db/database.ts";
import type { AsOf, OwnCall, WalletRows } from "../../../../service/model/features/types.ts";
import { AHS_2026_2 } from "../../../../service/model/score/policy.ts";
import { readSanctionsEntries, type SanctionsEntry } from "../../../../service/sanctions/sanctions.ts";
import { createContactCaches } from "../../../../service/scores/read/contact-graph.ts";
import { readWalletRows } from "../../../../service/scores/read/read-rows.ts";
import { createTestDatabase, openMigrated, type TestDatabase } from "../../../support/test-database.ts";
import { account, callsOf, DAY, START, TOKENS } from "../../model/features/histories.ts";
import {
  blockHash,
  createIndexTables,
  createTransactionIndexes,
  insertOwnCall,
} from "../../model/features/index-tables.ts";

export const SCHEMA = "chain_31337";
export const CHAIN = { schema: SCHEMA, chainId: 31_337 };
export const AGENT = account(0xa1);
export const OTHER = account(0xa2);
export const MIXER = account(0x31);
export const FAUCET = account(0xfa);

/** A migrated database for one test file, with a fresh index of 400 days, a block a day, before each test; nothing is final in it. */
export function useRowsWorld() {
  let database: TestDatabase;
  let db: Database;
  let client: Client;
  beforeAll(async () => {
    database = await createTestDatabase();
    db = openMigrated(database.url);
    client = new Client({ connectionString: database.url });
    await client.connect();
  });
  afterAll(async () => {
    await client.end();
    await db.$client.end();
    await database.drop();
  });
  beforeEach(() => renew(client));
  return {
    get client() {
      return client;
    },
    get db() {
      return db;
    },
    insertCalls: async (calls: readonly OwnCall[]): Promise<void> => {
      for (const call of calls) await insertOwnCall(client, { call, wallet: AGENT });
    },
    /** The rows of the agent as of block 300. */
    readOne: async (): Promise<WalletRows> => {
      const sanctions = await readSanctionsEntries(client, { ...CHAIN, asOfBlock: 300 });
      const [read, ...more] = await readWalletRows(client, request([AGENT], sanctions));
      if (read === undefined || more.length > 0) throw new Error("expected the rows of one wallet");
      return read.rows;
    },
  };
}

async function renew(client: Client): Promise<void> {
  await client.query(`drop schema if exists ${SCHEMA} cascade`);
  await client.query(`truncate ahs.enrich_cursor, ahs.enrich_wallet, ahs.own_call, ahs.contact, ahs.account_fact,
    ahs.sampled_contact, ahs.enrich_approval, ahs.wallet_delegation, ahs.stored_history, ahs.agent_document, ahs.probe`);
  await createIndexTables(client, SCHEMA);
  await createTransactionIndexes(client, SCHEMA);
  await client.query(
    `insert into ${SCHEMA}.block select n, '0x' || lpad(to_hex(n), 64, '0'), ${START} + n * ${DAY}, 1 from generate_series(0, 400) n`,
  );
}

/** A block of the index. */
export function blockAt(number: number): { number: number; timestamp: number } {
  return { number, timestamp: START + number * DAY };
}

/** It as the block of a record. */
export function asOf(number: number): AsOf {
  return { blockNumber: number, blockHash: blockHash(number), timestamp: blockAt(number).timestamp };
}

/** A call mined in a block. */
export function callAt(block: number, parts: Partial<OwnCall> = {}): OwnCall {
  const [call] = callsOf([{ at: blockAt(block).timestamp }]);
  if (call === undefined) throw new Error("one step makes one call");
  return { ...call, hash: blockHash(1_000 + block), blockNumber: block, transactionIndex: 3, ...parts };
}

/** Request for rows of wallets as of block 300. */
export function request(wallets: readonly Address[], sanctions: readonly SanctionsEntry[] = []) {
  return {
    ...CHAIN,
    chain: {
      accounts: { entryPoints: [], publicFunders: [FAUCET], mixers: [MIXER], venues: [], vettedServices: [] },
    },
    point: { asOf: asOf(300), enriched: asOf(300) },
    wallets,
    policy: AHS_2026_2,
    shared: { sanctions, tokens: TOKENS },
    contacts: createContactCaches()("0x01"),
  };
}
