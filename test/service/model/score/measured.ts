import { AHS_2026_2 } from "../../../../service/model/score/policy.ts";
import type { MeasuredWallet } from "../../../../service/model/score/record.ts";
import { account, DAY, START } from "../features/histories.ts";

/** When the measured wallet last called. */
export const LAST = START + 100 * DAY;

/** 39 weighted calls over 90 days to the last one, all features measured, all covered. */
export function measuredWallet(parts: Partial<MeasuredWallet> = {}): MeasuredWallet {
  return {
    chainId: 31337,
    wallet: account(1),
    sanctions: [],
    coverage: { fromBlock: 0, fromTimestamp: START, toBlock: 1, complete: true, sources: ["index"] },
    chainStartTimestamp: START,
    patterns: [],
    features: AHS_2026_2.features.map(({ name }) => ({
      name,
      state: "measured",
      value: 1,
      scoreMicros: 90_000_000,
      sharePercent: 100,
      samples: 10,
      reason: null,
    })),
    evidence: {
      ownCalls: 100,
      failableNanos: 39e9,
      creditedNanos: 39e9,
      creditedShare: 1,
      ringShare: 0,
      activeWeeks: 14,
      firstCallAt: LAST - 90 * DAY,
      lastCallAt: LAST,
    },
    ...parts,
  };
}
