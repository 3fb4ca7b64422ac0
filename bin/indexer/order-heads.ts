import type { Hex } from "viem";

type Head = { readonly number: Hex; readonly hash: Hex; readonly parentHash: Hex };

type Subscription<Block> = {
  readonly onBlock: (block: Block) => Promise<boolean>;
  readonly onError: (error: Error) => void;
};

type HeadRpc = { readonly subscribe: (subscription: Subscription<Head>) => void };

/** Blocks whose hashes are remembered: more than polls can overtake each other by, and than any chain of ours takes to finalize. */
const REMEMBERED_BLOCKS = 256;

/**
 * Keeps late answers of a slow node from looking like a reorg. Ponder polls the head without waiting for the poll before, and takes
 * every head that is not higher than the last for a reorg, which rewrites its tables.
 */
export function withHeadsInOrder<Rpc extends object>(rpc: Rpc): Rpc {
  // Ponder's type of an Rpc is not exported.
  const { subscribe } = rpc as unknown as HeadRpc;
  const ordered: HeadRpc["subscribe"] = ({ onBlock, onError }) => {
    const isNews = createHeadOrder();
    subscribe({ onBlock: async (head) => isNews(head) && onBlock(head), onError });
  };
  return { ...rpc, subscribe: ordered };
}

/**
 * Says of each head that a node answers, in the order of arrival, whether it is passed on: one that is no lower, and one that is lower but
 * of another chain, once a second answer in a row confirms that chain.
 */
export function createHeadOrder(): (head: Head) => boolean {
  let highest = -1;
  let unconfirmed: Hex | null = null;
  const hashes = new Map<number, Hex>();
  return (head) => {
    const number = Number(head.number);
    if (number <= highest) {
      if (hashes.get(number) === head.hash) {
        unconfirmed = null;
        // Having undone a reorg, Ponder takes in the head only when it is answered again.
        return number === highest;
      }
      if (unconfirmed !== head.hash && unconfirmed !== head.parentHash) {
        unconfirmed = head.hash;
        return false;
      }
      for (const known of hashes.keys()) if (known > number) hashes.delete(known);
    }
    unconfirmed = null;
    highest = number;
    hashes.set(number, head.hash).set(number - 1, head.parentHash);
    for (const known of hashes.keys()) if (known < number - REMEMBERED_BLOCKS) hashes.delete(known);
    return true;
  };
}
