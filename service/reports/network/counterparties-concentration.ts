const WHOLE = 10_000;

/**
 * Herfindahl-Hirschman index of amounts: the sum of the squares of their shares in percent, 0 to 10,000, rounded; 10,000 is
 * one counterparty alone, 10,000 / n is n equal ones. Null where nothing is above zero.
 */
export function herfindahl(amounts: readonly number[]): number | null {
  // Shares of the largest: sums of huge amounts would lose what is small, not the other way round.
  const largest = amounts.reduce((most, amount) => Math.max(most, amount), 0);
  if (largest <= 0) return null;
  let sum = 0;
  let squares = 0;
  for (const amount of amounts) {
    if (amount <= 0) continue;
    const part = amount / largest;
    sum += part;
    squares += part * part;
  }
  return Math.round((WHOLE * squares) / (sum * sum));
}
