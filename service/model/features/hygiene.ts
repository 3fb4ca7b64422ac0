import { readCurve } from "../score/curve.ts";
import { divideRound, logTwo, MICRO, NANO, powerOfTwo } from "../score/fixed-point.ts";
import type { Policy } from "../score/policy-shape.ts";
import type { Feature, FeatureInputs } from "../score/record.ts";
import { tallyCalls } from "./call-tally.ts";
import { isEstablished } from "./credit.ts";
import { type Facts, measured, notApplicable, recentStart, shareOf, unknown } from "./facts.ts";
import { type Holding, NO_HOLDINGS } from "./holdings.ts";
import type { CounterpartyFact, GasUse, OwnCall } from "./types.ts";
import type { WeighedCall, WeighedHistory } from "./weigh-calls.ts";

/** D1 success rate: S on its curve. */
export function successRate({ history, success, policy }: Facts): Feature {
  return measured("success_rate", {
    value: success.steady,
    score: readCurve(policy.success.curve, success.steady),
    samples: history.outside.length,
    inputs: successInputs(history, success, policy),
  });
}

function successInputs(history: WeighedHistory, success: Facts["success"], policy: Policy): FeatureInputs {
  const { calls, succeeded } = tallyCalls(history.outside);
  const from = recentStart(history, policy);
  const recent = tallyCalls(history.outside.filter(({ call }) => call.timestamp >= from));
  return {
    calls,
    succeeded,
    succeeded_share: succeeded / calls,
    recent_days: policy.success.recentHalfLifeDays,
    recent_calls: recent.calls,
    recent_succeeded: recent.succeeded,
    estimated_share: success.whole,
    estimated_recent_share: success.recent,
  };
}

/** Gas use of a history that holds outside calls, or none at all. */
export function measureGas(history: WeighedHistory, policy: Policy): GasUse {
  const outside = history.outside.filter(({ call }) => choseGas(call));
  const prices = weightedPoints(outside, ({ overpay }) =>
    overpay === null ? null : readCurve(policy.gas.priceCurve, overpay),
  );
  return {
    burnt: burntShare(outside, policy),
    pricePoints: prices === null ? null : prices.points,
    pricedShare: pricedShare(prices, policy),
    limitPoints: limitPoints(outside, policy),
    calls: outside.length,
  };
}

/** False for a signed payment, whose gas another account chose and paid. */
export function choseGas({ gasUsed }: Pick<OwnCall, "gasUsed">): boolean {
  return gasUsed > 0n;
}

/** How much prices count: whole from as many weighted calls with a market price as scores are drawn towards the middle by. */
export function pricedShare(prices: ReturnType<typeof weightedPoints>, { shrink }: Policy): number {
  return prices === null ? 0 : shareOf(prices.calls, shrink.calls);
}

/** D1 gas efficiency: fees burnt by failures, prices paid against the market's, limits against use. Its value is the share burnt. */
export function gasEfficiency({ history, gas: use, policy }: Facts): Feature {
  const { gas } = policy;
  if (use.calls === 0) return notApplicable("gas_efficiency", 0, "others paid the gas of all its calls");
  const waste = readCurve(gas.wasteCurve, use.burnt);
  const parts = { value: use.burnt, samples: use.calls };
  const { burnt } = tallyCalls(history.outside);
  const inputs: FeatureInputs = {
    ...(burnt === null ? {} : { burnt_share: burnt }),
    estimated_burnt_share: use.burnt,
    burnt_fees_points: waste,
    gas_limit_points: use.limitPoints,
  };
  const unpriced = gas.unpriced.wasteShare * waste + gas.unpriced.limitShare * use.limitPoints;
  if (use.pricePoints === null) {
    return measured("gas_efficiency", { ...parts, score: unpriced, inputs });
  }
  const priced = gas.wasteShare * waste + gas.priceShare * use.pricePoints + gas.limitShare * use.limitPoints;
  const score = (1 - use.pricedShare) * unpriced + use.pricedShare * priced;
  return measured("gas_efficiency", {
    ...parts,
    score,
    inputs: { ...inputs, gas_price_points: use.pricePoints },
  });
}

/** No fee counts more than so many times the usual one: one dear failure is no waste of half. */
const DEAREST_FEE = 2;

/** Fees of failures over those of failures and successes, each by what its call counts, with a prior of some mean fees. */
function burntShare(outside: readonly WeighedCall[], policy: Policy): number {
  const most = BigInt(Math.round(DEAREST_FEE * usualFee(outside)));
  let paid = 0n;
  let failed = 0n;
  let succeeded = 0n;
  for (const { call, counted } of outside) {
    const fee = call.fee < most ? call.fee : most;
    paid += fee;
    if (call.ok) succeeded += fee * BigInt(counted);
    else failed += fee * BigInt(counted);
  }
  // A chain without fees burns none.
  if (paid === 0n) return 0;
  const prior = (Number(paid) / outside.length) * policy.gas.priorMeanFees * NANO;
  return Number(failed) / (Number(failed) + Number(succeeded) + prior);
}

/** Geometric mean of the fees that were paid at all, which no one call moves far; 0 if none was. */
function usualFee(outside: readonly WeighedCall[]): number {
  let logs = 0;
  let fees = 0;
  let sum = 0n;
  for (const { call } of outside) {
    if (call.fee === 0n) continue;
    logs += logTwo(Number(call.fee));
    sum += call.fee;
    fees += 1;
  }
  if (fees === 0) return 0;
  const mean = Number(sum) / fees;
  return mean / powerOfTwo(Math.max(0, logTwo(mean) - logs / fees));
}

function limitPoints(outside: readonly WeighedCall[], policy: Policy): number {
  const limits = weightedPoints(outside, ({ call }) =>
    call.ok ? readCurve(policy.gas.limitCurve, usedShare(call)) : 0,
  );
  return limits === null ? 0 : limits.points;
}

/**
 * Mean of points by weights of calls, their own unless others are given, and the sum of these weights in calls; calls without
 * points are left out. Null where none has any.
 */
export function weightedPoints(
  outside: readonly WeighedCall[],
  pointsOf: (weighed: WeighedCall) => number | null,
  weightOf: (call: OwnCall) => number = () => NANO,
): { readonly points: number; readonly calls: number } | null {
  // Hundredths of a point times millionths of a call: exact integers for any wallet.
  let sum = 0;
  let weights = 0;
  for (const weighed of outside) {
    const points = pointsOf(weighed);
    if (points === null) continue;
    const weight = divideRound(weighed.weight * (weightOf(weighed.call) / MICRO), NANO / MICRO);
    weights += weight;
    sum += divideRound(weight * Math.round(100 * points), NANO / MICRO);
  }
  if (weights === 0) return null;
  return { points: (sum * (NANO / MICRO)) / (100 * weights), calls: weights / NANO };
}

function usedShare({ gasUsed, gasLimit }: OwnCall): number {
  // A call without a limit of its own cannot have set it loosely.
  return gasLimit === 0n ? 1 : Number(gasUsed) / Number(gasLimit);
}

/** D1 portfolio quality: share of the worth of own-acquired tokens and the native coin that is in recognised ones. */
export function portfolioQuality({ holdings, policy }: Pick<Facts, "holdings" | "policy">): Feature {
  if (holdings.kind === "unread") return unknown("portfolio_quality", NO_HOLDINGS.unread);
  if (holdings.kind === "none") return notApplicable("portfolio_quality", 0, NO_HOLDINGS.none);
  const priced = holdings.tokens.filter(({ worth }) => worth !== null);
  const worthOf = (one: Holding) => one.worth ?? 0;
  const good = priced.reduce((sum, one) => (one.recognised ? sum + worthOf(one) : sum), holdings.nativeWorth);
  // One token of any worth, which one call can buy, takes no more than a share of what is sound.
  const most = policy.holdings.worstTokenShare * Math.max(good, policy.holdings.leastSoundMicroUsd);
  const bad = priced.reduce((sum, one) => (one.recognised ? sum : sum + Math.min(worthOf(one), most)), 0);
  if (good + bad === 0)
    return unknown("portfolio_quality", "nothing that the wallet holds has a known worth");
  const quality =
    Math.max(good, policy.holdings.leastSoundMicroUsd) /
    (Math.max(good, policy.holdings.leastSoundMicroUsd) + bad);
  return measured("portfolio_quality", {
    value: quality,
    score: readCurve(policy.holdings.qualityCurve, quality),
    samples: holdings.tokens.length,
    inputs: { recognised_usd: good / MICRO, other_usd: bad / MICRO },
    share: holdingShare(holdings.tokens, policy),
  });
}

/** Few tokens say little of how a wallet keeps its portfolio. */
function holdingShare(tokens: readonly Holding[], policy: Policy): number {
  return shareOf(Math.max(1, tokens.length), policy.holdings.fullTokens);
}

/** D1 dust and spam: share of the own-acquired tokens that are unrecognised, or known to be worth next to nothing. */
export function dustAndSpam({ holdings, policy }: Facts): Feature {
  if (holdings.kind === "unread") return unknown("dust_and_spam", NO_HOLDINGS.unread);
  if (holdings.kind === "none") return notApplicable("dust_and_spam", 0, NO_HOLDINGS.none);
  const share = uselessShare(holdings.tokens, policy.holdings.dustBelowMicroUsd);
  return measured("dust_and_spam", {
    value: share,
    score: readCurve(policy.holdings.dustCurve, share),
    samples: holdings.tokens.length,
    inputs: {
      tokens: holdings.tokens.length,
      dust_or_spam_tokens: Math.round(share * holdings.tokens.length),
    },
    share: holdingShare(holdings.tokens, policy),
  });
}

function uselessShare(tokens: readonly Holding[], dustBelowMicroUsd: number): number {
  if (tokens.length === 0) return 0;
  const useless = tokens.filter(
    ({ recognised, worth }) => !recognised || (worth !== null && worth < dustBelowMicroUsd),
  );
  return useless.length / tokens.length;
}

/**
 * D1 risk flags: points lost for open approvals and delegations to code without independent users, and for listed
 * counterparties.
 */
export function riskFlags(facts: Facts): Feature {
  const { rows, history, exposedShare, policy } = facts;
  const { approvals, delegation } = rows;
  const last = history.calls.at(-1);
  if (approvals === null) return unknown("risk_flags", "the wallet's approvals were not read");
  if (delegation === null || last === undefined) {
    return unknown("risk_flags", "whether the wallet runs delegated code was not read");
  }
  const known = new Map(rows.counterparties.map((fact) => [fact.address, fact]));
  const open = approvals.filter(
    ({ spender, approvedAt }) => !isTrusted(known.get(spender), approvedAt, facts),
  ).length;
  const delegates = delegation.to !== null && !isTrusted(known.get(delegation.to), last.timestamp, facts);
  const rule = policy.riskFlags;
  const lost = open * rule.perApproval + (delegates ? rule.delegation : 0) + rule.exposure * exposedShare;
  return measured("risk_flags", {
    value: Math.min(100, lost),
    score: 100 - lost,
    samples: history.calls.length,
    inputs: { risky_approvals: open, risky_delegations: delegates ? 1 : 0, listed_share: exposedShare },
  });
}

/** Whether an account is the owner's own, or shown to have existed a month before and recognised or used by others. */
export function isTrusted(
  fact: CounterpartyFact | undefined,
  before: number,
  { market, policy }: Pick<Facts, "market" | "policy">,
): boolean {
  if (fact === undefined) return false;
  if (fact.ownerLink !== null) return true;
  const isUsed = fact.outsideUsers >= policy.recognisedUsers || market.isListed(fact.address);
  return isUsed && isEstablished(fact, before, policy);
}
