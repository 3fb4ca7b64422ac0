import { hasRoom } from "../db/day-budget.ts";
import type { Backoff } from "../db/run-loop.ts";

/** Gas of a token's transfer by EIP-3009, twice over: a contract that pays may burn as much as it likes of ours to agree to it. */
export const SETTLEMENT_MAX_GAS = 200_000n;

/** Gas of a common settlement by EIP-3009, a contract's check of its signature included, half over. */
export const NEWCOMER_MAX_GAS = 120_000n;

/**
 * Parts of a day's gas for payments, in per cent, up to which each kind of call may fill it. A contract that pays can agree in every
 * simulation and refuse in the transaction, at no cost of its own; so who never paid, or made more than a tenth of what it paid for revert, fills less.
 */
export const PAYMENT_CEILINGS = {
  unproven: 20,
  newcomer: 70,
  payer: 80,
  laterStep: 90,
  worthyStep: 100,
} as const;

export type PaymentCall = keyof typeof PAYMENT_CEILINGS;

/** Gas of one payer's settlements: of those that paid, of those that reverted, and of today's. */
export type PayerGas = { readonly paid: bigint; readonly reverted: bigint; readonly today: bigint };

/** Gas that a payer may make revert for each gas that it paid for, in per cent. */
export const REVERTED_PERCENT = 10n;

/** Kind of a payer's settlement of so much gas. */
export function kindOfSettlement({ paid, reverted }: PayerGas, gas: bigint): PaymentCall {
  if (reverted * 100n > paid * REVERTED_PERCENT) return "unproven";
  if (gas > NEWCOMER_MAX_GAS && gas > paid) return "unproven";
  return paid > 0n ? "payer" : "newcomer";
}

/** Whether a day has gas for a call of a kind. No payer has more of it than it leaves to the others. */
export function hasGasLeft(
  kind: PaymentCall,
  {
    gas,
    dailyGas,
    spent,
    payer,
  }: {
    readonly gas: bigint;
    readonly dailyGas: bigint;
    readonly spent: bigint;
    /** Null for later steps, which take no payer's money. */
    readonly payer: PayerGas | null;
  },
): boolean {
  const ceiling = (Number(dailyGas) * PAYMENT_CEILINGS[kind]) / 100;
  return hasRoom({ ceiling, used: Number(spent), own: Number(payer?.today ?? 0n) }, Number(gas));
}

/**
 * Gas of ending a job and of recording a HOLD, two thirds over: escrows read the whole description, and one that just fits into a
 * transaction (EIP-7825, about 23 KB) makes 1.8 and 1.7 million of it; they also call tokens and hooks that their clients chose.
 */
const VERDICT_MAX_GAS = { settle: 3_000_000n, hold: 2_800_000n } as const;

/** Gas of leaving feedback or a validation, twice over: their registries can be upgraded by their owner. */
const FEEDBACK_MAX_GAS = 600_000n;

/** Purposes that share a day's gas. */
type GasBudget = { readonly purposes: readonly string[]; readonly dailyGas: bigint };

/** About 140,000 payments, and 1,500 verdicts of common size. */
export const DEFAULT_DAILY_GAS = { x402: 12_000_000_000n, verdicts: 500_000_000n } as const;

/** Two orders above what rollups have asked for, and a bound on what a day's gas can cost; where the deployment names none. */
const DEFAULT_MAX_FEE_GWEI = 500;
const GWEI = 1_000_000_000n;

export type SenderPolicy = {
  readonly finalityBlocks: number;
  /** Milliseconds without being mined after which a transaction counts as stuck. */
  readonly stuckAfterMs: number;
  /** Pause between two passes while a transaction is under way. */
  readonly pollMs: number;
  /** Most transactions with a nonce that are not mined yet. */
  readonly maxInFlight: number;
  /** Added to the estimated gas: state may change before the transaction is mined. */
  readonly gasMarginPercent: number;
  /** Most gas that a transaction may be estimated at, by its purpose; others have no bound. */
  readonly maxGas: ReadonlyMap<string, bigint>;
  /** Gas that purposes may use per UTC day; others have no bound here. */
  readonly budgets: readonly GasBudget[];
  /** Most that is ever offered for a unit of gas, in wei. */
  readonly maxFeePerGasCeiling: bigint;
  /** First and longest pause after a failure; it doubles in between. */
  readonly retryMs: Backoff;
};

export function gasBudgets(dailyGas: Readonly<Record<"x402" | "verdicts", bigint>>): readonly GasBudget[] {
  return [
    { purposes: ["x402"], dailyGas: dailyGas.x402 },
    { purposes: Object.keys(VERDICT_MAX_GAS), dailyGas: dailyGas.verdicts },
  ];
}

/** Policy of a chain: finality and highest fee differ from one to the other. */
export function senderPolicy(
  chain: { finalityBlocks: number; maxFeePerGasGwei?: number | undefined },
  budgets: readonly GasBudget[] = gasBudgets(DEFAULT_DAILY_GAS),
): SenderPolicy {
  return {
    finalityBlocks: chain.finalityBlocks,
    stuckAfterMs: 15_000,
    pollMs: 250,
    maxInFlight: 16,
    gasMarginPercent: 25,
    maxGas: new Map([
      ["x402", SETTLEMENT_MAX_GAS],
      ["feedback", FEEDBACK_MAX_GAS],
      ["validation", FEEDBACK_MAX_GAS],
      ...Object.entries(VERDICT_MAX_GAS),
    ]),
    budgets,
    maxFeePerGasCeiling: BigInt(chain.maxFeePerGasGwei ?? DEFAULT_MAX_FEE_GWEI) * GWEI,
    retryMs: { first: 1_000, longest: 15_000 },
  };
}

export type Fees = { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint };

/** Nodes replace a pending transaction for 10 % more (geth) or 12.5 % more (others): the larger one suits all. */
const REPLACEMENT_PERMILLE = 1125n;

/** Fees for a new transaction: room for the base fee to double, never above the ceiling. */
export function suggestFees(
  market: { baseFeePerGas: bigint; priorityFeePerGas: bigint },
  ceiling: bigint,
): Fees {
  const maxFeePerGas = smaller(2n * market.baseFeePerGas + market.priorityFeePerGas, ceiling);
  return { maxFeePerGas, maxPriorityFeePerGas: smaller(market.priorityFeePerGas, maxFeePerGas) };
}

/** Fees that replace a stuck transaction: both at least 12.5 % up; null when the ceiling leaves no room for that. */
export function bumpFees(previous: Fees, suggested: Fees, ceiling: bigint): Fees | null {
  const maxFeePerGas = larger(raised(previous.maxFeePerGas), suggested.maxFeePerGas);
  const maxPriorityFeePerGas = larger(raised(previous.maxPriorityFeePerGas), suggested.maxPriorityFeePerGas);
  if (maxFeePerGas > ceiling) return null;
  return { maxFeePerGas: larger(maxFeePerGas, maxPriorityFeePerGas), maxPriorityFeePerGas };
}

function raised(fee: bigint): bigint {
  return larger((fee * REPLACEMENT_PERMILLE + 999n) / 1000n, fee + 1n);
}

const larger = (a: bigint, b: bigint) => (a > b ? a : b);
const smaller = (a: bigint, b: bigint) => (a < b ? a : b);
