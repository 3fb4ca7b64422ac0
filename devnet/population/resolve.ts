import type { Address, Hex } from "viem";
import { baseFeeAt } from "./base-fee.ts";
import type { PlannedBlock } from "./blocks.ts";
import type { Ids, PlannedCall } from "./plan-types.ts";

/** A transaction ready to be sent. */
export type ReadyTransaction = Pick<PlannedCall, "from" | "to" | "value" | "gasLimit" | "outcome"> & {
  readonly data: Hex;
  readonly nonce: number;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
};

export type ReadyBlock = {
  /** Unix seconds. */
  readonly time: number;
  readonly baseFee: bigint;
  readonly transactions: readonly ReadyTransaction[];
};

/** Everyone in a block offers the same at most: a node that orders by offers then keeps the order of sending. */
const MOST_TIP_WEI = 5_000_000_000n;

/** Ids of the registry start at 0, those of the escrow at 1. */
const FIRST_ID = { agent: 0n, job: 1n } as const;

/** Gives calls their nonces (of senders who have sent before from `nonces` on), fees, and ids of the agents and jobs they name. */
export async function resolveBlocks(
  blocks: readonly PlannedBlock[],
  { seed, nonces }: { readonly seed: string; readonly nonces: ReadonlyMap<Address, number> },
): Promise<ReadyBlock[]> {
  const next = new Map(nonces);
  const ids = idBook();
  const ready: ReadyBlock[] = [];
  for (const block of blocks) {
    const baseFee = baseFeeAt(seed, block.time);
    const transactions: ReadyTransaction[] = [];
    for (const call of block.calls) {
      const nonce = next.get(call.from) ?? 0;
      next.set(call.from, nonce + 1);
      const data = await dataOf(call, { ...ids, blockTime: block.time });
      transactions.push({ ...sendable(call, baseFee), data, nonce });
      ids.note(call);
    }
    ready.push({ time: block.time, baseFee, transactions });
  }
  return ready;
}

/** The calldata of a call, once the ids that it names exist. */
export function dataOf(call: PlannedCall, ids: Ids): Hex | Promise<Hex> {
  return typeof call.data === "function" ? call.data(ids) : call.data;
}

/** A call with the fees that it offers over a base fee. */
export function sendable(call: PlannedCall, baseFee: bigint): Omit<ReadyTransaction, "data" | "nonce"> {
  const { from, to, value, gasLimit, tipWei: maxPriorityFeePerGas, outcome } = call;
  const maxFeePerGas = 2n * baseFee + MOST_TIP_WEI;
  return { from, to, value, gasLimit, maxFeePerGas, maxPriorityFeePerGas, outcome };
}

function idBook(): Omit<Ids, "blockTime"> & { note(call: PlannedCall): void } {
  const ids = new Map<string, bigint>();
  const operations = new Map<Address, bigint>();
  const next = { ...FIRST_ID } as { agent: bigint; job: bigint };
  return {
    idOf: (key) => {
      const id = ids.get(key);
      if (id === undefined) throw new Error(`nothing with the key ${key} was created before`);
      return id;
    },
    nextOperation: (account) => {
      const nonce = operations.get(account) ?? 0n;
      operations.set(account, nonce + 1n);
      return nonce;
    },
    note: ({ creates }) => {
      if (creates === null) return;
      ids.set(creates.key, next[creates.kind]);
      next[creates.kind] += 1n;
    },
  };
}
