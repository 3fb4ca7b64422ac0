import { Client } from "pg";
import { getAddress } from "viem";
import type { Deployment } from "../service/chain/deployments.ts";
import { type Database, openDatabase } from "../service/db/database.ts";
import {
  createIndexTables,
  createTransactionIndexes,
  finalize,
} from "../test/service/model/features/index-tables.ts";
import { FEED, type ScaleChain, USDC, WETH } from "./scale-chain.ts";

export const CHAIN_ID = 31_337;
const SCHEMA = `chain_${CHAIN_ID}`;
const NO_CONTRACT = { address: getAddress(`0x${"0".repeat(38)}a1`), startBlock: 0 };
/** Rows of one statement. */
const AT_ONCE = 10_000;

/** Fills a migrated database with an index that began in a block and follows wallets from there on, of which nothing older is known. */
export async function seedIndex(
  databaseUrl: string,
  of: {
    readonly chain: ScaleChain;
    readonly wallets: number;
    readonly block: number;
    readonly warms: boolean;
  },
): Promise<void> {
  const { chain, wallets, block, warms } = of;
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await createIndexTables(client, SCHEMA);
    await createTransactionIndexes(client, SCHEMA);
    await client.query("insert into ahs.chain_mark values ($1, $2, '0x', 'first', now())", [CHAIN_ID, block]);
    for (let from = 0; from < wallets; from += AT_ONCE) {
      const some = [chain.wallets.slice(from, Math.min(wallets, from + AT_ONCE)), block];
      await client.query(
        `insert into ${SCHEMA}.wallet
         select unnest($1::text[]), 'registered', $2::numeric, 0, 0, null, null, null, $2::numeric, null, 0, null`,
        some,
      );
      await client.query(
        `insert into ahs.enrich_wallet (chain_id, wallet, from_block, warm_open)
         select ${CHAIN_ID}, unnest($1::text[]), $2::bigint, ${warms}`,
        some,
      );
    }
    await indexBlocks(client, chain, { from: block, to: block });
    await client.query("insert into ahs.enrich_cursor values ($1, $2, $3)", [
      CHAIN_ID,
      block,
      chain.hashOf(block),
    ]);
    await client.query("vacuum (analyze)");
  } finally {
    await client.end();
  }
}

/** Indexes blocks as Ponder does, with the calls of followed wallets, and makes them final. */
export async function indexBlocks(
  client: Client,
  chain: ScaleChain,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  const { rows } = await client.query<{ address: string }>(
    `select address from ${SCHEMA}.wallet where address = any($1::text[])`,
    [await sendersOf(chain, { from, to })],
  );
  const followed = new Set(rows.map(({ address }) => address));
  for (let number = from; number <= to; number += 1) {
    const served = await chain.read(number);
    if (served === null) throw new Error(`expected block ${number}, got none`);
    const { block, receipts } = served;
    await client.query(`insert into ${SCHEMA}.block values ($1, $2, $3, $4)`, [
      ...[number, block.hash, chain.timeOf(number), Number(block.baseFeePerGas)],
    ]);
    for (const [place, sent] of block.transactions.entries()) {
      const [own, toFollowed] = [followed.has(String(sent.from)), followed.has(String(sent.to))];
      if (!own && !toFollowed) continue;
      const receipt = receipts[place];
      const input = String(sent.input);
      await client.query(
        `insert into ${SCHEMA}.transaction
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, null, $16)`,
        [
          ...[sent.hash, number, Number(sent.transactionIndex), chain.timeOf(number), sent.from, sent.to],
          ...[
            Number(sent.nonce),
            BigInt(String(sent.value)),
            input,
            input.length < 10 ? null : input.slice(0, 10),
          ],
          ...[Number(sent.gas), Number(receipt?.gasUsed), Number(receipt?.effectiveGasPrice)],
          ...[Number(block.baseFeePerGas), receipt?.status === "0x1", own],
        ],
      );
    }
  }
  await client.query(
    `update ${SCHEMA}.wallet w set last_call_block = called.block
     from (select "from", max(block) as block from ${SCHEMA}.transaction where own group by "from") called where w.address = called."from"`,
  );
  await finalize(client, SCHEMA, { number: to, timestamp: chain.timeOf(to) });
}

/** Senders and recipients of the blocks' transactions. */
async function sendersOf(chain: ScaleChain, { from, to }: { readonly from: number; readonly to: number }) {
  const parties = new Set<string>();
  for (let number = from; number <= to; number += 1)
    for (const { from: sender, to: recipient } of (await chain.read(number))?.block.transactions ?? []) {
      parties.add(String(sender));
      parties.add(String(recipient));
    }
  return [...parties];
}

/** The chain's deployment, whose oracle and registry are never called. */
export function deploymentOf(): Deployment {
  const feed = getAddress(FEED);
  const token = (address: typeof USDC, symbol: string, decimals: number) => ({
    address: getAddress(address),
    symbol,
    decimals,
    feed,
  });
  return {
    chainId: CHAIN_ID,
    name: "bench",
    startBlock: 0,
    finalityBlocks: 1,
    identityRegistry: NO_CONTRACT,
    sanctionsList: NO_CONTRACT,
    oracle: NO_CONTRACT,
    verdictEvaluator: null,
    assuranceAccounts: null,
    escrows: [],
    registries: [],
    reputationRegistry: null,
    validationRegistry: null,
    usdc: getAddress(USDC),
    staticWallets: [],
    market: {
      native: { symbol: "ETH", decimals: 18, feed },
      wrappedNative: getAddress(WETH),
      tokens: [token(USDC, "USDC", 6)],
    },
    accounts: { entryPoints: [], publicFunders: [], mixers: [], venues: [], vettedServices: [] },
  };
}

/** Opens a database of the bench. */
export function openBenchDatabase(url: string): Database {
  return openDatabase({
    url,
    applicationName: "ahs-bench-scale",
    maxConnections: 5,
    statementTimeoutMs: 600_000,
    connectTimeoutMs: 10_000,
    onIdleError: () => undefined,
  });
}
