/** Quotient of two integers rounded to the nearest integer, halves up; the divisor is positive. */
export function divideRound(dividend: number, divisor: number): number {
  return Math.floor((2 * dividend + divisor) / (2 * divisor));
}
