import type { Evidence, Feature, MeasuredWallet } from "../score/measured-wallet.ts";
import type { FeatureRule, Policy } from "../score/policy-shape.ts";
import { consistency } from "./consistency.ts";
import { counterpartyDiversity } from "./counterparty-diversity.ts";
import { type Facts, notApplicable, unknown } from "./facts.ts";
import { failureRecovery } from "./failure-recovery.ts";
import { findFailures } from "./failure-runs.ts";
import { gasEfficiency } from "./gas-efficiency.ts";
import { findPatterns } from "./patterns.ts";
import { measureSuccess } from "./success.ts";
import { successRate } from "./success-rate.ts";
import { weekOf } from "./time.ts";
import { timingRegularity } from "./timing-regularity.ts";
import type { WalletRows } from "./types.ts";
import { type WeighedHistory, weighCalls } from "./weigh-calls.ts";

const MEASURES: ReadonlyMap<string, (facts: Facts) => Feature> = new Map([
  ["success_rate", successRate],
  ["gas_efficiency", gasEfficiency],
  ["timing_regularity", timingRegularity],
  ["counterparty_diversity", counterpartyDiversity],
  ["failure_recovery", failureRecovery],
  ["consistency", consistency],
]);

/** Turns the rows of one wallet into features, patterns and evidence; throws on a policy that names an unheard-of feature. */
export function measureWallet(rows: WalletRows, policy: Policy): MeasuredWallet {
  const history = weighCalls(rows, policy);
  const facts: Facts = {
    history,
    success: measureSuccess(history, policy),
    failures: findFailures(history),
    policy,
  };
  return {
    chainId: rows.chainId,
    wallet: rows.wallet,
    sanctions: rows.sanctions,
    coverage: rows.coverage,
    chainStartTimestamp: rows.chainStartTimestamp,
    features: policy.features.map((rule) => measureFeature(rule, facts)),
    patterns: findPatterns(facts),
    evidence: weighEvidence(history),
  };
}

function measureFeature(rule: FeatureRule, facts: Facts): Feature {
  if (rule.unknownBecause !== null) return unknown(rule.name, rule.unknownBecause);
  if (facts.history.outside.length === 0) {
    return notApplicable(rule.name, 0, "the wallet made no call to anyone else in the window");
  }
  const measure = MEASURES.get(rule.name);
  if (measure === undefined) throw new Error(`no feature is named ${rule.name}`);
  return measure(facts);
}

function weighEvidence(history: WeighedHistory): Evidence {
  return {
    ownCalls: history.calls.length,
    weightNanos: history.evidence,
    creditedShare: history.totalWeight === 0 ? null : history.credited / history.totalWeight,
    activeWeeks: new Set(history.outside.map(({ call }) => weekOf(call.timestamp))).size,
    firstCallAt: history.calls[0]?.timestamp ?? null,
    lastCallAt: history.calls.at(-1)?.timestamp ?? null,
  };
}
