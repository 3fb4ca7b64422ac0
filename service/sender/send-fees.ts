/** Wei per gas, as in EIP-1559. */
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

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
