import { type Address, type Hex, keccak256, sliceHex, stringToHex, toEventSelector } from "viem";

/** A log as the node gives it. */
export type NodeLog = { readonly address: Address; readonly topics: readonly Hex[]; readonly data: Hex };

/** Ponder's node client, behind its limiter and its retries. */
export type NodeRpc = {
  request: (
    request: { readonly method: string; readonly params?: unknown },
    context?: unknown,
  ) => Promise<unknown>;
};

const METADATA_SET = toEventSelector("MetadataSet(uint256,string,string,bytes)");
const REGISTERED = toEventSelector("Registered(uint256,string,address)");
const SCORE_REQUESTED = toEventSelector("ScoreRequested(address,address,uint256)");
const AGENT_WALLET_KEY = keccak256(stringToHex("agentWallet"));

/** Where the data of an agentWallet log has the length of its value, and the value. */
const VALUE_LENGTH = [128, 160] as const;
const VALUE = [160, 180] as const;

/**
 * Has Ponder find new wallets in those logs alone that may name one. Its factories match by the event and cannot filter by an
 * indexed key, and they keep for ever what they found. So logs of other metadata, in which any account may name any contract,
 * are empty for every reader; logs that name an unfollowed address are empty for the factories, and whole for the handlers.
 */
export function withFollowedLogs<Rpc extends NodeRpc>(
  rpc: Rpc,
  followed: {
    identityRegistry: Address;
    /** Addresses in lower case that are not followed, whatever names them. */
    unfollowed: readonly string[];
  },
): Rpc {
  const registry = followed.identityRegistry.toLowerCase();
  const unfollowed = new Set(followed.unfollowed);
  const request = async (asked: Parameters<NodeRpc["request"]>[0], context?: unknown): Promise<unknown> => {
    const answer = await rpc.request(asked, context);
    if (asked.method !== "eth_getLogs" || !Array.isArray(answer)) return answer;
    const isForFactory = asksForOneEvent(asked.params);
    return (answer as NodeLog[]).map((log) => {
      if (isOtherMetadata(log, registry)) return emptied(log);
      const named = isForFactory ? namedWallet(log) : null;
      return named !== null && unfollowed.has(named) ? emptied(log) : log;
    });
  };
  return { ...rpc, request };
}

/** Of a block's range Ponder asks for the logs of a factory by themselves, and for those of handlers by a list of events. */
function asksForOneEvent(params: unknown): boolean {
  const [filter] = params as [{ readonly topics?: readonly unknown[] }?];
  return typeof filter?.topics?.[0] === "string";
}

function isOtherMetadata(log: NodeLog, registry: string): boolean {
  if (log.topics[0]?.toLowerCase() !== METADATA_SET || log.address.toLowerCase() !== registry) return false;
  if (log.topics[2]?.toLowerCase() !== AGENT_WALLET_KEY) return true;
  const length = BigInt(partOf(log.data, VALUE_LENGTH) ?? 1n);
  return length !== 0n && length !== 20n;
}

/** The address that a log has followed; null for one that has none. */
function namedWallet({ topics, data }: NodeLog): string | null {
  switch (topics[0]?.toLowerCase()) {
    case REGISTERED:
      return addressIn(topics[2]);
    case SCORE_REQUESTED:
      return addressIn(topics[1]);
    case METADATA_SET:
      return partOf(data, VALUE)?.toLowerCase() ?? null;
    default:
      return null;
  }
}

function addressIn(topic: Hex | undefined): string | null {
  return topic === undefined ? null : sliceHex(topic, 12).toLowerCase();
}

function partOf(data: Hex, [from, to]: readonly [number, number]): Hex | null {
  return data.length < 2 + 2 * to ? null : sliceHex(data, from, to);
}

/** It keeps its place: Ponder takes a block whose logs are all gone for a fault of the node, and asks again for ever. */
function emptied(log: NodeLog): NodeLog {
  return { ...log, topics: [], data: "0x" };
}
