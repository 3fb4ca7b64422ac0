import type { Address } from "viem";
import type { AsOf, Coverage, SanctionsFlag } from "../features/types.ts";
import type { Policy } from "./policy-shape.ts";

export type Grade = "A" | "B" | "C" | "D" | "E" | "F";
export type RoutingAction = "instant_settle" | "escrow" | "reject";
export type ConfidenceLevel = "HIGH" | "MEDIUM" | "LOW" | "INSUFFICIENT";
type Dimension = "D1" | "D2" | "D3";

/** One line of the explanation; the contributions of all lines add up to 100 × the integer dimension score they belong to. */
export type FeatureLine = {
  readonly dimension: Dimension | "AHS";
  readonly name: string;
  readonly value: number | null;
  readonly unit: string;
  readonly samples: number;
  readonly state: "measured" | "not_applicable" | "unknown";
  readonly score: number | null;
  readonly weight: number;
  /** Hundredths of a point. */
  readonly contribution: number | null;
  /** Why a feature was not measured, or what a cap or effect is due to; null for a measured feature. */
  readonly reason: string | null;
  /** Counts and parts that the feature was computed from, rounded; for the reader only. */
  readonly inputs?: FeatureInputs;
};

/** Whether lines are those of a record with a score: they lead to a total. */
export function leadToScore(lines: readonly Pick<FeatureLine, "dimension" | "name">[]): boolean {
  return lines.some(({ dimension, name }) => dimension === "AHS" && name === "d1");
}

export type FeatureInputs = Readonly<Record<string, number>>;

/** The one scale of every finding, the worst first. */
export const SEVERITIES = ["critical", "warning", "info"] as const;

export type Severity = (typeof SEVERITIES)[number];

/** A known shape of trouble in the rows. */
export type Pattern = {
  readonly name: string;
  readonly severity: Severity;
  /** Points to a hundredth, never above zero. */
  readonly effect: number;
  readonly evidence: string;
};

/** The model's result for one wallet as of one block. */
export type ScoreRecord = {
  readonly chainId: number;
  readonly wallet: Address;
  readonly modelVersion: string;
  readonly asOf: AsOf;
  readonly outcome:
    | {
        readonly kind: "scored";
        readonly ahsScore: number;
        readonly d1Score: number;
        readonly d2Score: number;
        readonly grade: Grade;
      }
    | { readonly kind: "insufficient" };
  /** Millionths, 0 to 1,000,000. */
  readonly confidenceMicros: number;
  readonly confidenceLevel: ConfidenceLevel;
  /** Unix seconds at which the level falls if the wallet stays silent; null where it cannot fall. */
  readonly levelUntil: number | null;
  readonly sanctionsFlags: readonly SanctionsFlag[];
  readonly patterns: readonly Pattern[];
  readonly features: readonly FeatureLine[];
  readonly coverage: Coverage;
};

/** One signal about a wallet; unknown (not indexed) and not_applicable (could not occur) carry neither value nor score. */
export type Feature = {
  readonly name: string;
  /** Own calls, hours, weeks or tokens it was computed from. */
  readonly samples: number;
  readonly reason: string | null;
} & (
  | {
      readonly state: "measured";
      /** In the unit that the policy declares for the feature, rounded to 1e-6. */
      readonly value: number;
      /** Millionths of a point, 0 to 100,000,000. */
      readonly scoreMicros: number;
      /** Percent of the feature's weight that counts, 1 to 100. */
      readonly sharePercent: number;
      readonly inputs?: FeatureInputs;
    }
  | { readonly state: "not_applicable" | "unknown"; readonly value: null; readonly scoreMicros: null }
);

/** Everything that the score of one wallet is made from. */
export type MeasuredWallet = {
  readonly chainId: number;
  readonly wallet: Address;
  readonly sanctions: readonly SanctionsFlag[];
  readonly coverage: Coverage;
  readonly chainStartTimestamp: number | null;
  readonly features: readonly Feature[];
  readonly patterns: readonly Pattern[];
  readonly evidence: Evidence;
};

/** How much the wallet did in the window; null times mean that it did nothing. */
export type Evidence = {
  /** Own calls in the window, those inside the owner cluster included. */
  readonly ownCalls: number;
  /** Weight of the calls outside the owner cluster if all failed, in billionths of a call: no outcome changes it. */
  readonly failableNanos: number;
  /** n_q: what of it no failure added to, in billionths of a call. */
  readonly creditedNanos: number;
  /** Share of the weight of all own calls, sweeps to a treasury left out, that is credited, 0 to 1; null without such calls. */
  readonly creditedShare: number | null;
  /** Share of the weight of all own calls, sweeps to a treasury left out, that goes round within the owner cluster, 0 to 1. */
  readonly ringShare: number;
  /** Effective number of active weeks, 1 for one burst, rounded to 1e-6. */
  readonly activeWeeks: number;
  /** Unix seconds of the first own call in the window. */
  readonly firstCallAt: number | null;
  /** t_ref, Unix seconds of the last own call. */
  readonly lastCallAt: number | null;
};

const LABELS: Readonly<Record<Grade, string>> = {
  A: "Excellent",
  B: "Good",
  C: "Needs Attention",
  D: "Degraded",
  E: "Critical",
  F: "Failing",
};

/** Grade of an integer score, by the points that each grade starts at. */
export function gradeOf(score: number, grades: Policy["grades"]): Grade {
  if (score >= grades.A) return "A";
  if (score >= grades.B) return "B";
  if (score >= grades.C) return "C";
  if (score >= grades.D) return "D";
  if (score >= grades.E) return "E";
  return "F";
}

/** Text for a grade; null, a record without enough history, is "Insufficient history". */
export function gradeLabel(grade: Grade | null): string {
  return grade === null ? "Insufficient history" : LABELS[grade];
}
