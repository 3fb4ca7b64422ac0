import { type Hex, numberToHex } from "viem";
import type { JsonRpc } from "../json-rpc.ts";

/** An object of JSON-RPC; quantities are minimal hexadecimal. */
export type RpcObject = Readonly<Record<string, unknown>>;

/** A whole block, as a node answers it. */
export type ServedBlock = {
  /** With whole transactions. */
  readonly block: RpcObject & {
    readonly number: Hex;
    readonly hash: Hex;
    readonly timestamp: Hex;
    readonly transactions: readonly RpcObject[];
  };
  readonly receipts: readonly (RpcObject & { readonly logs: readonly RpcObject[] })[];
};

/** The chain that a history server serves. */
export type ServedChain = {
  /** Number of the newest final block. */
  readonly finalized: () => Promise<number>;
  /** Null beyond the head. */
  readonly read: (number: number) => Promise<ServedBlock | null>;
  /** Rising numbers of the only blocks that can name one of the accounts (lower-case); absent, each block is looked through. */
  readonly naming?: (
    accounts: ReadonlySet<string>,
    range: { readonly from: number; readonly to: number },
  ) => Iterable<number>;
  /** Answers of a node beside blocks; absent, it has no method for these. Addresses and hashes are lower-case. */
  readonly state?: {
    /** Number of the block that can hold a transaction. */
    readonly blockOf: (transactionHash: string) => number;
    /** Transactions that an account had sent by the end of a block. */
    readonly sentBy: (account: string, block: number) => number;
    readonly codeOf: (account: string) => Hex;
    /** Result of a contract's method at a block. */
    readonly call: (to: string, data: Hex, block: number) => Hex;
  };
};

/** A chain in memory, from its first block on; every block is final. */
export function chainOfBlocks(blocks: readonly ServedBlock[]): ServedChain {
  const first = Number(blocks[0]?.block.number ?? 0);
  return {
    finalized: async () => first + blocks.length - 1,
    read: async (number) => blocks[number - first] ?? null,
  };
}

/** The chain of a node with eth_getBlockReceipts; every block is final. */
export function chainOfNode(rpc: JsonRpc): ServedChain {
  return {
    finalized: async () => Number(await rpc.request("eth_blockNumber")),
    read: async (number) => {
      const place = numberToHex(number);
      const [block, receipts] = await rpc.batch([
        { method: "eth_getBlockByNumber", params: [place, true] },
        { method: "eth_getBlockReceipts", params: [place] },
      ]);
      if (block === null || receipts === null) return null;
      return { block, receipts } as ServedBlock;
    },
  };
}

/** Lower-case hexadecimal as of a filter, or nothing. */
export function hexOf(value: unknown): string | null {
  return typeof value === "string" ? value.toLowerCase() : null;
}

/** A filter's list of accepted values; null, as of a missing or null one, accepts every value. */
export type WantedValues = ReadonlySet<string> | null;

/** Reads a filter's value or list, in lower case. */
export function listOf(given: unknown): WantedValues {
  if (given === undefined || given === null) return null;
  return new Set([given].flat().flatMap((value) => hexOf(value) ?? []));
}

/** An empty list accepts nothing. */
export function matches(wanted: WantedValues, value: unknown): boolean {
  if (wanted === null) return true;
  const found = hexOf(value);
  return found !== null && wanted.has(found);
}
