import { Client } from "pg";
import pino from "pino";
import type { Address } from "viem";
import { zeroAddress } from "viem";
import type { ChainFacts } from "../../../../service/chain/deployments.ts";
import type { BackingContext } from "../../../../service/scores/backing/read-inputs.ts";
import { createTestDatabase, openMigrated } from "../../../support/test-database.ts";
import { account, callsOf, DAY, START, USDC } from "../../model/features/histories.ts";
import {
  blockHash,
  createIndexTables,
  enrichTo,
  finalize,
  followEnriched,
  insertOwnCall,
} from "../../model/features/index-tables.ts";

const SCHEMA = "chain_31337";
const [NATIVE_FEED, USDC_FEED] = [account(0xfe), account(0xff)];
/** Block of the index that is final and enriched; there is one a day. */
export const HEAD = 300;
export const [FAUCET, MIXER, VENUE, VETTED] = [account(0xfa), account(0x31), account(0xde), account(0x5e)];
const ESCROW = account(0xe5);
export const REPUTATION = account(0x4e);

const ACCOUNTS: ChainFacts["accounts"] = {
  entryPoints: [],
  publicFunders: [FAUCET],
  mixers: [MIXER],
  venues: [{ address: VENUE, feeBps: 5 }],
  vettedServices: [VETTED],
};

type Transfer = {
  readonly from: Address;
  readonly to: Address;
  readonly usd: number;
  /** A day before the head by default. */
  readonly block?: number;
  readonly token?: Address;
  /** Followed wallet in whose own call it happened. */
  readonly sender?: Address;
};

/** A migrated database with an index of 400 days, in which a coin costs 2,000 and a token 1 US dollar. */
export async function createBackingWorld() {
  const database = await createTestDatabase();
  const db = openMigrated(database.url);
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await createIndexTables(client, SCHEMA);
  await client.query(
    `insert into ${SCHEMA}.block select n, '0x' || lpad(to_hex(n), 64, '0'), ${START} + n * ${DAY}, 1 from generate_series(0, 400) n`,
  );
  await client.query(
    `insert into ahs.feed_price (chain_id, feed, day, block, answer, decimals) values
     (31337, $1, 0, 0, 200000000000, 8), (31337, $2, 0, 0, 100000000, 8)`,
    [NATIVE_FEED, USDC_FEED],
  );
  const settle = async (block: number): Promise<void> => {
    await finalize(client, SCHEMA, { number: block, timestamp: timeOf(block) });
    await enrichTo(client, SCHEMA, block);
  };
  await settle(HEAD);
  let rows = 0;
  const context: BackingContext = {
    db,
    chainId: 31_337,
    chain: {
      market: {
        native: { symbol: "ETH", decimals: 18, feed: NATIVE_FEED },
        wrappedNative: null,
        tokens: [{ address: USDC, symbol: "USDC", decimals: 6, feed: USDC_FEED }],
      },
      accounts: ACCOUNTS,
      reputationRegistry: REPUTATION,
    },

    logger: pino({ level: "silent" }),
    now: () => new Date(timeOf(HEAD) * 1000),
  };
  return {
    ...{ context, db, settle },
    query: (text: string, values: unknown[] = []) => client.query(text, values),
    follow: async (...wallets: readonly Address[]): Promise<void> => {
      for (const wallet of wallets) await followEnriched(client, SCHEMA, { wallet, block: 1 });
    },
    /** An own transaction that cost so many US dollars. */
    spend: async (wallet: Address, usd: number, parts: Partial<Parameters<typeof callsOf>[0][0]> = {}) => {
      rows += 1;
      const at = parts.at ?? timeOf(HEAD - 10);
      const [call] = callsOf([
        { ...parts, at, gasUsed: 1n, fee: BigInt(Math.round(usd * 1e6)) * 500_000_000n },
      ]);
      if (call === undefined) throw new Error("one step makes one call");
      const blockNumber = Math.floor((at - START) / DAY);
      const placed = { ...call, blockNumber, transactionIndex: rows, hash: blockHash(10_000 + rows) };
      await insertOwnCall(client, { wallet, call: placed });
    },
    transfer: async ({ from, to, usd, block = HEAD - 1, token = USDC, sender }: Transfer) => {
      rows += 1;
      const isNative = token === zeroAddress;
      await client.query(
        `insert into ahs.enrich_transfer (chain_id, block, log_index, item, transaction_hash, timestamp, token, standard,
           "from", "to", amount, sender) values (31337, $1, $2, 0, $3, $4, $5, $6, $7, $8, $9, $10)`,
        [
          ...[block, rows, blockHash(10_000 + rows), timeOf(block), token, isNative ? "native" : "erc20"],
          ...[from, to, BigInt(Math.round(usd * 1e6)) * (isNative ? 500_000_000n : 1n), sender ?? null],
        ],
      );
    },
    /** Stores facts of a node about an account. */
    learn: async (address: Address, hasCode: boolean, firstFunder: Address | null = null) => {
      await client.query("insert into ahs.account_fact values (31337, $1, $2, null, $3, 1, 1, 'index', 1)", [
        address,
        hasCode,
        firstFunder,
      ]);
    },
    /** Stores what a wallet has available of its bond after a block. */
    bond: async (wallet: Address, usd: number, block = HEAD) => {
      const values = [`${wallet}:${block}`, wallet, block, Math.round(usd * 1e6)];
      await client.query(`insert into ${SCHEMA}.bond_change values ($1, $2, $3, $4)`, values);
    },
    endJob: async (job: {
      readonly provider: Address;
      readonly client: Address;
      readonly funded?: number;
      readonly status: string;
      readonly endedBy?: Address;
      readonly decision?: number;
    }) => {
      rows += 1;
      await client.query(
        `insert into ${SCHEMA}.job (id, escrow, job_id, status, client, funded, provider, ended_by, ended_block, ended_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
        [
          ...[`${ESCROW}:${rows}`, ESCROW, rows, job.status, job.client, job.funded ?? 1, job.provider],
          ...[job.endedBy ?? null, HEAD - 2, timeOf(HEAD - 2)],
        ],
      );
      if (job.decision === undefined) return;
      await client.query(
        `insert into ${SCHEMA}.verdict_event values ($1, $2, $3, 'settled', $4, 90, '0x01', null, $5, $6, '0x02')`,
        [`v${rows}`, ESCROW, rows, job.decision, HEAD - 2, timeOf(HEAD - 2)],
      );
    },
    close: async (): Promise<void> => {
      await client.end();
      await db.$client.end();
      await database.drop();
    },
  };
}

export function timeOf(block: number): number {
  return START + block * DAY;
}
