import { roundMicro } from "../score/fixed-point.ts";
import type { FeatureRule, Policy } from "../score/policy-shape.ts";
import type { Evidence, Feature, MeasuredWallet, ScoreRecord } from "../score/record.ts";
import { scoreFeatures } from "../score/score-features.ts";
import {
  adaptation,
  consistency,
  counterpartyDiversity,
  effectiveWeeks,
  failureRecovery,
  timingRegularity,
} from "./behaviour.ts";
import { exposedShare } from "./exposure.ts";
import { type Facts, findBlindFailures, findFailures, measureSuccess, notApplicable } from "./facts.ts";
import { holdingsOf } from "./holdings.ts";
import {
  dustAndSpam,
  gasEfficiency,
  measureGas,
  portfolioQuality,
  riskFlags,
  successRate,
} from "./hygiene.ts";
import { createMarket } from "./market.ts";
import { dealtWeight, findPatterns, ringShare } from "./patterns.ts";
import type { AsOf, SanctionsFlag, WalletRows } from "./types.ts";
import { weighCalls } from "./weigh-calls.ts";

/** The record of one wallet as of one block: a function of its arguments alone, the same bytes on every machine. */
export function scoreWallet({
  rows,
  asOf,
  policy,
}: {
  readonly rows: WalletRows;
  readonly asOf: AsOf;
  readonly policy: Policy;
}): ScoreRecord {
  return scoreFeatures(measureWallet(rows, policy), asOf, policy);
}

const MEASURES: ReadonlyMap<string, (facts: Facts) => Feature> = new Map([
  ["success_rate", successRate],
  ["gas_efficiency", gasEfficiency],
  ["portfolio_quality", portfolioQuality],
  ["dust_and_spam", dustAndSpam],
  ["risk_flags", riskFlags],
  ["timing_regularity", timingRegularity],
  ["counterparty_diversity", counterpartyDiversity],
  ["adaptation", adaptation],
  ["failure_recovery", failureRecovery],
  ["consistency", consistency],
]);

/** Turns the rows of one wallet into features, patterns and evidence; throws on a policy that names an unheard-of feature. */
export function measureWallet(rows: WalletRows, policy: Policy): MeasuredWallet {
  const facts = gatherFacts(rows, policy);
  return {
    chainId: rows.chainId,
    wallet: rows.wallet,
    sanctions: rows.sanctions.toSorted(compareFlags),
    coverage: { ...rows.coverage, sources: rows.coverage.sources.toSorted() },
    chainStartTimestamp: rows.chainStartTimestamp,
    features: policy.features.map((rule) => measureFeature(rule, facts)),
    patterns: findPatterns(facts),
    evidence: weighEvidence(facts),
  };
}

function compareFlags(a: SanctionsFlag, b: SanctionsFlag): number {
  return a.source === b.source ? compareTexts(a.reference, b.reference) : compareTexts(a.source, b.source);
}

function compareTexts(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

function gatherFacts(rows: WalletRows, policy: Policy): Facts {
  const market = createMarket(rows.tokens);
  const history = weighCalls(rows, market, policy);
  const failures = findFailures(history);
  return {
    rows,
    market,
    history,
    success: measureSuccess(history, policy),
    failures,
    blind: findBlindFailures(failures, history, policy),
    gas: measureGas(history, policy),
    holdings: holdingsOf({ rows, history, market, policy }),
    exposedShare: exposedShare(history, rows, market),
    policy,
  };
}

function measureFeature(rule: FeatureRule, facts: Facts): Feature {
  if (facts.history.outside.length === 0) {
    return notApplicable(rule.name, 0, "the wallet made no call to anyone else in the window");
  }
  const measure = MEASURES.get(rule.name);
  if (measure === undefined) throw new Error(`no feature is named ${rule.name}`);
  return measure(facts);
}

function weighEvidence({ history }: Facts): Evidence {
  const dealt = dealtWeight(history);
  return {
    ownCalls: history.calls.length,
    failableNanos: history.failable,
    creditedNanos: history.credited,
    creditedShare: dealt === 0 ? null : roundMicro(history.credited / dealt),
    ringShare: roundMicro(ringShare(history)),
    activeWeeks: roundMicro(effectiveWeeks({ history })),
    firstCallAt: history.calls[0]?.timestamp ?? null,
    lastCallAt: history.calls.at(-1)?.timestamp ?? null,
  };
}
