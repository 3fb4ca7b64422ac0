import { readCurve } from "../score/curve.ts";
import type { Feature } from "../score/measured-wallet.ts";
import { type Facts, measured, notApplicable, unknown } from "./facts.ts";
import { type Holding, NO_HOLDINGS } from "./holdings.ts";

/** D1 dust and spam: share of the own-acquired tokens that are unrecognised, or known to be worth next to nothing. */
export function dustAndSpam({ holdings, policy }: Facts): Feature {
  if (holdings.kind === "unread") return unknown("dust_and_spam", NO_HOLDINGS.unread);
  if (holdings.kind === "none") return notApplicable("dust_and_spam", 0, NO_HOLDINGS.none);
  const share = uselessShare(holdings.tokens, policy.holdings.dustBelowMicroUsd);
  return measured("dust_and_spam", {
    value: share,
    score: readCurve(policy.holdings.dustCurve, share),
    samples: holdings.tokens.length,
  });
}

function uselessShare(tokens: readonly Holding[], dustBelowMicroUsd: number): number {
  if (tokens.length === 0) return 0;
  const useless = tokens.filter(
    ({ recognised, worth }) => !recognised || (worth !== null && worth < dustBelowMicroUsd),
  );
  return useless.length / tokens.length;
}
