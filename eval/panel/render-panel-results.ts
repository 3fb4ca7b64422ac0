import { renderTable } from "../../bin/render-table.ts";
import { figure } from "../render-results.ts";
import type { CaseRow } from "./case-row.ts";
import { DECISIONS, type PanelMeasures } from "./panel-measures.ts";

/** The whole of an evaluation as text tables for a terminal. */
export function renderPanelResults(rows: readonly CaseRow[], measures: PanelMeasures): string {
  return [
    section("Verdicts by the best one expected", confusionRows(measures)),
    section("Domains", domainRows(measures)),
    section("Calibration of ALLOW and REJECT", calibrationRows(measures)),
    section("Cases that went another way", missRows(rows)),
    section("All in all", summaryRows(measures)),
  ].join("\n\n");
}

function section(title: string, rows: readonly (readonly string[])[]): string {
  return [title, ...(rows.length === 0 ? ["none"] : renderTable(rows))].join("\n");
}

function confusionRows({ confusion }: PanelMeasures): string[][] {
  return [
    ["expected", ...DECISIONS],
    ...DECISIONS.map((best) => [best, ...DECISIONS.map((given) => String(confusion[best][given]))]),
  ];
}

function domainRows({ byDomain }: PanelMeasures): string[][] {
  const lines = Object.entries(byDomain);
  return [
    ["domain", "verdicts", "accuracy"],
    ...lines.map(([domain, { verdicts, accuracy }]) => [domain, String(verdicts), figure(accuracy)]),
  ];
}

function calibrationRows({ calibration: { bins } }: PanelMeasures): string[][] {
  return [
    ["confidence", "verdicts", "mean", "right"],
    ...bins.map(({ from, verdicts, meanConfidence, shareRight }) => [
      `${from.toFixed(1)}–${(from + 0.1).toFixed(1)}`,
      String(verdicts),
      figure(meanConfidence),
      figure(shareRight),
    ]),
  ];
}

function missRows(rows: readonly CaseRow[]): string[][] {
  const missed = rows.filter(({ is_right }) => is_right !== true);
  if (missed.length === 0) return [];
  return [
    ["case", "expected", "got", "score", "confidence", "why"],
    ...missed.map((row) => [
      row.id,
      row.expected.join(" or "),
      row.verdict ?? "none",
      figure(row.final_score, 0),
      figure(row.confidence, 2),
      row.error ?? row.rules_fired.join(", "),
    ]),
  ];
}

function summaryRows(measures: PanelMeasures): string[][] {
  const { costUsd, latencyMs } = measures;
  const verdicts = measures.cases - measures.broken;
  return [
    ["verdicts", `${verdicts} of ${measures.cases} cases`],
    ["accuracy", figure(measures.accuracy)],
    ["false ALLOW", `${figure(measures.falseAllowRate)} of the cases that may not be allowed`],
    ["false REJECT", `${figure(measures.falseRejectRate)} of the cases that may not be rejected`],
    ["Brier", figure(measures.calibration.brier)],
    ["tokens", `${measures.promptTokens} asked, ${measures.completionTokens} answered`],
    ["cost", costUsd === null ? "unknown: no prices are configured" : costOf(costUsd, verdicts)],
    ["latency", `p50 ${milliseconds(latencyMs.p50)}, p95 ${milliseconds(latencyMs.p95)}`],
  ];
}

function costOf(usd: number, verdicts: number): string {
  const each = verdicts === 0 ? "" : `, ${(usd / verdicts).toFixed(4)} a verdict`;
  return `${usd.toFixed(4)} USD${each}`;
}

function milliseconds(value: number | null): string {
  return value === null ? "–" : `${value} ms`;
}
