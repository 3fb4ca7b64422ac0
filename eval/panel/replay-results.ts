import { PANEL_VERSION } from "../../service/verification/panel/policy.ts";
import type { ReplayedCase, ReplayMeasures } from "./replay.ts";

/** A replay as `--json` writes it. */
export function replayResults(rows: readonly ReplayedCase[], measures: ReplayMeasures) {
  return {
    panel_version: PANEL_VERSION,
    cases: measures.cases,
    without_verdict: measures.broken,
    changed: measures.changed,
    coverage: measures.coverage,
    hold_rate: measures.holdRate,
    accuracy: measures.accuracy,
    decided_accuracy: measures.decidedAccuracy,
    false_allow: measures.falseAllow,
    false_reject: measures.falseReject,
    brier: measures.brier,
    ece: measures.ece,
    calibration_bins: measures.calibration.bins.map(({ from, verdicts, meanConfidence, shareRight }) => ({
      ...{ from, verdicts, mean_confidence: meanConfidence, share_right: shareRight },
    })),
    correlation: measures.correlation,
    effective_votes: measures.effectiveVotes,
    rows,
  };
}
