import type { ConfidenceLevel, Grade, RoutingAction } from "../service/model/score/record.ts";
import type { Band } from "./measures.ts";
import type { OutOfSample } from "./out-of-sample.ts";
import type { Trust } from "./trust.ts";

export type ArchetypeResult = {
  readonly name: string;
  readonly tier: number | null;
  readonly wallets: number;
  readonly insufficient: number;
  /** Of the scored; null where none is. */
  readonly median: number | null;
  readonly p10: number | null;
  readonly p90: number | null;
  /** Median, 0 to 1. */
  readonly confidence: number | null;
  readonly confidence_levels: Readonly<Partial<Record<ConfidenceLevel, number>>>;
  readonly grades: Readonly<Partial<Record<Grade, number>>>;
};

export type AttackResult = {
  readonly name: string;
  readonly what: string;
  /** The best of all seeds; null where none was scored. */
  readonly ahs: number | null;
  readonly grade: Grade | null;
  readonly confidence: number;
  readonly confidence_level: ConfidenceLevel;
  readonly calls: number;
  readonly gas: number;
  readonly usd: number;
  /** The most lenient route of all its wallets in any seed; null for what is done to others. */
  readonly route: RoutingAction | null;
  /** Whether a wallet of it was settled at once for any amount. */
  readonly unlimited: boolean;
  /** Greatest safe amount of all its accounts together, in dollars, and what they spent in that seed. */
  readonly safe_usd: number;
  readonly burnt_usd: number;
  readonly bar: "at_most_d" | "unchanged" | null;
  readonly holds: boolean | null;
};

/** Results of one seed; the headline is the worst of all seeds. */
export type SeedResult = {
  readonly seed: string;
  readonly read_share: number;
  readonly pairwise_order: number;
  /** Order of neighbouring tiers alone: 1 and 2, 2 and 3, 3 and 4, 4 and 5. */
  readonly neighbours: readonly (number | null)[];
  readonly worst_band: Band;
  /** Area of the score less that of success with a half-life of 14 days, for failing. */
  readonly lead_failing: number;
  /** Area of the score less that of gas_efficiency alone, for losing. */
  readonly lead_losing: number;
  readonly trust: Trust;
  readonly out_of_sample: OutOfSample;
};
