import { type Hex, numberToHex } from "viem";
import type { NodeRpc } from "./followed-logs.ts";

export type Head = { readonly number: Hex; readonly hash: Hex; readonly parentHash: Hex };

type Subscription = {
  readonly onBlock: (head: Head) => Promise<boolean>;
  readonly onError: (error: Error) => void;
};

/** Blocks whose hashes are remembered: polls overtake each other by fewer. */
const REMEMBERED_BLOCKS = 256;

/**
 * Keeps late answers of a slow node from looking like a reorg. Ponder polls the head without waiting for the poll before, and takes
 * every head that is not higher than the last for a reorg, which rewrites its tables. A lower head is passed on only if the node has
 * another block at the height of the last one.
 */
export function withHeadsInOrder<Rpc extends NodeRpc>(rpc: Rpc): Rpc {
  // Ponder does not export its type of an Rpc.
  const { subscribe } = rpc as unknown as { readonly subscribe: (subscription: Subscription) => void };
  const hashAt = async (number: number): Promise<Hex | null> => {
    const asked = { method: "eth_getBlockByNumber", params: [numberToHex(number), false] };
    // A node that fails or has no such block proves no reorg; the next poll asks again.
    const block = await rpc.request(asked).catch(() => null);
    return (block as { readonly hash: Hex } | null)?.hash ?? null;
  };
  const ordered = ({ onBlock, onError }: Subscription): void => {
    const isNews = createHeadOrder(hashAt);
    subscribe({ onBlock: async (head) => (await isNews(head)) && onBlock(head), onError });
  };
  return { ...rpc, subscribe: ordered };
}

/** Decides for each head, in the order of arrival, whether it is passed on. `hashAt` returns the node's hash at a height, null if unknown. */
export function createHeadOrder(
  hashAt: (number: number) => Promise<Hex | null>,
): (head: Head) => Promise<boolean> {
  let newest: { readonly number: number; readonly hash: Hex } | null = null;
  const hashes = new Map<number, Hex>();
  return async (head) => {
    const number = Number(head.number);
    const before = newest;
    if (before !== null && number <= before.number) {
      // Having undone a reorg, Ponder takes in the head only when it is answered again.
      if (hashes.get(number) === head.hash) return number === before.number;
      const canonical = await hashAt(before.number);
      if (canonical === null || canonical === before.hash || newest !== before) return false;
      for (const known of hashes.keys()) if (known > number) hashes.delete(known);
    }
    newest = { number, hash: head.hash };
    hashes.set(number, head.hash).set(number - 1, head.parentHash);
    for (const known of hashes.keys()) if (known < number - REMEMBERED_BLOCKS) hashes.delete(known);
    return true;
  };
}
