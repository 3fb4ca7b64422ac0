import type { Address } from "viem";
import type { AsOf, Coverage, SanctionsFlag } from "../features/types.ts";

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
  readonly reason: string | null;
};

/** A known shape of trouble in the rows. */
export type Pattern = {
  readonly name: string;
  readonly severity: "info" | "warning" | "critical";
  /** Points, never above zero. */
  readonly effect: number;
  readonly evidence: string;
};

type ScoreOutcome =
  | {
      readonly kind: "scored";
      readonly ahsScore: number;
      readonly d1Score: number;
      readonly d2Score: number;
      readonly grade: Grade;
    }
  | { readonly kind: "insufficient" };

/** What the model says of one wallet as of one block. */
export type ScoreRecord = {
  readonly chainId: number;
  readonly wallet: Address;
  readonly modelVersion: string;
  readonly asOf: AsOf;
  readonly outcome: ScoreOutcome;
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
