import type { Address } from "viem";
import type { Coverage, SanctionsFlag } from "../features/types.ts";
import type { Pattern } from "./record.ts";

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
  /** n: the weight of successes and failures outside the owner cluster, in billionths of a call. */
  readonly weightNanos: number;
  /** Share of the weight of all own calls that is credited, 0 to 1; null without calls. */
  readonly creditedShare: number | null;
  /** Whether most of it stays within the accounts of its own owner. */
  readonly selfDealing: boolean;
  /** Share of the outgoing volume that went to sanctioned or mixer accounts, 0 to 1. */
  readonly exposedShare: number;
  readonly activeWeeks: number;
  /** Unix seconds of the first own call in the window. */
  readonly firstCallAt: number | null;
  /** t_ref, Unix seconds of the last own call. */
  readonly lastCallAt: number | null;
};
