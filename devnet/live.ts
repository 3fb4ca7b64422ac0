import { setTimeout as delay } from "node:timers/promises";
import { type Address, decodeEventLog, encodeFunctionData, type Hex, type Log, toEventSelector } from "viem";
import { entryPointAbi } from "./abi/entry-point.ts";
import { jobEscrowAbi } from "./abi/job-escrow.ts";
import type { JsonRpc } from "./json-rpc.ts";
import { livingActors } from "./live-actors.ts";
import { baseFeeAt } from "./population/base-fee.ts";
import type { PlannedCall } from "./population/plan-types.ts";
import { seededRandom } from "./population/random.ts";
import { dataOf, sendable } from "./population/resolve.ts";
import type { Member } from "./population/roster.ts";
import { type KeyedWallet, signerOf } from "./population/wallets.ts";
import type { World } from "./population/world.ts";
import { topUps } from "./top-up.ts";

export type LiveLogger = { info(message: string): void; warn(message: string): void };

export type LiveOptions = {
  readonly rpc: JsonRpc;
  readonly world: World;
  readonly roster: readonly Member[];
  readonly seed: string;
  /** The wall clock, in unix seconds; fractions are cut. */
  readonly now: () => number;
  readonly logger: LiveLogger;
};

export type Living = {
  /** Resolves once nothing more will be sent; the node then mines each transaction at once. */
  stop(): Promise<void>;
};

const CHAIN_ID = 31_337;
const BLOCK_MS = 2_000;
/** Steps of a job that never came to be are given up after so many seconds. */
const PATIENCE_SECONDS = 120;
const JOB_CREATED = toEventSelector("JobCreated(uint256,address,address,address,uint256,address)");

/** Lets the chain live: a block every two seconds of the wall clock, in each a few calls of agents and other people. */
export async function startLiving(options: LiveOptions): Promise<Living> {
  const { rpc, logger } = options;
  await rpc.request("evm_setIntervalMining", 0);
  await rpc.request("evm_setAutomine", false);
  const controller = new AbortController();
  const life = live(options, controller.signal).catch((error: unknown) => {
    logger.warn(`the living chain stopped: ${messageOf(error)}`);
  });
  const mining = mineBlocks(options, controller.signal);
  return {
    stop: async () => {
      controller.abort();
      await Promise.all([life, mining]);
      await rpc.request("evm_setAutomine", true).catch((error: unknown) => {
        logger.warn(`the node does not accept mining at once: ${messageOf(error)}`);
      });
    },
  };
}

/**
 * Asks for each block. Anvil that mines by itself every two seconds or faster keeps the states of 1,500 blocks, gigabytes of
 * memory, whatever `--prune-history` says.
 */
async function mineBlocks({ rpc, logger }: LiveOptions, signal: AbortSignal): Promise<void> {
  for (let due = performance.now() + BLOCK_MS; ; due = Math.max(due + BLOCK_MS, performance.now())) {
    await delay(due - performance.now(), undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    await rpc.request("evm_mine").catch((error: unknown) => {
      logger.warn(`the node mined no block: ${messageOf(error)}`);
    });
  }
}

type Life = LiveOptions & {
  readonly keys: ReadonlyMap<Address, KeyedWallet>;
  readonly jobs: Map<string, bigint>;
  /** Sent calls whose job id is not known yet, by transaction hash. */
  readonly creating: Map<Hex, string>;
};

async function live(options: LiveOptions, signal: AbortSignal): Promise<void> {
  const { world, roster, seed, now, logger } = options;
  const actors = livingActors(world, roster, seed);
  const life: Life = { ...options, keys: actors.keys, jobs: new Map(), creating: new Map() };
  let waiting: PlannedCall[] = [];
  while (!signal.aborted) {
    const at = Math.floor(now());
    try {
      const random = seededRandom(`${seed}/live/${at}`);
      const contexts = actors.draw(random);
      waiting.push(
        ...(await topUps(options.rpc, contexts, at)),
        ...contexts.flatMap((actor) => actor.step(at)),
      );
      waiting = await sendDue(life, waiting, at, signal);
    } catch (error) {
      if (signal.aborted) return;
      logger.warn(`a step of the living chain failed: ${messageOf(error)}`);
    }
    await delay(BLOCK_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** Sends what is due and returns what still waits. */
async function sendDue(life: Life, waiting: readonly PlannedCall[], at: number, signal: AbortSignal) {
  await noteJobs(life);
  const baseFee = baseFeeAt(life.seed, at);
  await life.rpc.request("anvil_setNextBlockBaseFeePerGas", `0x${baseFee.toString(16)}`);
  const left: PlannedCall[] = [];
  for (const call of [...waiting].sort((a, b) => a.at - b.at)) {
    if (signal.aborted) return [];
    const ready = call.needs === null || life.jobs.has(call.needs);
    if (call.at > at || (!ready && at - call.at < PATIENCE_SECONDS)) left.push(call);
    else if (ready) await send(life, call, { at, baseFee });
  }
  return left;
}

async function send(life: Life, call: PlannedCall, { at, baseFee }: { at: number; baseFee: bigint }) {
  const { rpc, logger } = life;
  const key = life.keys.get(call.from);
  if (!key) throw new Error(`no key for ${call.from}`);
  const idOf = (name: string): bigint => {
    const id = life.jobs.get(name);
    if (id === undefined) throw new Error(`no job with the key ${name}`);
    return id;
  };
  const nextOperation = (account: Address): Promise<bigint> => nextOperationOf(life, account);
  const data = await dataOf(call, { idOf, nextOperation, blockTime: at });
  const nonce = Number(await rpc.request("eth_getTransactionCount", call.from, "pending"));
  const { gasLimit, maxFeePerGas, maxPriorityFeePerGas, to, value } = sendable(call, baseFee);
  const signed = await signerOf(key).signTransaction({
    type: "eip1559",
    chainId: CHAIN_ID,
    gas: BigInt(gasLimit),
    to,
    value,
    data,
    nonce,
    maxFeePerGas,
    maxPriorityFeePerGas,
  });
  try {
    const hash = (await rpc.request("eth_sendRawTransaction", signed)) as Hex;
    if (call.creates?.kind === "job") life.creating.set(hash, call.creates.key);
  } catch (error) {
    logger.warn(`${call.from} could not send: ${messageOf(error)}`);
  }
}

/** Counts what waits to be mined as well. */
async function nextOperationOf({ rpc, world }: Life, account: Address): Promise<bigint> {
  const data = encodeFunctionData({ abi: entryPointAbi, functionName: "nonceOf", args: [account] });
  const call = { to: world.contracts.entryPoint, data };
  return BigInt((await rpc.request("eth_call", call, "pending")) as Hex);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Learns the ids of the jobs created since the last step. */
async function noteJobs({ rpc, creating, jobs }: Life): Promise<void> {
  for (const [hash, key] of creating) {
    const receipt = (await rpc.request("eth_getTransactionReceipt", hash)) as { logs: readonly Log[] } | null;
    if (receipt === null) continue;
    creating.delete(hash);
    const log = receipt.logs.find((entry) => entry.topics[0] === JOB_CREATED);
    if (!log) continue;
    const event = decodeEventLog({
      abi: jobEscrowAbi,
      eventName: "JobCreated",
      topics: log.topics,
      data: log.data,
    });
    jobs.set(key, event.args.jobId);
  }
}
