import type { Logger } from "pino";
import { type Address, BlockNotFoundError, type Hex, type PublicClient } from "viem";
import { sanctionsListAbi } from "../chain/abi/sanctions-list.ts";
import type { Database } from "../db/database.ts";
import { readSnapshot } from "../db/index-snapshot.ts";
import { runLoop } from "../db/run-loop.ts";
import type { AsOf } from "../model/features/types.ts";
import type { createReadingMetrics } from "./metrics.ts";
import {
  isKnown,
  keepReadings,
  readNewestBlock,
  readUnaskedWallets,
  type SanctionsReading,
} from "./sanctions-readings.ts";

type AskContext = {
  readonly db: Database;
  readonly chainId: number;
  readonly contract: SanctionsContract;
  readonly metrics: ReturnType<typeof createReadingMetrics>;
  readonly logger: Logger;
  readonly now: () => Date;
};

/** Wallets in one round, all of them asked at one block. */
const ROUND = 400;
const AT_ONCE = 8;
const IDLE_MS = 2_000;

/** Asks about every wallet without an indexed event until the signal fires; never throws. One process per chain leads it. */
export async function runAsking(context: AskContext, signal: AbortSignal): Promise<void> {
  const { metrics, logger } = context;
  await runLoop({
    logger,
    what: "asking the sanctions contract",
    signal,
    pauseMs: (settled) => (settled > 0 ? 0 : IDLE_MS),
    onFailure: (error) => {
      metrics.failures.inc();
      logger.warn({ err: error }, "the sanctions contract was not asked; trying again");
      return 0;
    },
    pass: () => askRound(context, signal),
  });
}

/** Runs one round and returns how many wallets it settled. Answers before a failure are stored, then the failure is thrown. */
export async function askRound(context: AskContext, signal?: AbortSignal): Promise<number> {
  const { db, chainId, contract, metrics, now } = context;
  const due = await readSnapshot(db, async (client) => {
    const block = await readNewestBlock(client, chainId);
    if (block === null) return null;
    const wallets = await readUnaskedWallets(client, chainId, ROUND);
    return wallets.length === 0 ? null : { block, wallets };
  });
  if (due === null) return 0;
  const { readings, failure } = await askAll(contract, due, signal);
  const stored = (await isSameBlock(contract, due.block))
    ? await keepReadings(db, { ...due.block, chainId, readAt: now() }, readings)
    : 0;
  metrics.asked.inc(stored);
  if (failure !== null) throw failure;
  return stored;
}

/** Asks about one wallet (lower-case) once. False if the node does not answer or has another block than the index. */
async function askAbout(context: Omit<AskContext, "metrics">, wallet: Address): Promise<boolean> {
  const { db, chainId, contract, logger, now } = context;
  const block = await readNewestBlock(db.$client, chainId);
  if (block === null) return false;
  if (await isKnown(db.$client, chainId, wallet)) return true;
  const { readings, failure } = await askAll(contract, { wallets: [wallet], block });
  if (failure !== null) {
    logger.warn({ err: failure, wallet }, "the sanctions contract was not asked");
    return false;
  }
  if (await isSameBlock(contract, block).catch(() => false))
    await keepReadings(db, { ...block, chainId, readAt: now() }, readings);
  return isKnown(db.$client, chainId, wallet);
}

async function askAll(
  contract: SanctionsContract,
  { wallets, block }: { readonly wallets: readonly Address[]; readonly block: AsOf },
  signal?: AbortSignal,
): Promise<{ readonly readings: readonly SanctionsReading[]; readonly failure: Error | null }> {
  const readings: SanctionsReading[] = [];
  for (let start = 0; start < wallets.length; start += AT_ONCE) {
    signal?.throwIfAborted();
    const asked = wallets.slice(start, start + AT_ONCE);
    const ask = (address: Address) => contract.isSanctioned(address, block.blockNumber);
    const answers = await Promise.allSettled(
      asked.map(async (address) => ({ address, listed: await ask(address) })),
    );
    for (const answer of answers) if (answer.status === "fulfilled") readings.push(answer.value);
    const failed = answers.find((answer) => answer.status === "rejected");
    if (failed !== undefined)
      return { readings, failure: new Error("isSanctioned was not answered", { cause: failed.reason }) };
  }
  return { readings, failure: null };
}

/** Whether the node's block of that number is, after its answers, still the one that the index holds. */
async function isSameBlock(contract: SanctionsContract, block: AsOf): Promise<boolean> {
  return (await contract.blockHash(block.blockNumber)) === block.blockHash;
}

/** Answer about a wallet of which the contract's list is unknown. */
const NOT_ASKED = {
  kind: "unavailable",
  detail: "The sanctions contract was never asked about this wallet, and does not answer.",
  retryAfterSeconds: 10,
} as const;

/** Answers about a wallet, lower-case, only once the contract has been asked about it. */
export function askingFirst<Outcome, Rest extends readonly unknown[]>(
  context: Omit<AskContext, "metrics">,
  answer: (wallet: Address, ...rest: Rest) => Promise<Outcome>,
): (wallet: Address, ...rest: Rest) => Promise<Outcome | typeof NOT_ASKED> {
  return async (wallet, ...rest) => ((await askAbout(context, wallet)) ? answer(wallet, ...rest) : NOT_ASKED);
}

/** Questions to the sanctions contract and its node; each call throws without an answer. */
export type SanctionsContract = {
  /** At a block, or now; anything but a clear yes or no, as from an address without code, is a failure and never a no. */
  readonly isSanctioned: (wallet: Address, block: number | "latest") => Promise<boolean>;
  /** Null where the node has no such block. */
  readonly blockHash: (block: number) => Promise<Hex | null>;
};

/** The contract at an address, through a client that has its own deadline and retries. */
export function createSanctionsContract(client: PublicClient, address: Address): SanctionsContract {
  return {
    isSanctioned: (wallet, block) =>
      client.readContract({
        address,
        abi: sanctionsListAbi,
        functionName: "isSanctioned",
        args: [wallet],
        ...(block === "latest" ? { blockTag: block } : { blockNumber: BigInt(block) }),
      }),
    async blockHash(block) {
      try {
        return (await client.getBlock({ blockNumber: BigInt(block) })).hash;
      } catch (error) {
        if (error instanceof BlockNotFoundError) return null;
        throw error;
      }
    },
  };
}
