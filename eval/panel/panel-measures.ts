import type { Decision } from "../../service/verification/panel/types.ts";
import type { CaseRow, VerdictRow } from "./case-row.ts";
import { type Share, shareOf } from "./interval.ts";

export const DECISIONS = ["ALLOW", "HOLD", "REJECT"] as const satisfies readonly Decision[];

const BINS = 10;

type Bin = {
  /** Lowest confidence of the bin. */
  readonly from: number;
  readonly verdicts: number;
  readonly meanConfidence: number;
  readonly shareRight: number;
};

/** Only ALLOW and REJECT, since HOLD claims no knowledge. */
type Calibration = {
  readonly bins: readonly Bin[];
  /** Mean squared distance between confidence and correctness (1 or 0); 0 is best. */
  readonly brier: number | null;
  /** Expected calibration error: mean distance between the confidence of a bin and its share right, weighted by verdicts; 0 is best. */
  readonly ece: number | null;
};

/** Measures of verdicts on labelled cases; a share of nothing is null. */
export type VerdictMeasures = {
  readonly cases: number;
  /** Cases without a verdict; they count only in coverage, hold rate and usage. */
  readonly broken: number;
  readonly accuracy: Share;
  /** Share of the cases that are decided: ALLOW or REJECT. */
  readonly coverage: Share;
  readonly holdRate: Share;
  /** Share right among the decided. */
  readonly decidedAccuracy: Share;
  /** Verdicts given, by the best verdict expected. */
  readonly confusion: Readonly<Record<Decision, Readonly<Record<Decision, number>>>>;
  /** Share of allowed cases among those that must not be allowed; falseReject likewise for rejected ones. */
  readonly falseAllow: Share;
  readonly falseReject: Share;
  readonly calibration: Calibration;
  readonly byDomain: Readonly<Record<string, { readonly verdicts: number; readonly accuracy: number }>>;
};

/** Measures of an evaluation: verdicts and usage. */
export type PanelMeasures = VerdictMeasures & {
  /** Null if no prices are configured. */
  readonly costUsd: number | null;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Null if no server reports them. */
  readonly cachedTokens: number | null;
  /** Mean number of HTTP requests of a case. */
  readonly requests: number;
  /** Of a verdict; the cost is null if no prices are configured. */
  readonly latencyMs: Percentiles;
  readonly tokensEach: Percentiles;
  readonly costUsdEach: Percentiles;
};

type Percentiles = { readonly p50: number | null; readonly p95: number | null };

type Judged<Row extends VerdictRow = VerdictRow> = Row & {
  readonly verdict: Decision;
  readonly is_right: boolean;
};

/** Accuracy, errors, calibration and usage of a set of runs. */
export function measurePanel(rows: readonly CaseRow[]): PanelMeasures {
  const judged = judgedOf(rows);
  const cached = rows.map((row) => row.cached_tokens).filter((tokens) => tokens !== null);
  const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);
  const costs = rows.map((row) => row.cost_usd);
  return {
    ...measureVerdicts(rows),
    costUsd: costs.every((cost) => cost !== null) ? costs.reduce((total, cost) => total + cost, 0) : null,
    promptTokens: rows.reduce((total, row) => total + row.prompt_tokens, 0),
    completionTokens: rows.reduce((total, row) => total + row.completion_tokens, 0),
    cachedTokens: cached.length === 0 ? null : total(cached),
    requests: total(rows.map((row) => row.requests)) / Math.max(1, rows.length),
    latencyMs: percentilesOf(judged.map((row) => row.latency_ms)),
    tokensEach: percentilesOf(judged.map((row) => row.prompt_tokens + row.completion_tokens)),
    costUsdEach: percentilesOf(judged.map((row) => row.cost_usd).filter((cost) => cost !== null)),
  };
}

/** Accuracy, errors and calibration of verdicts, however they were reached. */
export function measureVerdicts(rows: readonly VerdictRow[]): VerdictMeasures {
  const judged = judgedOf(rows);
  return {
    cases: rows.length,
    broken: rows.length - judged.length,
    accuracy: shareOf(judged, (row) => row.is_right),
    coverage: shareOf(rows, isDecided),
    holdRate: shareOf(rows, ({ verdict }) => verdict === "HOLD"),
    decidedAccuracy: shareOf(judged.filter(isDecided), (row) => row.is_right),
    confusion: confusionOf(judged),
    falseAllow: falseShare(judged, "ALLOW"),
    falseReject: falseShare(judged, "REJECT"),
    calibration: calibrationOf(judged),
    byDomain: byDomain(judged),
  };
}

function judgedOf<Row extends VerdictRow>(rows: readonly Row[]): readonly Judged<Row>[] {
  return rows.filter((row): row is Judged<Row> => row.verdict !== null && row.is_right !== null);
}

function isDecided({ verdict }: VerdictRow): boolean {
  return verdict === "ALLOW" || verdict === "REJECT";
}

function percentilesOf(values: readonly number[]): Percentiles {
  return { p50: percentile(values, 0.5), p95: percentile(values, 0.95) };
}

/** Nearest-rank percentile; null without values. */
export function percentile(values: readonly number[], share: number): number | null {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null;
}

function falseShare(rows: readonly Judged[], verdict: Decision): Share {
  return shareOf(
    rows.filter(({ expected }) => !expected.includes(verdict)),
    (row) => row.verdict === verdict,
  );
}

function confusionOf(rows: readonly Judged[]): VerdictMeasures["confusion"] {
  const count = (best: Decision, given: Decision) =>
    rows.filter(({ expected, verdict }) => expected[0] === best && verdict === given).length;
  const line = (best: Decision) => ({
    ALLOW: count(best, "ALLOW"),
    HOLD: count(best, "HOLD"),
    REJECT: count(best, "REJECT"),
  });
  return { ALLOW: line("ALLOW"), HOLD: line("HOLD"), REJECT: line("REJECT") };
}

/** How well confidence says the chance to be right. */
export function calibrationOf(rows: readonly VerdictRow[]): Calibration {
  const claims = rows
    .filter(isDecided)
    .flatMap(({ confidence, is_right }) =>
      confidence === null ? [] : [{ confidence, right: is_right ? 1 : 0 }],
    );
  // Full confidence belongs to the last bin.
  const groups = Map.groupBy(claims, ({ confidence }) => Math.min(BINS - 1, Math.floor(confidence * BINS)));
  const bins = [...groups]
    .sort(([one], [other]) => one - other)
    .map(([index, members]) => ({
      from: index / BINS,
      verdicts: members.length,
      meanConfidence: meanOf(members, ({ confidence }) => confidence),
      shareRight: meanOf(members, ({ right }) => right),
    }));
  if (claims.length === 0) return { bins, brier: null, ece: null };
  const gap = (bin: Bin) => (bin.verdicts * Math.abs(bin.meanConfidence - bin.shareRight)) / claims.length;
  return {
    bins,
    brier: meanOf(claims, ({ confidence, right }) => (confidence - right) ** 2),
    ece: bins.reduce((sum, bin) => sum + gap(bin), 0),
  };
}

function byDomain(rows: readonly Judged[]): VerdictMeasures["byDomain"] {
  const groups = Map.groupBy(rows, ({ domain }) => domain);
  const lines = [...groups].map(([domain, members]) => {
    const right = members.filter(({ is_right }) => is_right).length;
    return [domain, { verdicts: members.length, accuracy: right / members.length }] as const;
  });
  return Object.fromEntries(lines);
}

/** Mean over rows of which there is at least one. */
function meanOf<Row>(rows: readonly Row[], numberOf: (row: Row) => number): number {
  return rows.reduce((sum, row) => sum + numberOf(row), 0) / rows.length;
}
