/** Scores of a case's ballots in the order of the roles, null for an abstention, and what is right for the case. */
export type Voted = {
  readonly truth: string;
  readonly scores: readonly (number | null)[];
  /** Index of the ballot that is of another model. */
  readonly second?: number;
};

/**
 * Mean correlation of two roles' errors, without a second model. An error is a score minus that role's mean over the cases with the same
 * truth: ballots that agree because all are right do not count as correlated. Null if no two roles vary.
 */
export function withinModel(cases: readonly Voted[]): number | null {
  return meanCorrelation(cases, (one, other, second) => one !== second && other !== second);
}

/** The same of the second model's errors with each other role's; null without a second model. */
export function acrossModels(cases: readonly Voted[]): number | null {
  return meanCorrelation(cases, (one, other, second) => one === second || other === second);
}

function meanCorrelation(
  cases: readonly Voted[],
  isCounted: (one: number, other: number, second: number | undefined) => boolean,
): number | null {
  const second = cases.find((one) => one.second !== undefined)?.second;
  const roles = cases[0]?.scores.length ?? 0;
  const errors = Array.from({ length: roles }, (_, role) => errorsOf(cases, role));
  const pairs = errors.flatMap((one, index) =>
    errors
      .slice(index + 1)
      .flatMap((other, offset) =>
        isCounted(index, index + 1 + offset, second) ? [correlate(one, other)] : [],
      ),
  );
  const known = pairs.filter((correlation) => correlation !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
}

/** A role's scores minus their mean over the cases with the same truth. */
function errorsOf(cases: readonly Voted[], role: number): readonly (number | null)[] {
  const sums = new Map<string, { total: number; count: number }>();
  for (const { truth, scores } of cases) {
    const score = scores[role] ?? null;
    if (score === null) continue;
    const { total, count } = sums.get(truth) ?? { total: 0, count: 0 };
    sums.set(truth, { total: total + score, count: count + 1 });
  }
  return cases.map(({ truth, scores }) => {
    const score = scores[role] ?? null;
    const sum = sums.get(truth);
    return score === null || sum === undefined ? null : score - sum.total / sum.count;
  });
}

/** Pearson's correlation over the cases that both have; null where one is constant. */
function correlate(one: readonly (number | null)[], other: readonly (number | null)[]): number | null {
  let [count, sumOne, sumOther] = [0, 0, 0];
  let [squaresOne, squaresOther, products] = [0, 0, 0];
  for (const [index, x] of one.entries()) {
    const y = other[index] ?? null;
    if (x === null || y === null) continue;
    count += 1;
    sumOne += x;
    sumOther += y;
    squaresOne += x * x;
    squaresOther += y * y;
    products += x * y;
  }
  if (count < 2) return null;
  const [varianceOne, varianceOther] = [
    squaresOne - sumOne ** 2 / count,
    squaresOther - sumOther ** 2 / count,
  ];
  // A constant column leaves a rounding error.
  if (varianceOne < 1e-9 || varianceOther < 1e-9) return null;
  return (products - (sumOne * sumOther) / count) / Math.sqrt(varianceOne * varianceOther);
}
