import type { Logger } from "pino";
import type { Address, Hex } from "viem";
import { z } from "zod";
import type { RegistryEntry } from "../../chain/deployments.ts";
import type { ChainReader } from "../../chain/node/chain-reader.ts";
import { NodeFailure, type NodeFailureKind } from "../../chain/node/failure.ts";
import { logAnswer, type RawLog } from "../../chain/node/rpc-answers.ts";
import { lowerCase } from "../../db/columns.ts";
import type { Database } from "../../db/database.ts";
import { mapLimited } from "../../net/map-limited.ts";
import { erc8004Decoder } from "./erc-8004.ts";
import { olasServiceRegistryL2Decoder } from "./olas-service-registry-l2.ts";
import { readRegistryCursor, storeRegistryRange } from "./registry-agents.ts";
import { foldEvents, type RegistryDecoder } from "./registry-events.ts";
import { virtualsAgentFactoryDecoder } from "./virtuals-agent-factory.ts";

export type RegistryLimits = {
  /** Most blocks of one request, and most logs that one answer may hold. */
  readonly maxBlocks: number;
  readonly maxLogs: number;
  /**
   * Ranges to ask the node for, of which a block that is refused by itself takes two requests more, and milliseconds, that one
   * registry may take of one scan; the next one goes on.
   */
  readonly maxRequests: number;
  readonly maxMs: number;
};

/** 2,000 requests read 20 million blocks of a node that takes 10,000 at once: more than a year of Base. */
export const registryLimits: RegistryLimits = {
  maxBlocks: 10_000,
  maxLogs: 20_000,
  maxRequests: 2_000,
  maxMs: 600_000,
};

export type RegistryClient = Pick<ChainReader, "logs" | "blockReceipts" | "header" | "receipt">;

type RegistryReader = {
  readonly db: Database;
  readonly chainId: number;
  readonly client: RegistryClient;
  /** Of the chain's mark when the scan began. */
  readonly generation: string;
  /** Newest block to read: final for the index, and behind its newest one by the deployment's finality. */
  readonly finalBlock: number;
  readonly limits: RegistryLimits;
  readonly logger: Logger;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
};

export type RegistryReading = {
  /** Up to which it is read; null before the first. */
  readonly block: number | null;
  /**
   * Public reason why the reading stops before the newest final block, or which blocks it skips; null if all is read.
   */
  readonly fault: string | null;
  /** The node's failure, for the log alone; null if the node did not fail. */
  readonly cause: NodeFailure | null;
};

const FAULTS: Readonly<Record<NodeFailureKind, string>> = {
  unreachable: "the node did not answer",
  timeout: "the node took too long to answer",
  rate_limited: "the node asks for fewer requests",
  unknown: "the node answers with an error that this version does not know",
  too_many_results: "the node does not return the logs of even one block at once",
  method_missing: "the node does not know eth_getLogs",
  state_missing: "the node keeps no history of these blocks",
  reverted: "the node refuses the request",
  refused: "the node refuses the request",
  garbage: "the node's answer cannot be read",
  node_behind: "the node does not hold these blocks yet",
  other_chain: "the node follows another chain",
  inconsistent: "the node answered with logs outside the request",
};

/** More blocks of one scan that the node calls too full are not believed. */
const MOST_TOO_FULL = 5;

/**
 * Reads the events of a registry from its cursor on. Ranges shrink when the node refuses one, and grow again.
 * A single refused block is read by its receipts. If the node refuses these too for their size, the block is skipped
 * and named in the fault.
 * Each range is stored with the cursor, so a crash loses and repeats nothing. A failing node is a fault of the reading;
 * a failing database throws.
 */
export async function readRegistry(reader: RegistryReader, entry: RegistryEntry): Promise<RegistryReading> {
  const tooFull: number[] = [];
  const reading = await readOn(reader, entry, tooFull);
  if (tooFull.length === 0) return reading;
  const leftOut = `left out for good, since no answer of the node has room for them: blocks ${tooFull.join(", ")}`;
  return { ...reading, fault: reading.fault === null ? leftOut : `${reading.fault}; ${leftOut}` };
}

/** Adds the blocks that it steps over. */
async function readOn(
  reader: RegistryReader,
  entry: RegistryEntry,
  tooFull: number[],
): Promise<RegistryReading> {
  const { db, chainId, finalBlock, limits, monotonicMs } = reader;
  const registry = lowerCase(entry.address);
  const endsAt = monotonicMs() + limits.maxMs;
  let block = await readRegistryCursor(db, { chainId, registry });
  let span = limits.maxBlocks;
  for (let requests = 0; ; requests += 1) {
    const from = block === null ? entry.startBlock : block + 1;
    if (from > finalBlock) return { block, fault: null, cause: null };
    if (requests >= limits.maxRequests || monotonicMs() >= endsAt) {
      return stoppedAt(block, `what one scan may ask for is used up; the next goes on at block ${from}`);
    }
    const to = Math.min(from + span - 1, finalBlock);
    const read = await readRange(reader, entry, { from, to });
    if (read instanceof NodeFailure) {
      if (!read.fitsWhenSmaller || to === from) return { block, fault: FAULTS[read.kind], cause: read };
      span = Math.floor((to - from + 1) / 2);
      continue;
    }
    if (read === "too_full" && tooFull.length >= MOST_TOO_FULL) {
      return stoppedAt(block, FAULTS.too_many_results);
    }
    const events = await eventsOf(reader.client, entry, read === "too_full" ? [] : read);
    if (events instanceof NodeFailure) return { block, fault: FAULTS[events.kind], cause: events };
    const changes = foldEvents(events);
    const range = { chainId, registry, from, to, generation: reader.generation, changes };
    if (!(await storeRegistryRange(db, range))) {
      return stoppedAt(block, "another scan moved on, or the chain was cleared, meanwhile");
    }
    if (read === "too_full") {
      tooFull.push(from);
      reader.logger.warn({ registry: entry.name, block: from }, "a block of a registry is left out for good");
    }
    block = to;
    span = Math.min(limits.maxBlocks, span + Math.ceil(span / 4));
  }
}

function stoppedAt(block: number | null, fault: string): RegistryReading {
  return { block, fault, cause: null };
}

type Range = { readonly from: number; readonly to: number };

/** too_full: a block that no answer of the node has room for. */
type RangeLogs = readonly RawLog[] | "too_full" | NodeFailure;

/** Returns logs in the order of the chain, or the reason for their absence; throws every error except failures of the node. */
async function readRange(reader: RegistryReader, entry: RegistryEntry, range: Range): Promise<RangeLogs> {
  const { client, limits } = reader;
  const registry = lowerCase(entry.address);
  const asked = await askForLogs(client, entry, range);
  const isAlone = range.from === range.to;
  const logs =
    asked instanceof NodeFailure && asked.fitsWhenSmaller && isAlone
      ? await readFullBlock({ client, registry, block: range.from, refusal: asked })
      : asked;
  if (logs === "too_full" || logs instanceof NodeFailure) return logs;
  const strange = logs.find(({ address: emitter, blockNumber }) => {
    return emitter !== registry || blockNumber < range.from || blockNumber > range.to;
  });
  if (strange !== undefined) {
    return new NodeFailure(
      "inconsistent",
      `asked for ${registry} in blocks ${range.from} to ${range.to}, got a log of ${strange.address} in block ${strange.blockNumber}`,
    );
  }
  if (logs.length > limits.maxLogs && !isAlone) {
    return new NodeFailure("too_many_results", `more than ${limits.maxLogs} logs`);
  }
  return logs.toSorted((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex);
}

async function askForLogs(
  client: RegistryClient,
  { address, kind }: RegistryEntry,
  range: Range,
): Promise<readonly RawLog[] | NodeFailure> {
  const { topics } = REGISTRY_DECODERS[kind];
  try {
    return await client.logs({ ...range, addresses: [lowerCase(address)], topics: [topics] });
  } catch (error) {
    if (error instanceof NodeFailure) return error;
    throw error;
  }
}

type PlacedEvent = Parameters<typeof foldEvents>[0][number] & { readonly hash: Hex };

/** Receipts asked for at once. */
const LANES = 4;

/** The events of logs, without those that name a wallet that did not act; or the node's failure. */
async function eventsOf(
  client: RegistryClient,
  { kind }: RegistryEntry,
  logs: readonly RawLog[],
): Promise<readonly PlacedEvent[] | NodeFailure> {
  const { decode, madeTopic } = REGISTRY_DECODERS[kind];
  const events = logs.flatMap((log): PlacedEvent[] => {
    const event = decode(log);
    return event === null ? [] : [{ block: log.blockNumber, hash: log.transactionHash, event }];
  });
  if (madeTopic === undefined) return events;
  try {
    const counted = await mapLimited(events, LANES, async ({ event, hash }) => {
      const wallet = "wallet" in event ? (event.wallet ?? null) : null;
      return wallet === null || (await hasActed(client, hash, { wallet, madeTopic }));
    });
    return events.filter((_, index) => counted[index]);
  } catch (error) {
    if (error instanceof NodeFailure) return error;
    throw error;
  }
}

/** Whether a wallet sent a transaction, or was made in it. */
async function hasActed(
  client: RegistryClient,
  hash: Hex,
  { wallet, madeTopic }: { readonly wallet: Address; readonly madeTopic: Hex },
): Promise<boolean> {
  const receipt = await client.receipt(hash);
  if (receipt === null) throw new NodeFailure("node_behind", `no receipt of ${hash}`);
  if (receipt.from === wallet) return true;
  return receipt.logs.some((log) => {
    const { data } = logAnswer.safeParse(log);
    return data?.address === wallet && data.topics[0] === madeTopic;
  });
}

/** The decoder of each kind of registry: a further kind is its name in deployments.ts and one line here. */
const REGISTRY_DECODERS: Readonly<Record<RegistryEntry["kind"], RegistryDecoder>> = {
  erc8004: erc8004Decoder,
  "olas-service-registry-l2": olasServiceRegistryL2Decoder,
  "virtuals-agent-factory": virtualsAgentFactoryDecoder,
};

/**
 * Returns the registry's logs of a block from its receipts, for a block whose logs the node refuses.
 * The block is too full only if the node refuses both for their size, or does not know the second method, and still
 * answers small requests: rate limits use the same words. A timeout is a failure, which may pass.
 */
async function readFullBlock(of: {
  readonly client: RegistryClient;
  readonly registry: Address;
  readonly block: number;
  /** The node's answer when it was asked for the block's logs. */
  readonly refusal: NodeFailure;
}): Promise<RangeLogs> {
  const { client, registry, block, refusal } = of;
  try {
    const receipts = await client.blockReceipts(block);
    if (receipts === null) return new NodeFailure("node_behind", `no receipts of block ${block}`);
    const logs = z.array(logAnswer).safeParse(receipts.flatMap((receipt) => receipt.logs));
    if (!logs.success) return new NodeFailure("garbage", `malformed logs in receipts of block ${block}`);
    return logs.data.filter(({ address }) => address === registry);
  } catch (error) {
    if (!(error instanceof NodeFailure)) throw error;
    const isTooLarge = error.kind === "too_many_results" || error.kind === "method_missing";
    if (!isTooLarge || refusal.kind !== "too_many_results") return refusal;
    return (await isAnswering(client, block)) ? "too_full" : refusal;
  }
}

async function isAnswering({ header }: RegistryClient, block: number): Promise<boolean> {
  try {
    return (await header(block)) !== null;
  } catch (error) {
    if (error instanceof NodeFailure) return false;
    throw error;
  }
}
