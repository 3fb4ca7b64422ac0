import type { Policy } from "../../service/model/score/policy-shape.ts";

/** A feature for a reader: its formula in plain notation, and the source of the formula. */
export type FeatureText = { readonly formula: readonly string[]; readonly source: string };

/** Texts of every feature by its name, with the policy's constants in them. */
export function featureTexts(policy: Policy): Readonly<Record<string, FeatureText>> {
  return { ...hygieneTexts(policy), ...behaviourTexts(policy), ...infrastructureTexts(policy) };
}

function hygieneTexts({
  gas,
  holdings,
  recognisedUsers,
  riskFlags,
  credit,
}: Policy): Record<string, FeatureText> {
  return {
    success_rate: {
      formula: ["score = curve(S), with S the steady success of section 3."],
      source:
        "Share of successes shrunk towards a prior (beta-binomial smoothing); the lower of the window's and of one that mostly looks at the last days, so that a collapse shows at once and a recovery has to last.",
    },
    gas_efficiency: {
      formula: [
        `score = ${gas.wasteShare}·F + ${gas.priceShare}·P + ${gas.limitShare}·L; without a market price to compare with, ${gas.unpriced.wasteShare}·F + ${gas.unpriced.limitShare}·L.`,
        `F = waste curve of Σ(fee·c of failures) / (Σ(fee·c of all calls) + ${gas.priorMeanFees} mean fees), with c what a call counts in n of section 3. A fee above twice the geometric mean counts as twice that.`,
        "P = mean, weighed by w over all outside calls, of the price curve at: price paid / (base fee of its block + median tip of the first block of its stretch).",
        "L = mean, weighed alike, of the limit curve at: gas used / gas limit; a failed call counts 0.",
      ],
      source:
        "Prices by EIP-1559: a block's base fee and what transactions paid above it, as one block of each stretch shows it. Constant tips and exact limits cost nothing.",
    },
    portfolio_quality: {
      formula: [
        "score = quality curve of: worth of recognised tokens and native coin / worth of all priced ones.",
        `Only what own calls moved counts: a token is held as far as the calls' sums leave it. The native coin is what own calls paid in the last ${holdings.nativeDays} days.`,
        `Recognised: listed, or ${credit.establishedDays} days old when acquired and used by ${recognisedUsers} outside users. Worth: by the token list's prices, else by what the wallet gave for it.`,
      ],
      source: "This model. A stranger's gift or airdrop is in no own call, so it changes nothing.",
    },
    dust_and_spam: {
      formula: [
        `score = dust curve of: own-acquired tokens that are not recognised, or worth less than ${holdings.dustBelowMicroUsd / 1e6} USD / all own-acquired tokens held.`,
      ],
      source: "This model.",
    },
    risk_flags: {
      formula: [
        `score = 100 − ${riskFlags.perApproval} for each open unlimited approval to a young or unknown spender − ${riskFlags.delegation} for an EIP-7702 delegation to such code − ${riskFlags.exposure} × share of the attempted outgoing volume that was for sanctioned or mixer accounts, called, paid or paid through the called account, and no less than 0.`,
        `Young or unknown: not shown to have existed ${credit.establishedDays} days before, or with fewer than ${recognisedUsers} outside users and on no list.`,
      ],
      source: "This model. One hop only: money that passes through another account first is not seen.",
    },
  };
}

function behaviourTexts({ timing, adaptation, recovery, consistency }: Policy): Record<string, FeatureText> {
  return {
    timing_regularity: {
      formula: [
        `score = g·shr(${timing.burstShare}·burst curve(B) + ${timing.silenceShare}·silence curve(L)), over the m distinct active UTC hours, m ≥ ${timing.minActiveHours}, else not applicable.`,
        "B = (√(m+1)·r − √(m−1)) / ((√(m+1) − 2)·r + √(m−1)), r = standard deviation / mean of the gaps. −1 is a metronome, 0 random, 1 a single burst.",
        "L = longest gap / (mean gap · (ln m + 1)): about 1 for a random process.",
        `Gaps are counted in the wallet's own time: an hour lasts a·b, where a = (its count + mean·${timing.clockPriorShare}) / (${1 + timing.clockPriorShare}·mean) over the hours of the day, b alike over weekdays. A night or weekend that is always silent is no silence.`,
      ],
      source:
        "Finite-size burstiness of E.-K. Kim and H.-H. Jo, Measuring burstiness for finite event sequences, Physical Review E 94, 032311 (2016), in operational time.",
    },
    counterparty_diversity: {
      formula: [
        "score = g·shr(diversity curve(log2 N)), N = 2^H, H = entropy in bits of w·q over outside counterparties, those of one owner merged.",
        "All attempts count, failed or not. One counterparty is a specialist, not sick.",
      ],
      source:
        "Effective number of types: the Hill number of order 1 (M. O. Hill, Diversity and evenness, Ecology 54, 427, 1973).",
    },
    adaptation: {
      formula: [
        `score = g·shr(${adaptation.blindShare}·blind curve + ${adaptation.gasLimitShare}·out-of-gas curve + ${adaptation.recentShare}·recent curve(s_r) + ${adaptation.overpayShare}·overpay points); without a market price the others share the whole.`,
        `Blind failures: what failures after ${adaptation.afterFailures} in a row of the same (contract, method) count / (n_a + ${adaptation.priorCalls}).`,
        `Out of gas: what failures count that used ${100 * adaptation.outOfGasShare} % or more of their limit / (n_a + ${adaptation.priorCalls}).`,
        `Overpay: mean of the overpay curve at price paid / market price, by weights that also halve every ${adaptation.halfLifeDays} days.`,
      ],
      source:
        "This model. The divisor is n_a and not n, which grows when a call fails and would let one failure more look like less blindness.",
    },
    failure_recovery: {
      formula: [
        `score = burden curve of the sum over the ${recovery.worst} worst failures of 2^(−age / ${recovery.halfLifeDays} days)·q·b, q at least the floor of a failure; of the failures of one (contract, method) and UTC day only the worst counts.`,
        `b = delay curve of the time to the next success of the same (contract, method), 1 where none follows; at least ${recovery.floor} + ${recovery.floorPerEarlierFailure} for each failure before it in the run, at most 1.`,
      ],
      source:
        "This model, after the time to restore service of operations practice. It measures how the worst failures ended, not how many there were, and no failure pays.",
    },
    consistency: {
      formula: [
        `score = ${consistency.activityShare}·A + ${consistency.tenureShare}·T + ${consistency.recentShare}·recent curve(s_r), over K effective UTC weeks: 2^H, H = entropy in bits of the square roots of the weeks' credited attempts.`,
        `A = activity curve(K / weeks in the span), ${consistency.activityPrior.points} if the span is under ${consistency.minSpanDays} days, drawn towards ${consistency.activityPrior.points} by ${consistency.activityPrior.weeks} weeks. T = 100·min(1, K/${consistency.fullTenureWeeks}).`,
      ],
      source: "This model.",
    },
  };
}

function infrastructureTexts({ infrastructure: d3 }: Policy): Record<string, FeatureText> {
  const source = "Stored probes of the endpoints that the agent declares in its ERC-8004 registration.";
  return {
    availability: {
      formula: [
        `score = curve of: probes answered as by a service that is up / all probes of the last ${d3.windowDays} days. 401, 402 and 403 are such answers, 404 and 5xx are not. A failed one of an endpoint that has failed for a day, and is probed hourly since, counts for each quarter hour.`,
      ],
      source,
    },
    latency_p50: {
      formula: [
        `score = curve of the median milliseconds to the end of the answer; a probe that failed took ${d3.longestMs}.`,
      ],
      source,
    },
    latency_p95: { formula: ["score = curve of the 95th percentile of the same, by nearest rank."], source },
    error_rate: { formula: ["score = curve of: probes that failed, however they did / all probes."], source },
    validity: {
      formula: [
        "score = curve of: probes that served what the service's kind must serve / probes whose kind can be checked, failed ones included. An x402 v2 challenge is read from its header.",
      ],
      source,
    },
  };
}
