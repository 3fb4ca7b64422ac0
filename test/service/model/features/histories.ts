import type { Address, Hex } from "viem";
import { addressesOf } from "../../../../service/model/features/describe-counterparties.ts";
import type {
  AsOf,
  CallEffect,
  CounterpartyFact,
  OwnCall,
  TokenList,
  TokenMove,
  WalletRows,
} from "../../../../service/model/features/types.ts";

export const HOUR = 3_600;
export const DAY = 86_400;

/** Monday 2026-01-05 00:00 UTC. */
export const START = 1_767_571_200;

export const GWEI = 1_000_000_000n;

export const WALLET = account(1);

/** A dollar each, six decimals. */
export const USDC = account(0xc0);

/** Listed without a price, eighteen decimals. */
export const UNPRICED = account(0xc1);

/** Selector of ERC-20 transfer. */
export const TRANSFER = "0xa9059cbb";

/** A coin of 2,000 dollars, and the two listed tokens. */
export const TOKENS: TokenList = {
  native: { symbol: "ETH", decimals: 18, prices: [[0, 2_000_000_000]] },
  tokens: [
    { address: USDC, symbol: "USDC", decimals: 6, prices: [[0, 1_000_000]] },
    { address: UNPRICED, symbol: "LST", decimals: 18, prices: [] },
  ],
};

/** A call before it has a place in the chain. */
export type Step = {
  readonly at: number;
  /** Of an execution of a smart account more than 0, which it is for a transaction. */
  readonly position?: number;
  readonly to?: Address | null;
  readonly selector?: Hex | null;
  readonly ok?: boolean;
  readonly value?: bigint;
  readonly fee?: bigint;
  readonly gasLimit?: bigint;
  readonly gasUsed?: bigint;
  /** Wei per gas. */
  readonly gasPrice?: bigint;
  readonly recipient?: Address;
  readonly amount?: bigint;
  /** False for a call whose receipt was not read. */
  readonly read?: boolean;
  readonly marketPrice?: bigint | null;
  readonly effect?: CallEffect;
  readonly emitters?: readonly Address[];
  readonly moves?: readonly TokenMove[];
};

/** The address that ends in a number. */
export function account(number: number): Address {
  return `0x${number.toString(16).padStart(40, "0")}`;
}

/**
 * Calls in the order of their times, one block each.
 * By default they succeed, have an effect and pay the market's price.
 */
export function callsOf(steps: readonly Step[]): readonly OwnCall[] {
  return steps.toSorted((a, b) => a.at - b.at).map(callOf);
}

/** A payment of so many millionths of a dollar in USDC. */
export function payment(at: number, recipient: Address, microUsd: bigint): Step {
  return {
    at,
    to: USDC,
    selector: TRANSFER,
    recipient,
    amount: microUsd,
    effect: "transfer",
    emitters: [USDC],
    moves: [{ token: USDC, amount: -microUsd }],
  };
}

/** Rows of a wallet whose whole history is known, and all of whose counterparties are established and much used. */
export function rowsOf(calls: readonly OwnCall[], parts: Partial<WalletRows> = {}): WalletRows {
  return {
    chainId: 31337,
    wallet: WALLET,
    calls,
    counterparties: [...addressesOf(calls, parts.approvals ?? [], parts.delegation)].map((one) => fact(one)),
    approvals: [],
    delegation: { to: null },
    tokens: TOKENS,
    servicesUpAt: null,
    sanctions: [],
    coverage: { fromBlock: 0, fromTimestamp: START, toBlock: 1_000_000, complete: true, sources: ["index"] },
    chainStartTimestamp: START,
    ...parts,
  };
}

/** By default, an account that is a year old and has thirty users. */
export function fact(address: Address, parts: Partial<CounterpartyFact> = {}): CounterpartyFact {
  return {
    address,
    ownerLink: null,
    hasCode: true,
    existedAt: START - 365 * DAY,
    fundedFromOutside: true,
    firstContactAt: START,
    outsideUsers: 30,
    flag: null,
    ...parts,
  };
}

/** The rows' counterparties with other facts for some of them. */
export function withFacts(
  rows: WalletRows,
  facts: ReadonlyMap<Address, Partial<CounterpartyFact>>,
): WalletRows {
  return {
    ...rows,
    counterparties: rows.counterparties.map((known) => ({ ...known, ...facts.get(known.address) })),
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

function callOf(step: Step, position: number): OwnCall {
  const { gasUsed = 70_000n, gasPrice = GWEI } = step;
  return {
    hash: `0x${(position + 1).toString(16).padStart(64, "0")}`,
    blockNumber: 100 + position,
    transactionIndex: 0,
    position: step.position ?? 0,
    timestamp: step.at,
    to: step.to === undefined ? account(1000) : step.to,
    selector: step.selector === undefined ? "0x12345678" : step.selector,
    value: step.value ?? 0n,
    ok: step.ok ?? true,
    gasLimit: step.gasLimit ?? 100_000n,
    gasUsed,
    fee: step.fee ?? gasUsed * gasPrice,
    gasPrice,
    recipient: step.recipient ?? null,
    amount: step.amount ?? null,
    receipt: step.read === false ? null : receiptOf(step),
  };
}

function receiptOf({ marketPrice = GWEI, effect = "other", emitters = [], moves = [] }: Step) {
  return { marketPrice, effect, emitters, moves };
}
