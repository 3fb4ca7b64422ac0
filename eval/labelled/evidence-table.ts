import { SECONDS_PER_DAY } from "../../service/model/features/time.ts";
import { confidenceOf } from "../../service/model/score/confidence.ts";
import type { Policy } from "../../service/model/score/policy-shape.ts";
import type { ConfidenceLevel } from "../../service/model/score/record.ts";
import type { LabelledWallet } from "./read-wallets.ts";

const SENT = "sent_tnx";
const MINUTES = "time_diff_between_first_and_last_mins_";
const MINUTES_PER_DAY = 1_440;

/** How many of a set's wallets have the evidence of a level or of a better one. */
type EvidenceRow = {
  readonly label: "bad" | "normal";
  readonly wallets: number;
  /** Scored at all: LOW or better. */
  readonly enough: number;
  readonly high: number;
};

/**
 * The best that wallets of the Kaggle set could get by count and span alone: all calls are taken for credited, spread over all
 * weeks and recent. The other rules of the model make it less.
 */
export function evidenceTable(wallets: readonly LabelledWallet[], policy: Policy): readonly EvidenceRow[] {
  return ([true, false] as const).map((isBad) => {
    const levels = wallets
      .filter((wallet) => wallet.isBad === isBad)
      .map((wallet) => levelOf(wallet, policy));
    return {
      label: isBad ? "bad" : "normal",
      wallets: levels.length,
      enough: levels.filter((level) => level !== "INSUFFICIENT").length,
      high: levels.filter((level) => level === "HIGH").length,
    };
  });
}

function levelOf({ figures }: LabelledWallet, policy: Policy): ConfidenceLevel {
  const sent = figures.get(SENT);
  const minutes = figures.get(MINUTES);
  if (sent === undefined || minutes === undefined)
    throw new Error(`expected the columns ${SENT} and ${MINUTES}, got ${[...figures.keys()].join(", ")}`);
  const days = minutes / MINUTES_PER_DAY;
  const now = Math.round(days * SECONDS_PER_DAY);
  const nanos = sent * 1e9;
  return confidenceOf(
    {
      chainId: 1,
      wallet: "0x0000000000000000000000000000000000000000",
      sanctions: [],
      coverage: { fromBlock: 0, toBlock: 0, fromTimestamp: 0, complete: true, sources: [] },
      chainStartTimestamp: null,
      features: [],
      patterns: [],
      evidence: {
        ownCalls: sent,
        failableNanos: nanos,
        creditedNanos: nanos,
        creditedShare: 1,
        ringShare: 0,
        activeWeeks: Math.min(sent, days / 7 + 1),
        firstCallAt: sent === 0 ? null : 0,
        lastCallAt: sent === 0 ? null : now,
      },
    },
    { grade: "A", now },
    policy,
  ).level;
}
