import type { Decision } from "../../service/verification/panel/types.ts";
import type { CaseRow } from "./case-row.ts";

export const DECISIONS = ["ALLOW", "HOLD", "REJECT"] as const satisfies readonly Decision[];

const BINS = 10;

type Bin = {
  /** Lowest confidence of the bin. */
  readonly from: number;
  readonly verdicts: number;
  readonly meanConfidence: number;
  readonly shareRight: number;
};

/** Measures of an evaluation; a share of nothing is null. */
export type PanelMeasures = {
  readonly cases: number;
  /** Runs without a verdict; they count only in usage. */
  readonly broken: number;
  readonly accuracy: number | null;
  /** Verdicts given, by the best verdict expected. */
  readonly confusion: Readonly<Record<Decision, Readonly<Record<Decision, number>>>>;
  /** Share of allowed cases among those that must not be allowed; falseRejectRate likewise for rejected ones. */
  readonly falseAllowRate: number | null;
  readonly falseRejectRate: number | null;
  /** Only ALLOW and REJECT, since HOLD claims no knowledge. */
  readonly calibration: {
    readonly bins: readonly Bin[];
    /** Mean squared distance between confidence and correctness (1 or 0); 0 is best. */
    readonly brier: number | null;
  };
  readonly byDomain: Readonly<Record<string, { readonly verdicts: number; readonly accuracy: number }>>;
  /** Null if no prices are configured. */
  readonly costUsd: number | null;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly latencyMs: { readonly p50: number | null; readonly p95: number | null };
};

type Judged = CaseRow & { readonly verdict: Decision; readonly is_right: boolean };

/** Accuracy, errors, calibration and usage of a set of runs. */
export function measurePanel(rows: readonly CaseRow[]): PanelMeasures {
  const judged = rows.filter((row): row is Judged => row.verdict !== null && row.is_right !== null);
  const latencies = judged.map((row) => row.latency_ms);
  const costs = rows.map((row) => row.cost_usd);
  return {
    cases: rows.length,
    broken: rows.length - judged.length,
    accuracy: shareOf(judged, (row) => row.is_right),
    confusion: confusionOf(judged),
    falseAllowRate: falseRate(judged, "ALLOW"),
    falseRejectRate: falseRate(judged, "REJECT"),
    calibration: calibrationOf(judged),
    byDomain: byDomain(judged),
    costUsd: costs.every((cost) => cost !== null) ? costs.reduce((total, cost) => total + cost, 0) : null,
    promptTokens: rows.reduce((total, row) => total + row.prompt_tokens, 0),
    completionTokens: rows.reduce((total, row) => total + row.completion_tokens, 0),
    latencyMs: { p50: percentile(latencies, 0.5), p95: percentile(latencies, 0.95) },
  };
}

/** Nearest-rank percentile; null without values. */
export function percentile(values: readonly number[], share: number): number | null {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null;
}

function falseRate(rows: readonly Judged[], verdict: Decision): number | null {
  return shareOf(
    rows.filter(({ expected }) => !expected.includes(verdict)),
    (row) => row.verdict === verdict,
  );
}

function confusionOf(rows: readonly Judged[]): PanelMeasures["confusion"] {
  const count = (best: Decision, given: Decision) =>
    rows.filter(({ expected, verdict }) => expected[0] === best && verdict === given).length;
  const line = (best: Decision) => ({
    ALLOW: count(best, "ALLOW"),
    HOLD: count(best, "HOLD"),
    REJECT: count(best, "REJECT"),
  });
  return { ALLOW: line("ALLOW"), HOLD: line("HOLD"), REJECT: line("REJECT") };
}

function calibrationOf(rows: readonly Judged[]): PanelMeasures["calibration"] {
  const told = rows.flatMap(({ verdict, confidence, is_right }) =>
    verdict === "HOLD" || confidence === null ? [] : [{ confidence, right: is_right ? 1 : 0 }],
  );
  const bins = Array.from({ length: BINS }, (_, index) => {
    // Full confidence belongs to the last bin.
    const members = told.filter(
      ({ confidence }) => Math.min(BINS - 1, Math.floor(confidence * BINS)) === index,
    );
    return {
      from: index / BINS,
      verdicts: members.length,
      meanConfidence: mean(members.map(({ confidence }) => confidence)),
      shareRight: mean(members.map(({ right }) => right)),
    };
  });
  const squares = told.map(({ confidence, right }) => (confidence - right) ** 2);
  return {
    bins: bins.flatMap(({ meanConfidence, shareRight, ...bin }) =>
      meanConfidence === null || shareRight === null ? [] : [{ ...bin, meanConfidence, shareRight }],
    ),
    brier: mean(squares),
  };
}

function byDomain(rows: readonly Judged[]): PanelMeasures["byDomain"] {
  const groups = Map.groupBy(rows, ({ domain }) => domain);
  const lines = [...groups].map(([domain, members]) => {
    const right = members.filter(({ is_right }) => is_right).length;
    return [domain, { verdicts: members.length, accuracy: right / members.length }] as const;
  });
  return Object.fromEntries(lines);
}

function shareOf<Row>(rows: readonly Row[], holds: (row: Row) => boolean): number | null {
  return rows.length === 0 ? null : rows.filter(holds).length / rows.length;
}

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}
