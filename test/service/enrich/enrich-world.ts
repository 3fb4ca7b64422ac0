import { Client } from "pg";
import { pino } from "pino";
import { Registry } from "prom-client";
import { type Address, encodeFunctionData, type Hex, numberToHex } from "viem";
import { localTokenAbi } from "../../../service/chain/abi/local-token.ts";
import { type ChainReader, createChainReader } from "../../../service/enrich/chain-reader.ts";
import { type EnrichLimits, enrichLimits } from "../../../service/enrich/context.ts";
import { createEnrichMetrics, type EnrichMetrics } from "../../../service/enrich/metrics.ts";
import { createEnrichContext, enrichOnce } from "../../../service/enrich/run-enrich.ts";
import type { Database } from "../../../service/store/database.ts";
import { startTestChain, type TestChain } from "../../support/anvil-testkit/chain.ts";
import { createTestDatabase, openMigrated } from "../../support/test-database.ts";
import { createIndexTables, createTransactionIndexes, finalize, follow } from "../features/index-tables.ts";

export const CHAIN_ID = 31_337;
export const SCHEMA = `chain_${CHAIN_ID}`;

/** A chain, a database, and an index of that chain which a test moves on by hand. */
export type EnrichWorld = {
  readonly chain: TestChain;
  readonly db: Database;
  readonly databaseUrl: string;
  readonly client: Client;
  /** Gives the wallet ether and follows it from the next block on. */
  readonly follow: (wallet: Address) => Promise<void>;
  /** Follows the wallet from a block of the past on. */
  readonly followSince: (wallet: Address, block: number) => Promise<void>;
  /** Indexes every block up to the head, and makes all of them final. */
  readonly index: () => Promise<number>;
  /** Mints tokens of a local ERC-20 as its owner. */
  readonly mint: (token: Address, to: Address, amount: bigint) => Promise<Mined>;
  readonly close: () => Promise<void>;
};

type Mined = Awaited<ReturnType<TestChain["send"]>>;

/** Starts the chain and makes the empty index. */
export async function createEnrichWorld(): Promise<EnrichWorld> {
  const [chain, database] = await Promise.all([startTestChain(), createTestDatabase()]);
  const db = await openMigrated(database.url);
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await createIndexTables(client, SCHEMA);
  await createTransactionIndexes(client, SCHEMA);
  await client.query("insert into ahs.chain_mark values ($1, 0, '0x', 'first', now())", [CHAIN_ID]);
  const followed = new Map<Address, number>();
  const followSince = async (wallet: Address, block: number) => {
    followed.set(wallet, block);
    await follow(client, SCHEMA, { wallet, block });
  };
  const [owner] = (await chain.rpc.request("eth_accounts")) as [Address];
  return {
    chain,
    db,
    databaseUrl: database.url,
    client,
    followSince,
    follow: async (wallet) => {
      await chain.rpc.request("anvil_setBalance", wallet, numberToHex(10n ** 20n));
      await followSince(wallet, (await chain.head()) + 1);
    },
    index: () => indexChain(chain, client, followed),
    mint: (token, to, amount) => {
      const data = encodeFunctionData({ abi: localTokenAbi, functionName: "mint", args: [to, amount] });
      return chain.send({ from: owner, to: token, data });
    },
    close: async () => {
      await client.end();
      await db.$client.end();
      await Promise.all([chain.stop(), database.drop()]);
    },
  };
}

/** Enriches in this process until nothing is left; `wrap` stands between it and the node. */
export async function enrichAll(
  world: EnrichWorld,
  options: {
    readonly limits?: Partial<EnrichLimits>;
    readonly wrap?: (real: ChainReader) => ChainReader;
    readonly metrics?: EnrichMetrics;
  } = {},
) {
  const metrics = options.metrics ?? createEnrichMetrics(new Registry());
  const requests: string[] = [];
  const real = createChainReader({
    url: world.chain.rpcUrl,
    timeoutMs: 10_000,
    retries: 1,
    retryMs: 10,
    signal: new AbortController().signal,
    onRequest: (method) => requests.push(method),
  });
  const limits = { ...enrichLimits, ...options.limits };
  const client = options.wrap?.(real) ?? real;
  const logger = pino({ level: "silent" });
  const context = createEnrichContext({ db: world.db, chainId: CHAIN_ID, client, metrics, logger, limits });
  const span = { blocks: limits.maxBlocks };
  while (await enrichOnce(context, span));
  return { requests, metrics };
}

/** Every row of one of our tables, large numbers as text, in an order of its own. */
export async function rowsOf(world: EnrichWorld, table: string): Promise<readonly Record<string, unknown>[]> {
  const { rows } = await world.client.query(`select * from ahs.${table} as stored order by stored`);
  return rows;
}

const FACTS = ["call", "block", "transfer", "approval", "user_operation"].map((name) => `enrich_${name}`);

/** Empties every table of enrichment. */
export async function forgetAll({ client }: EnrichWorld): Promise<void> {
  const tables = [...FACTS, "enrich_cursor", "enrich_wallet"];
  await client.query(`truncate ${tables.map((table) => `ahs.${table}`).join()}`);
}

/** Every row that enrichment stored, but for how far it came. */
export async function allRows(world: EnrichWorld): Promise<Record<string, readonly unknown[]>> {
  const entries: [string, readonly unknown[]][] = [];
  for (const table of FACTS) entries.push([table, await rowsOf(world, table)]);
  return Object.fromEntries(entries);
}

type RpcBlock = {
  readonly hash: Hex;
  readonly timestamp: Hex;
  readonly baseFeePerGas: Hex;
  readonly transactions: readonly {
    readonly hash: Hex;
    readonly from: Address;
    readonly transactionIndex: Hex;
  }[];
};

async function indexChain(
  { rpc, head }: TestChain,
  client: Client,
  followed: ReadonlyMap<Address, number>,
): Promise<number> {
  const newest = await head();
  const { rows } = await client.query(`select coalesce(max(number), -1)::int as number from ${SCHEMA}.block`);
  const first = rows[0].number + 1;
  let timestamp = 0;
  for (let number = first; number <= newest; number += 1) {
    const block = (await rpc.request("eth_getBlockByNumber", numberToHex(number), true)) as RpcBlock;
    timestamp = Number(block.timestamp);
    await client.query(`insert into ${SCHEMA}.block values ($1, $2, $3, $4)`, [
      number,
      block.hash,
      timestamp,
      BigInt(block.baseFeePerGas),
    ]);
  }
  // A wallet that is followed since a block of the past has calls in blocks that are indexed already.
  for (const [wallet, since] of followed) await indexOwnCalls({ rpc, client, newest }, wallet, since);
  if (newest >= first) await finalize(client, SCHEMA, { number: newest, timestamp });
  return newest;
}

async function indexOwnCalls(
  { rpc, client, newest }: { rpc: TestChain["rpc"]; client: Client; newest: number },
  wallet: Address,
  since: number,
): Promise<void> {
  for (let number = since; number <= newest; number += 1) {
    const block = (await rpc.request("eth_getBlockByNumber", numberToHex(number), true)) as RpcBlock;
    for (const { hash, transactionIndex } of block.transactions.filter((sent) => sent.from === wallet)) {
      const receipt = (await rpc.request("eth_getTransactionReceipt", hash)) as {
        contractAddress: Address | null;
      };
      await client.query(
        `insert into ${SCHEMA}.transaction values ($1, $2, $3, $4, $5, null, 0, 0, '0x', null, 0, 0, 0, null, true, $6, true)
         on conflict do nothing`,
        [hash, number, Number(transactionIndex), Number(block.timestamp), wallet, receipt.contractAddress],
      );
    }
  }
}
