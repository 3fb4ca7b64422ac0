import { CORRELATION } from "./policy.ts";

/**
 * Independent votes that ballots are worth, by the number of each model family: 1ᵀR⁻¹1 of their correlation matrix R. For one family it is
 * n / (1 + (n − 1) ρ) (Kish, 1965). A further ballot never lowers it. A negative correlation counts as 0.
 */
export function effectiveVotes(
  families: readonly number[],
  correlation: { readonly sameModel: number; readonly otherModel: number } = CORRELATION,
): number {
  const [same, other] = [Math.max(0, correlation.sameModel), Math.max(0, correlation.otherModel)];
  // Ballots of one family have the same weight in the solution of R w = 1.
  const sum = families.reduce((total, size) => total + size / (1 + (size - 1) * same - size * other), 0);
  return sum / (1 + other * sum);
}
