import { type Address, getAddress, type Hex, serializeTransaction } from "viem";
import type { Fees } from "../../sender/send-policy.ts";
import type { Recovery } from "./open-recovery.ts";
import type { RecoveryNode } from "./recovery-node.ts";

/** An EIP-1559 transaction that nobody has signed, all of it decided. */
export type UnsignedTransaction = {
  readonly type: "eip1559";
  readonly chainId: number;
  readonly nonce: number;
  /** Null for a contract creation. */
  readonly to: Address | null;
  readonly data: Hex;
  /** Wei. */
  readonly value: bigint;
  /** Units. */
  readonly gas: bigint;
} & Fees;

const GAS_MARGIN_PERCENT = 25n;

/** How the gas limit of an offered transaction comes about, in words. */
export const GAS_FORMULA = `eth_estimateGas at the block, plus ${GAS_MARGIN_PERCENT} %, rounded up, at most the block's gas limit`;

/** Gas limit for a call that was estimated so: what others do meanwhile may make it dearer. */
export function gasLimitOf(estimate: bigint, blockGasLimit: bigint): bigint {
  const wanted = (estimate * (100n + GAS_MARGIN_PERCENT) + 99n) / 100n;
  return wanted < blockGasLimit ? wanted : blockGasLimit;
}

/** The EIP-2718 envelope that is to be signed: 0x02 and the RLP of its fields without a signature. */
export function serializeUnsigned({ to, ...transaction }: UnsignedTransaction): Hex {
  return serializeTransaction({ ...transaction, ...(to === null ? {} : { to: getAddress(to) }) });
}

/** Wei that it may cost at the most: value, all its gas at its highest price, and what a rollup asks for posting it. */
export function highestCost(
  { value, gas, maxFeePerGas }: Pick<UnsignedTransaction, "value" | "gas" | "maxFeePerGas">,
  l1Fee: bigint,
): bigint {
  return value + gas * maxFeePerGas + l1Fee;
}

/** Every rehearsal that finds a fault is followed by a plan without it, until this many were made. */
export const MAX_REHEARSALS = 4;

/**
 * Simulates transactions of the wallet one after the other at the block of the recovery: for each why it fails then, null
 * where it passes; null where the node cannot do that. A lone one was simulated before it was planned. Throws a NodeFailure.
 */
export async function rehearseInOrder(
  node: RecoveryNode,
  { wallet, block }: Pick<Recovery, "wallet" | "block">,
  transactions: readonly UnsignedTransaction[],
): Promise<readonly (string | null)[] | null> {
  if (transactions.length < 2) return transactions.map(() => null);
  return node.rehearse(
    transactions.map(({ to, data, value, gas }) => ({ from: wallet, to, data, value, gas })),
    block,
  );
}
