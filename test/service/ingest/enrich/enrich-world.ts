import { Client } from "pg";
import { pino } from "pino";
import { Registry } from "prom-client";
import { type Abi, type Address, encodeDeployData, encodeFunctionData, type Hex, numberToHex } from "viem";
import { localTokenAbi } from "../../../../devnet/abi/local-token.ts";
import type { Deployment } from "../../../../service/chain/deployments.ts";
import { type ChainReader, createChainReader } from "../../../../service/chain/node/chain-reader.ts";
import type { Database } from "../../../../service/db/database.ts";
import {
  createEnrichMetrics,
  type EnrichContext,
  type EnrichLimits,
  type EnrichMetrics,
  enrichLimits,
} from "../../../../service/ingest/enrich/context.ts";
import { createEnrichContext, enrichOnce } from "../../../../service/ingest/enrich/run-enrich.ts";
import { startTestChain, type TestChain } from "../../../support/anvil-testkit/chain.ts";
import { createTestDatabase, openMigrated } from "../../../support/test-database.ts";
import {
  createIndexTables,
  createTransactionIndexes,
  finalize,
  follow,
} from "../../model/features/index-tables.ts";

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
  const db = openMigrated(database.url);
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

/** Creates a contract as the owner of the chain's tokens; its address is lower-case. */
export async function deploy(
  { chain }: EnrichWorld,
  contract: { readonly abi: Abi; readonly bytecode: string; readonly args: readonly unknown[] },
): Promise<Address> {
  const [from] = (await chain.rpc.request("eth_accounts")) as [Address];
  const data = encodeDeployData({ ...contract, bytecode: contract.bytecode as Hex });
  const gas = numberToHex(5_000_000n);
  const hash = await chain.rpc.request("eth_sendTransaction", { from, data, gas });
  await chain.tick();
  const receipt = (await chain.rpc.request("eth_getTransactionReceipt", hash)) as {
    contractAddress: Address;
  };
  return receipt.contractAddress.toLowerCase() as Address;
}

type Wrap = (real: ChainReader) => ChainReader;

type EnrichOptions = {
  readonly limits?: Partial<EnrichLimits>;
  readonly metrics?: EnrichMetrics;
  readonly deployment?: Deployment;
  readonly onRequest?: (method: string) => void;
} & Pick<Parameters<typeof createEnrichContext>[0], "warms" | "tasks">;

/** Context that enriches this world. `wrap` may change the reader of the node. */
export function contextOf(world: EnrichWorld, wrap: Wrap, options: EnrichOptions = {}): EnrichContext {
  const real = createChainReader({
    url: world.chain.rpcUrl,
    timeoutMs: 10_000,
    retries: 1,
    retryMs: 10,
    signal: new AbortController().signal,
    onRequest: options.onRequest ?? (() => undefined),
  });
  return createEnrichContext({
    ...options,
    db: world.db,
    deployment: options.deployment ?? world.chain.deployment,
    client: wrap(real),
    metrics: options.metrics ?? createEnrichMetrics(new Registry()),
    logger: pino({ level: "silent" }),
    limits: { ...enrichLimits, ...options.limits },
  });
}

/** Enriches in this process until nothing is left; as many failures in a row as `patience` are sat through. */
export async function enrichAll(
  world: EnrichWorld,
  options: Omit<EnrichOptions, "onRequest"> & { readonly wrap?: Wrap; readonly patience?: number } = {},
) {
  const requests: string[] = [];
  const onRequest = (method: string) => requests.push(method);
  const context = contextOf(world, options.wrap ?? ((real) => real), { ...options, onRequest });
  const span = { blocks: context.limits.maxBlocks };
  for (let failures = 0; ; ) {
    try {
      if (!(await enrichOnce(context, span))) break;
      failures = 0;
    } catch (error) {
      failures += 1;
      if (failures > (options.patience ?? 0)) throw error;
    }
  }
  return { requests, metrics: context.metrics };
}

/** Every row of one of our tables, large numbers as text, in an order of its own. */
export async function rowsOf(world: EnrichWorld, table: string): Promise<readonly Record<string, unknown>[]> {
  const { rows } = await world.client.query(`select * from ahs.${table} as stored order by stored`);
  return rows;
}

const PLACED = ["own_call", "enrich_block", "enrich_transfer", "enrich_approval", "enrich_user_operation"];
const FACTS = [...PLACED, "contact", "sampled_contact"];
const OTHERS = [
  "feed_price",
  "enrich_cursor",
  "enrich_death",
  "enrich_reading",
  "enrich_wallet",
  "wallet_delegation",
  "account_fact",
  "pending_fact",
];

/** Empties every table of enrichment. */
export async function forgetAll({ client }: EnrichWorld): Promise<void> {
  const tables = [...FACTS, ...OTHERS];
  await client.query(`truncate ${tables.map((table) => `ahs.${table}`).join()}`);
}

/** Every row that ranges store, whatever their bounds; how far they came, and what was read at their ends, is left out. */
export function allRows(world: EnrichWorld): Promise<Record<string, readonly unknown[]>> {
  return rowsOfAll(world, FACTS);
}

/** Those of them that happened in one block. */
export function placedRows(world: EnrichWorld): Promise<Record<string, readonly unknown[]>> {
  return rowsOfAll(world, PLACED);
}

async function rowsOfAll(world: EnrichWorld, tables: readonly string[]) {
  const entries: [string, readonly unknown[]][] = [];
  for (const table of tables) entries.push([table, await rowsOf(world, table)]);
  return Object.fromEntries(entries);
}

type RpcTransaction = {
  readonly hash: Hex;
  readonly from: Address;
  readonly to: Address | null;
  readonly nonce: Hex;
  readonly value: Hex;
  readonly input: Hex;
  readonly gas: Hex;
  readonly transactionIndex: Hex;
};

type RpcBlock = { hash: Hex; timestamp: Hex; baseFeePerGas: Hex; transactions: readonly RpcTransaction[] };

async function indexChain({ rpc, head }: TestChain, client: Client, followed: ReadonlyMap<Address, number>) {
  const newest = await head();
  const { rows } = await client.query(`select coalesce(max(number), -1)::int as number from ${SCHEMA}.block`);
  const first = rows[0].number + 1;
  // A wallet that is followed since a block of the past has calls in blocks that are indexed already.
  const from = Math.min(first, ...followed.values());
  for (let number = from; number <= newest; number += 1) {
    const block = (await rpc.request("eth_getBlockByNumber", numberToHex(number), true)) as RpcBlock;
    await client.query(`insert into ${SCHEMA}.block values ($1, $2, $3, $4) on conflict do nothing`, [
      number,
      block.hash,
      Number(block.timestamp),
      BigInt(block.baseFeePerGas),
    ]);
    for (const sent of block.transactions) {
      const isFollowed = (account: Address | null) => (followed.get(account ?? "0x") ?? number + 1) <= number;
      if (isFollowed(sent.from) || isFollowed(sent.to))
        await indexTransaction({ rpc, client }, { sent, block, number, own: isFollowed(sent.from) });
    }
    if (number === newest) await finalize(client, SCHEMA, { number, timestamp: Number(block.timestamp) });
  }
  return newest;
}

async function indexTransaction(
  { rpc, client }: { rpc: TestChain["rpc"]; client: Client },
  at: { sent: RpcTransaction; block: RpcBlock; number: number; own: boolean },
): Promise<void> {
  const { sent, block, number, own } = at;
  const receipt = (await rpc.request("eth_getTransactionReceipt", sent.hash)) as {
    readonly contractAddress: Address | null;
    readonly gasUsed: Hex;
    readonly effectiveGasPrice: Hex;
    readonly status: Hex;
  };
  await client.query(
    `insert into ${SCHEMA}.transaction values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
     on conflict (hash) do update set own = excluded.own`,
    [
      sent.hash,
      number,
      Number(sent.transactionIndex),
      Number(block.timestamp),
      sent.from,
      sent.to,
      Number(sent.nonce),
      BigInt(sent.value),
      sent.input,
      sent.input.length < 10 ? null : sent.input.slice(0, 10),
      BigInt(sent.gas),
      BigInt(receipt.gasUsed),
      BigInt(receipt.effectiveGasPrice),
      BigInt(block.baseFeePerGas),
      receipt.status === "0x1",
      receipt.contractAddress,
      own,
    ],
  );
  if (own)
    await client.query(
      `update ${SCHEMA}.wallet set last_call_block = greatest(last_call_block, $2) where address = $1`,
      [sent.from, number],
    );
}
