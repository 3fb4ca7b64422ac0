/** Chance that a member of the first group ranks above one of the second, ties counting half; null where a group is empty. */
export function areaUnderCurve(above: readonly number[], below: readonly number[]): number | null {
  if (above.length === 0 || below.length === 0) return null;
  const sorted = below.toSorted((a, b) => a - b);
  let wins = 0;
  for (const value of above) {
    const lower = countBelow(sorted, (other) => other < value);
    const notHigher = countBelow(sorted, (other) => other <= value);
    wins += (lower + notHigher) / 2;
  }
  return wins / (above.length * below.length);
}

export type Ranked = { readonly tier: number; readonly score: number };

/** Share of all pairs of different tiers in which the better, lower tier has the higher score, ties counting half; null without pairs. */
export function pairwiseOrder(ranked: readonly Ranked[]): number | null {
  const tiers = [...new Set(ranked.map(({ tier }) => tier))].sort((a, b) => a - b);
  const scoresOf = (tier: number) => ranked.filter((one) => one.tier === tier).map(({ score }) => score);
  let right = 0;
  let pairs = 0;
  for (const [position, better] of tiers.entries()) {
    for (const worse of tiers.slice(position + 1)) {
      const [above, below] = [scoresOf(better), scoresOf(worse)];
      const share = areaUnderCurve(above, below);
      if (share === null) continue;
      right += share * above.length * below.length;
      pairs += above.length * below.length;
    }
  }
  return pairs === 0 ? null : right / pairs;
}

/** A stretch of 20 points of the scale: from `from` to below `from` + 20, the last one up to 100 with it. */
export type Band = { readonly from: number; readonly share: number };

/** The 20-point band, of all that start at a whole point, that holds the greatest share of the scores; null without scores. */
export function worstBand(scores: readonly number[]): Band | null {
  if (scores.length === 0) return null;
  let worst: Band = { from: 0, share: 0 };
  for (let from = 0; from <= 80; from += 1) {
    const inside = scores.filter((score) => score >= from && (score < from + 20 || from === 80)).length;
    if (inside / scores.length > worst.share) worst = { from, share: inside / scores.length };
  }
  return worst;
}

/** Quantile of a share of 1 with linear interpolation between the ranks; null without values. */
export function quantile(values: readonly number[], share: number): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const low = sorted[Math.floor(place)];
  const high = sorted[Math.ceil(place)];
  if (low === undefined || high === undefined) return null;
  return low + (high - low) * (place - Math.floor(place));
}

/** Spearman's rank correlation of two lists of the same length, equal values sharing their mean rank; null where one is constant. */
export function rankCorrelation(one: readonly number[], other: readonly number[]): number | null {
  if (one.length !== other.length) throw new RangeError(`${one.length} values beside ${other.length}`);
  const [a, b] = [ranks(one), ranks(other)];
  const middle = (one.length + 1) / 2;
  let product = 0;
  let [squaresA, squaresB] = [0, 0];
  for (const [place, rankA] of a.entries()) {
    const [fromA, fromB] = [rankA - middle, (b[place] ?? middle) - middle];
    product += fromA * fromB;
    squaresA += fromA * fromA;
    squaresB += fromB * fromB;
  }
  return squaresA === 0 || squaresB === 0 ? null : product / Math.sqrt(squaresA * squaresB);
}

/** Ranks from 1 in the order of the values. */
function ranks(values: readonly number[]): readonly number[] {
  const sorted = values.toSorted((a, b) => a - b);
  return values.map((value) => {
    const lower = countBelow(sorted, (other) => other < value);
    const notHigher = countBelow(sorted, (other) => other <= value);
    return (lower + notHigher + 1) / 2;
  });
}

/** How many leading values of a sorted list satisfy a condition that none satisfies after one that does not. */
function countBelow(sorted: readonly number[], holds: (value: number) => boolean): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const value = sorted[middle];
    if (value !== undefined && holds(value)) low = middle + 1;
    else high = middle;
  }
  return low;
}
