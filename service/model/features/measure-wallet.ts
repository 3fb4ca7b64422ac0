import { roundMicro } from "../score/fixed-point.ts";
import type { Evidence, Feature, MeasuredWallet } from "../score/measured-wallet.ts";
import type { FeatureRule, Policy } from "../score/policy-shape.ts";
import { adaptation } from "./adaptation.ts";
import { consistency } from "./consistency.ts";
import { counterpartyDiversity } from "./counterparty-diversity.ts";
import { dustAndSpam } from "./dust-and-spam.ts";
import { exposedShare } from "./exposure.ts";
import { type Facts, notApplicable } from "./facts.ts";
import { failureRecovery } from "./failure-recovery.ts";
import { findBlindFailures, findFailures } from "./failure-runs.ts";
import { gasEfficiency, measureGas } from "./gas-efficiency.ts";
import { holdingsOf } from "./holdings.ts";
import { createMarket } from "./market.ts";
import { findPatterns } from "./patterns.ts";
import { portfolioQuality } from "./portfolio-quality.ts";
import { riskFlags } from "./risk-flags.ts";
import { isSelfDealing } from "./self-dealing.ts";
import { measureSuccess } from "./success.ts";
import { successRate } from "./success-rate.ts";
import { weekOf } from "./time.ts";
import { timingRegularity } from "./timing-regularity.ts";
import type { SanctionsFlag, WalletRows } from "./types.ts";
import { weighCalls } from "./weigh-calls.ts";

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

function weighEvidence({ history, exposedShare: exposed, policy }: Facts): Evidence {
  return {
    ownCalls: history.calls.length,
    weightNanos: history.evidence,
    // Rounded, so that a share of exactly the bound is not below it by the rounding of weights.
    creditedShare: history.totalWeight === 0 ? null : roundMicro(history.credited / history.totalWeight),
    selfDealing: isSelfDealing(history, policy),
    exposedShare: exposed,
    activeWeeks: new Set(history.outside.map(({ call }) => weekOf(call.timestamp))).size,
    firstCallAt: history.calls[0]?.timestamp ?? null,
    lastCallAt: history.calls.at(-1)?.timestamp ?? null,
  };
}
