import type { Random } from "../../devnet/population/random.ts";
import { hashText } from "../../service/verification/panel/hashes.ts";
import {
  type Domain,
  MONEY,
  THRESHOLD_HUNDREDTHS,
  THRESHOLDS,
  type Thresholds,
  VOTING,
} from "../../service/verification/panel/policy.ts";
import { GENERATOR_ROLES } from "../../service/verification/panel/types.ts";
import type { VerdictRow } from "./case-row.ts";
import { bootstrap, type Estimate } from "./interval.ts";
import { measureVerdicts, type VerdictMeasures } from "./panel-measures.ts";
import type { RecordedCase } from "./recorded-case.ts";
import { type ReplayedCase, replay } from "./replay.ts";

/** Costs of wrong verdicts and of HOLD, in any unit. A right verdict costs nothing. */
export type Costs = { readonly falseAllow: number; readonly falseReject: number; readonly hold: number };

/** A wrong output let through costs a client the price of the work; a HOLD costs both sides time. */
export const DEFAULT_COSTS: Costs = { falseAllow: 10, falseReject: 4, hold: 1 };

/** One half of the cases by the thresholds in force and by the chosen ones. */
type Half = Readonly<Record<"now" | "chosen", VerdictMeasures & { readonly cost: Estimate }>>;

export type Fit = {
  readonly costs: Costs;
  readonly thresholds: readonly { readonly name: string; readonly now: number; readonly chosen: number }[];
  /** The half that the thresholds were chosen on: too favourable. */
  readonly fitted: Half;
  /** The other half, which no choice has seen. */
  readonly reported: Half;
  /** Cost of the reported half by the chosen thresholds minus that by those in force, case by case. */
  readonly difference: Estimate;
};

/** One threshold, with the values that are tried. */
type Knob = {
  readonly name: string;
  readonly values: readonly number[];
  readonly read: (thresholds: Thresholds) => number;
  readonly write: (thresholds: Thresholds, value: number) => Thresholds;
};

// Object.keys returns plain strings.
const DOMAINS = Object.keys(THRESHOLD_HUNDREDTHS) as Domain[];

const KNOBS: readonly Knob[] = [
  ...DOMAINS.map((domain) => ({
    name: `confidence, ${domain}`,
    values: steps(40, 95),
    read: ({ confidence }: Thresholds) => confidence[domain],
    write: (all: Thresholds, value: number) => ({
      ...all,
      confidence: { ...all.confidence, [domain]: value },
    }),
  })),
  knob("allowFrom", steps(50, 95)),
  knob("rejectBelow", steps(5, 50)),
  knob("rejectionMargin", steps(0, 25)),
  knob("rejectionMarginWithoutScore", steps(0, 25)),
  knob("moneyVotes", [VOTING.majority, GENERATOR_ROLES.length]),
  // Half a vote and the one in force: without the rule, and with it.
  knob("effectiveVotes", [50, MONEY.effectiveVotesHundredths]),
];

/** No fit needed more on any recording; the bound is for one that circles. */
const MAX_ROUNDS = 10;

/**
 * Chooses thresholds with the lowest cost on one half of the cases and measures them on the other. The hash of seed and id decides the
 * half, so that all recordings of a case are in the same. Each threshold in turn takes its best value until none changes; equal costs keep
 * the value nearest to the one in force. Throws if a half has fewer than two cases.
 */
export function fitThresholds(
  recorded: readonly RecordedCase[],
  { costs, seed, random }: { readonly costs: Costs; readonly seed: string; readonly random: Random },
): Fit {
  const [fitted, reported] = [true, false].map((isFitted) =>
    recorded.filter(({ id }) => isInFirstHalf(id, seed) === isFitted),
  ) as [RecordedCase[], RecordedCase[]];
  if (fitted.length < 2 || reported.length < 2) {
    throw new Error(`A fit needs two cases in each half, got ${fitted.length} and ${reported.length}`);
  }
  const chosen = chooseThresholds(fitted, costs);
  const measure = (cases: readonly ReplayedCase[], label: string) => ({
    ...measureVerdicts(cases),
    cost: bootstrap(cases, (drawn) => meanCost(drawn, costs), random.fork(label)),
  });
  const before = replay(reported);
  const after = replay(reported, chosen);
  const differences = after.map((row, index) => costOf(row, costs) - costOf(before[index] ?? row, costs));
  return {
    costs,
    thresholds: KNOBS.map(({ name, read }) => ({ name, now: read(THRESHOLDS), chosen: read(chosen) })),
    fitted: { now: measure(replay(fitted), "fitted"), chosen: measure(replay(fitted, chosen), "fitted") },
    reported: { now: measure(before, "reported"), chosen: measure(after, "reported") },
    difference: bootstrap(differences, mean, random.fork("difference")),
  };
}

/** True for about half of the ids, by a seed. */
export function isInFirstHalf(id: string, seed: string): boolean {
  return Number.parseInt(hashText(JSON.stringify([seed, id])).slice(-1), 16) < 8;
}

function chooseThresholds(cases: readonly RecordedCase[], costs: Costs): Thresholds {
  const costBy = (thresholds: Thresholds) => meanCost(replay(cases, thresholds), costs);
  let best = { thresholds: THRESHOLDS, cost: costBy(THRESHOLDS) };
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const before = best;
    for (const { values, read, write } of KNOBS) {
      const distance = (value: number) => Math.abs(value - read(THRESHOLDS));
      // The value nearest to the one in force comes first, and only a lower cost replaces it.
      const tried = values.toSorted((one, other) => distance(one) - distance(other));
      const candidates = [read(THRESHOLDS), ...tried].map((value) => write(best.thresholds, value));
      let chosen: typeof best | null = null;
      for (const thresholds of candidates.filter(isSound)) {
        const cost = costBy(thresholds);
        if (chosen === null || cost < chosen.cost - SLACK) chosen = { thresholds, cost };
      }
      if (chosen !== null && chosen.cost <= best.cost + SLACK) best = chosen;
    }
    if (KNOBS.every(({ read }) => read(before.thresholds) === read(best.thresholds))) break;
  }
  return best.thresholds;
}

/** Above the rounding errors of a mean. */
const SLACK = 1e-9;

/** A provider without a score never has less benefit of the doubt. */
function isSound({ rejectionMargin, rejectionMarginWithoutScore }: Thresholds): boolean {
  return rejectionMarginWithoutScore >= rejectionMargin;
}

/** Cost of a verdict. No verdict costs as much as HOLD; HOLD costs nothing where it is the best verdict. */
function costOf({ verdict, expected }: VerdictRow, costs: Costs): number {
  if (verdict === null || verdict === "HOLD") return expected[0] === "HOLD" ? 0 : costs.hold;
  if (expected.includes(verdict)) return 0;
  return verdict === "ALLOW" ? costs.falseAllow : costs.falseReject;
}

function meanCost(cases: readonly VerdictRow[], costs: Costs): number {
  return mean(cases.map((one) => costOf(one, costs)));
}

/** Mean of at least one value. */
function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function knob(name: Exclude<keyof Thresholds, "confidence">, values: readonly number[]): Knob {
  return {
    name,
    values,
    read: (thresholds) => thresholds[name],
    write: (thresholds, value) => ({ ...thresholds, [name]: value }),
  };
}

/** Every fifth number. */
function steps(from: number, to: number): readonly number[] {
  return Array.from({ length: (to - from) / 5 + 1 }, (_, step) => from + 5 * step);
}
