import pino from "pino";
import { Registry } from "prom-client";
import {
  type Address,
  createWalletClient,
  encodeFunctionData,
  getAddress,
  http,
  numberToHex,
  pad,
} from "viem";
import { agentHealthOracleAbi } from "../../../service/chain/abi/agent-health-oracle.ts";
import { deployOracle } from "../../../service/chain/deploy.ts";
import { gradeOf } from "../../../service/chain/oracle-codec.ts";
import { walletBacking } from "../../../service/db/tables/backing.ts";
import { publishIntent } from "../../../service/db/tables/publish.ts";
import { score, walletInterest } from "../../../service/db/tables/score.ts";
import type { SanctionsFlag } from "../../../service/model/features/types.ts";
import { proposeIntents } from "../../../service/oracle/propose-intents.ts";
import { defaultPublishPolicy, type PublishPolicy } from "../../../service/oracle/publish-policy.ts";
import { createPublishMetrics, publishRound, type Round } from "../../../service/oracle/publisher.ts";
import { makeCurrent, type NewScore } from "../../../service/scores/store-records.ts";
import { CHAIN_ID, localAccount } from "../sender/sender-under-test.ts";
import { createSenderWorld, until } from "../sender/sender-world.ts";
import { replayOracle } from "./oracle-replay.ts";

export type PublishWorld = Awaited<ReturnType<typeof createPublishWorld>>;

/** Publishes at once: tests decide when rounds happen. */
export const testPublishPolicy: PublishPolicy = {
  ...defaultPublishPolicy,
  gatherMs: 0,
  refusedRetryMs: { first: 50, longest: 200 },
  revertedRetryMs: { first: 50, longest: 200 },
};

/** Parts of a score that a test sets; the rest has defaults. */
export type TestScore = {
  readonly wallet: Address;
  readonly asOf: number;
  /** Null for a wallet without enough history. */
  readonly points: number | null;
  /** Lists that name it; none unless given. */
  readonly sanctionedBy?: readonly SanctionsFlag["source"][];
};

/** A wallet by number, lower-case. */
export function testWallet(number: number): Address {
  return pad(numberToHex(0xa9e27_0000n + BigInt(number)), { size: 20 });
}

/** A chain with the oracle, a database with its events replayed, a sender, and publishing rounds on demand. */
export async function createPublishWorld() {
  const world = await createSenderWorld();
  await world.automine(true);
  const owner = localAccount(0);
  const walletClient = createWalletClient({ account: owner, transport: http(world.rpcUrl) });
  const { address: oracle } = await deployOracle({
    walletClient,
    publicClient: world.client,
    owner: owner.address,
    publisher: world.sender,
    signers: [],
    identityRegistry: await placeCode(world.request),
    requestFee: 0n,
  });
  // Room below the head for as-of blocks.
  await world.mine(20);
  const registry = new Registry();
  const metrics = createPublishMetrics(registry);
  const sync = () => replayOracle(world.db.$client, { client: world.client, oracle, chainId: CHAIN_ID });
  const roundWithoutSync = (
    policy: PublishPolicy = testPublishPolicy,
    now: Date = new Date(),
  ): Promise<Round> =>
    publishRound({
      chainId: CHAIN_ID,
      db: world.db,
      oracle,
      sender: world.sender,
      policy,
      metrics,
      logger: pino({ level: "silent" }),
      now: () => now,
      pollMs: 20,
    });
  const round: typeof roundWithoutSync = async (...args) => {
    await sync();
    return roundWithoutSync(...args);
  };
  await sync();
  const intents = () => world.db.select().from(publishIntent).orderBy(publishIntent.id);
  return {
    ...world,
    oracle,
    registry,
    sync,
    round,
    roundWithoutSync,
    intents,
    /** Stores scores as the scorer does, with their intents in the same transaction. */
    store: async (scores: readonly TestScore[], policy = testPublishPolicy): Promise<void> => {
      const rows = await Promise.all(scores.map((entry) => toRow(entry, world)));
      await world.db.transaction(async (tx) => {
        const inserted = await tx.insert(score).values(rows).returning({ id: score.id });
        const scoreIds = inserted.map((row) => row.id);
        await makeCurrent(tx, scoreIds, []);
        await proposeIntents(tx, { chainId: CHAIN_ID, scoreIds, policy, now: new Date() });
      });
    },
    /** Replaces the backing of a wallet. */
    back: (wallet: Address, safeMicroUsd: bigint) => {
      const amounts = { ownMicroUsd: 0n, costBasisMicroUsd: 2n * safeMicroUsd, receivedDayMicroUsd: 0n };
      const row = { ...amounts, chainId: CHAIN_ID, wallet, safeMicroUsd, asOfBlock: 5, asOfTime: new Date() };
      const target = [walletBacking.chainId, walletBacking.wallet];
      return world.db.insert(walletBacking).values(row).onConflictDoUpdate({ target, set: { safeMicroUsd } });
    },
    care: (wallet: Address) =>
      world.db.insert(walletInterest).values({ chainId: CHAIN_ID, wallet, lastAt: new Date() }),
    /** Rounds until every intent is settled: confirmed, superseded or failed for good. */
    settle: async (policy?: PublishPolicy): Promise<void> => {
      await until(
        async () => {
          await round(policy);
          const open = (await intents()).filter((row) => row.state === "pending" || row.state === "sent");
          return open.length === 0 ? true : null;
        },
        () => "all intents to be settled",
      );
    },
    scoreOf: (wallet: Address) =>
      world.client.readContract({
        address: oracle,
        abi: agentHealthOracleAbi,
        functionName: "scoreOf",
        args: [getAddress(wallet)],
      }),
    /** Calls the oracle as its owner and mines it. */
    asOwner: async (
      functionName: "setPaused" | "invalidate",
      args: readonly [boolean] | readonly [readonly Address[]],
    ) => {
      const data =
        functionName === "setPaused"
          ? encodeFunctionData({ abi: agentHealthOracleAbi, functionName, args: args as readonly [boolean] })
          : encodeFunctionData({
              abi: agentHealthOracleAbi,
              functionName,
              args: args as readonly [readonly Address[]],
            });
      const hash = await walletClient.sendTransaction({ to: oracle, data, chain: null });
      await world.client.waitForTransactionReceipt({ hash, pollingInterval: 20 });
    },
  };
}

async function toRow(
  entry: TestScore,
  world: Awaited<ReturnType<typeof createSenderWorld>>,
): Promise<NewScore> {
  const block = await world.client.getBlock({ blockNumber: BigInt(entry.asOf) });
  const { points, sanctionedBy = [] } = entry;
  return {
    chainId: CHAIN_ID,
    wallet: entry.wallet,
    asOfBlock: entry.asOf,
    asOfHash: block.hash,
    asOfTime: new Date(Number(block.timestamp) * 1000),
    modelVersion: "AHS-2026.0",
    ahsScore: points,
    d1Score: points,
    d2Score: points,
    grade: points === null ? null : gradeOf(points),
    confidenceMicros: points === null ? 100_000 : 812_345,
    confidenceLevel: points === null ? "INSUFFICIENT" : "HIGH",
    sanctioned: sanctionedBy.length > 0,
    sanctionsFlags: sanctionedBy.map((source) => ({
      source,
      reference: "0x01",
      detected_at: "2026-11-20T10:00:00.000Z",
    })),
    patterns: [],
    features: [],
    coverage: { fromBlock: 0, fromTimestamp: 0, toBlock: entry.asOf, complete: true, sources: ["index"] },
    inputsHash: `${entry.wallet}-${entry.asOf}-${points}-${sanctionedBy}`,
  };
}

/** The oracle only asks that there is code where the registry should be. */
async function placeCode(
  request: (method: string, ...params: readonly unknown[]) => Promise<unknown>,
): Promise<Address> {
  const address = "0x00000000000000000000000000000000000e8004";
  await request("anvil_setCode", address, "0x00");
  return address;
}
