import type { Address, Hex } from "viem";
import type { AsOf, OwnCall, WalletRows } from "../../../service/features/types.ts";

export const HOUR = 3_600;
export const DAY = 86_400;

/** Monday 2026-01-05 00:00 UTC. */
export const START = 1_767_571_200;

export const WALLET = account(1);

/** A call before it has a place in the chain. */
export type Step = {
  readonly at: number;
  readonly to?: Address | null;
  readonly selector?: Hex | null;
  readonly ok?: boolean;
  readonly fee?: bigint;
  readonly gasLimit?: bigint;
  readonly gasUsed?: bigint;
};

/** The address that ends in a number. */
export function account(number: number): Address {
  return `0x${number.toString(16).padStart(40, "0")}`;
}

/** Calls in the order of their times, one block each. */
export function callsOf(steps: readonly Step[]): readonly OwnCall[] {
  return steps
    .toSorted((a, b) => a.at - b.at)
    .map((step, position) => ({
      hash: `0x${(position + 1).toString(16).padStart(64, "0")}`,
      blockNumber: 100 + position,
      transactionIndex: 0,
      timestamp: step.at,
      to: step.to === undefined ? account(1000) : step.to,
      selector: step.selector === undefined ? "0x12345678" : step.selector,
      value: 0n,
      ok: step.ok ?? true,
      gasLimit: step.gasLimit ?? 100_000n,
      gasUsed: step.gasUsed ?? 70_000n,
      fee: step.fee ?? 70_000n * 1_000_000_000n,
    }));
}

/** Rows of a wallet whose whole history is known. */
export function rowsOf(calls: readonly OwnCall[], parts: Partial<WalletRows> = {}): WalletRows {
  return {
    chainId: 31337,
    wallet: WALLET,
    calls,
    sanctions: [],
    coverage: { fromBlock: 0, fromTimestamp: START, toBlock: 1_000_000, complete: true, sources: ["index"] },
    chainStartTimestamp: START,
    ...parts,
  };
}

/** The block that holds a time. */
export function asOfTime(timestamp: number): AsOf {
  return { blockNumber: 1_000_000, blockHash: `0x${"ab".repeat(32)}`, timestamp };
}

/** As of an hour after the last call. */
export function asOfLast(calls: readonly OwnCall[]): AsOf {
  return asOfTime((calls.at(-1)?.timestamp ?? START) + HOUR);
}

/** Deterministic numbers in [0, 1) from a seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
