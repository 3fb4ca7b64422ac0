import { PANEL_VERSION } from "../../service/verification/panel/policy.ts";
import type { Fit } from "./fit-thresholds.ts";
import type { VerdictMeasures } from "./panel-measures.ts";
import type { ReplayedCase, ReplayMeasures } from "./replay.ts";

/** A replay as `--json` writes it. */
export function replayResults(rows: readonly ReplayedCase[], measures: ReplayMeasures) {
  return {
    panel_version: PANEL_VERSION,
    ...verdictResults(measures),
    changed: measures.changed,
    calls_with_early_stop: measures.calls,
    decided_otherwise_by_early_stop: measures.otherwise,
    brier: measures.brier,
    ece: measures.ece,
    calibration_bins: measures.calibration.bins.map(({ from, verdicts, meanConfidence, shareRight }) => ({
      from,
      verdicts,
      mean_confidence: meanConfidence,
      share_right: shareRight,
    })),
    correlation: measures.correlation,
    effective_votes: measures.effectiveVotes,
    correlation_across_models: measures.acrossModels,
    rows,
  };
}

/** A fit as `--json` writes it. */
export function fitResults({ costs, thresholds, fitted, reported, difference }: Fit) {
  const resultsOf = (half: Fit["fitted"]) => ({
    now: { cost: half.now.cost, ...verdictResults(half.now) },
    chosen: { cost: half.chosen.cost, ...verdictResults(half.chosen) },
  });
  return {
    costs: { false_allow: costs.falseAllow, false_reject: costs.falseReject, hold: costs.hold },
    thresholds,
    fitted: resultsOf(fitted),
    reported: resultsOf(reported),
    difference,
  };
}

function verdictResults(measures: VerdictMeasures) {
  return {
    cases: measures.cases,
    without_verdict: measures.broken,
    coverage: measures.coverage,
    hold_rate: measures.holdRate,
    accuracy: measures.accuracy,
    decided_accuracy: measures.decidedAccuracy,
    false_allow: measures.falseAllow,
    false_reject: measures.falseReject,
  };
}
