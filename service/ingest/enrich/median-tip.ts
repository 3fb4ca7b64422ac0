/**
 * Median, in wei per gas, of what transactions paid above the base fee; of an even number the rounded-down mean of the two
 * in the middle. Those that paid less than the base fee bid nothing (deposits of a rollup) and are left out; null without
 * any other.
 */
export function medianTip(gasPrices: readonly bigint[], baseFee: bigint): bigint | null {
  const tips = gasPrices.filter((price) => price >= baseFee).map((price) => price - baseFee);
  tips.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const upper = tips[Math.floor(tips.length / 2)];
  const lower = tips[Math.floor((tips.length - 1) / 2)];
  return upper === undefined || lower === undefined ? null : (lower + upper) / 2n;
}
