import { divideRound, MICRO } from "./fixed-point.ts";
import type { Policy } from "./policy-shape.ts";
import type { FeatureLine, Pattern } from "./record.ts";
import { hundredths, integerPoints, type Points, plainLine } from "./score-dimension.ts";

/** What the total is made from; points are those of the unrounded dimensions. */
export type TotalParts = {
  readonly d1: Points;
  readonly d2: Points;
  readonly patterns: readonly Pattern[];
  /** Share of the own calls' weight that is credited; null without calls. */
  readonly creditedShare: number | null;
  readonly sanctioned: boolean;
};

/** The integer score, and the lines that lead to it: their contributions add up to 100 × the score. */
export type Total = { readonly score: number; readonly lines: readonly FeatureLine[] };

type Ledger = { points: Points; readonly lines: FeatureLine[] };

/** Weighted dimensions, then pattern effects, then caps, each a line of its own. */
export function scoreTotal(parts: TotalParts, policy: Policy): Total {
  const ledger = openLedger(parts, policy);
  applyEffects(ledger, parts.patterns, policy.patterns.floor);
  applyCaps(ledger, parts, policy);
  const score = integerPoints(ledger.points);
  const rounding = 100 * score - hundredths(ledger.points);
  if (rounding !== 0) ledger.lines.push(plainLine("AHS", "rounding", rounding));
  return { score, lines: ledger.lines };
}

function openLedger({ d1, d2 }: TotalParts, { dimensionPercent }: Policy): Ledger {
  const points = divideRound(dimensionPercent.D1 * d1 + dimensionPercent.D2 * d2, 100);
  const first = hundredths(divideRound(dimensionPercent.D1 * d1, 100));
  const lines = [
    dimensionLine("d1", { points: d1, percent: dimensionPercent.D1, contribution: first }),
    dimensionLine("d2", {
      points: d2,
      percent: dimensionPercent.D2,
      contribution: hundredths(points) - first,
    }),
  ];
  return { points, lines };
}

function dimensionLine(
  name: string,
  part: { readonly points: Points; readonly percent: number; readonly contribution: number },
): FeatureLine {
  const score = part.points / MICRO;
  const weight = part.percent / 100;
  return { ...plainLine("AHS", name, part.contribution), value: score, score, weight };
}

function applyEffects(ledger: Ledger, patterns: readonly Pattern[], floor: number): void {
  const start = ledger.points;
  for (const { name, effect, evidence } of patterns) {
    move(ledger, ledger.points + effect * MICRO, { name, reason: evidence });
  }
  const lowest = Math.max(0, start + floor * MICRO);
  if (ledger.points >= lowest) return;
  move(ledger, lowest, {
    name: "effects_floor",
    reason: `patterns together cost at most ${-floor} points, and no score is below 0`,
  });
}

function applyCaps(
  ledger: Ledger,
  { d1, d2, creditedShare, sanctioned }: TotalParts,
  { caps }: Policy,
): void {
  const weak = Math.min(d1, d2) + caps.weakLinkAbove * MICRO;
  cap(ledger, weak, {
    name: "weak_link",
    reason: `at most ${caps.weakLinkAbove} points above the worse dimension`,
  });
  if (creditedShare !== null && creditedShare < caps.unproven.creditedShareBelow) {
    cap(ledger, caps.unproven.cap * MICRO, {
      name: "unproven",
      reason: `less than ${100 * caps.unproven.creditedShareBelow} % of its activity is with independent parties`,
    });
  }
  if (sanctioned) cap(ledger, 0, { name: "sanctions", reason: "the wallet is on a sanctions list" });
}

function cap(ledger: Ledger, limit: Points, line: { readonly name: string; readonly reason: string }): void {
  if (ledger.points > limit) move(ledger, limit, line);
}

/** Moves the total; hundredths are taken from the totals before and after, so that no rounding is lost between lines. */
function move(ledger: Ledger, to: Points, line: { readonly name: string; readonly reason: string }): void {
  const contribution = hundredths(to) - hundredths(ledger.points);
  ledger.points = to;
  if (contribution !== 0) ledger.lines.push(plainLine("AHS", line.name, contribution, line.reason));
}
