import { readCurve } from "../score/curve.ts";
import type { Feature } from "../score/measured-wallet.ts";
import { type Facts, measured, notApplicable, unknown } from "./facts.ts";
import { NO_HOLDINGS } from "./holdings.ts";

/** D1 portfolio quality: share of the worth of own-acquired tokens and the native coin that is in recognised ones. */
export function portfolioQuality({ holdings, policy }: Pick<Facts, "holdings" | "policy">): Feature {
  if (holdings.kind === "unread") return unknown("portfolio_quality", NO_HOLDINGS.unread);
  if (holdings.kind === "none") return notApplicable("portfolio_quality", 0, NO_HOLDINGS.none);
  let good = holdings.nativeWorth;
  let all = holdings.nativeWorth;
  for (const { worth, recognised } of holdings.tokens) {
    if (worth === null) continue;
    all += worth;
    if (recognised) good += worth;
  }
  if (all === 0) return unknown("portfolio_quality", "nothing that the wallet holds has a known worth");
  return measured("portfolio_quality", {
    value: good / all,
    score: readCurve(policy.holdings.qualityCurve, good / all),
    samples: holdings.tokens.length,
  });
}
