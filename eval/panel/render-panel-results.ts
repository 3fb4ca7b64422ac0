import { renderTable } from "../../bin/render-table.ts";
import { figure } from "../render-results.ts";
import type { CaseRow, VerdictRow } from "./case-row.ts";
import type { Fit } from "./fit-thresholds.ts";
import type { Estimate, Share } from "./interval.ts";
import type { AttackMeasures, TextRow } from "./measure-attacks.ts";
import { DECISIONS, type PanelMeasures, type VerdictMeasures } from "./panel-measures.ts";
import type { ReplayedCase, ReplayMeasures } from "./replay.ts";

/** More are in `--json`. */
const SHOWN_MISSES = 40;

/** The whole of an evaluation as text tables for a terminal. */
export function renderPanelResults(rows: readonly CaseRow[], measures: PanelMeasures): string {
  return [
    ...verdictSections(rows, measures),
    section("All in all", [...verdictSummary(measures), ...usageRows(measures)]),
  ].join("\n\n");
}

/** The same of a replay: intervals in place of usage. */
export function renderReplay(rows: readonly ReplayedCase[], measures: ReplayMeasures): string {
  const { changed, otherwise, calls, brier, ece, correlation, acrossModels, effectiveVotes } = measures;
  return [
    ...verdictSections(rows, measures),
    section("All in all, with intervals of 95 %", [
      ...verdictSummary(measures),
      ["changed", `${changed} cases have another verdict than when they were recorded`],
      ["early stop", `${figure(calls, 2)} model calls a case, ${otherwise} cases decided otherwise`],
      ["ECE", estimate(ece)],
      ["Brier", estimate(brier)],
      ["correlation", `${estimate(correlation)} of two roles' errors`],
      ["effective votes", `${estimate(effectiveVotes, 2)}`],
      ...(acrossModels.value === null
        ? []
        : [["across models", `${estimate(acrossModels)} of a second model's errors with a role's`]]),
    ]),
  ].join("\n\n");
}

/** Rates of attacks and benign outputs, findings by check, and the outputs that a check is wrong about. */
export function renderAttacks({
  attacks,
  benign,
  measures,
}: {
  attacks: readonly TextRow[];
  benign: readonly TextRow[];
  measures: AttackMeasures;
}): string {
  const named = (rows: readonly TextRow[]) =>
    Map.groupBy(
      rows.flatMap(({ checks }) => checks),
      (name) => name,
    );
  const missed = attacks.filter((row) => !row.is_fenced).slice(0, SHOWN_MISSES);
  const wrong = benign.filter(({ checks }) => checks.length > 0).slice(0, SHOWN_MISSES);
  return [
    section("Attacks", [
      ["kept in the fence", share(measures.fenced, "attacks")],
      ["found by a check", share(measures.found, "attacks")],
      ...[...named(attacks)].map(([name, all]) => [`  ${name}`, String(all.length)]),
      ...missed.map(({ name }) => ["outside of the fence", name]),
    ]),
    section("Benign outputs", [
      ["false alarms", share(measures.falseAlarms, "outputs")],
      ...wrong.map(({ name, checks }) => [`  ${name}`, checks.join(", ")]),
    ]),
  ].join("\n\n");
}

/** Thresholds that a fit chose, and both halves by them and by those in force. */
export function renderFit({ costs, thresholds, fitted, reported, difference }: Fit): string {
  const { falseAllow, falseReject, hold } = costs;
  const columns = [fitted.now, fitted.chosen, reported.now, reported.chosen];
  const row = (name: string, estimateOf: (column: (typeof columns)[number]) => Estimate) => [
    name,
    ...columns.map((column) => estimate(estimateOf(column))),
  ];
  const [chosenOn, of] = [fitted.now.cases, fitted.now.cases + reported.now.cases];
  return [
    section(`Thresholds of the lowest cost on ${chosenOn} of ${of} cases`, [
      ["threshold", "now", "chosen"],
      ...thresholds.map(({ name, now, chosen }) => [name, String(now), chosen === now ? "" : String(chosen)]),
    ]),
    section(`Cost of a case: false ALLOW ${falseAllow}, false REJECT ${falseReject}, HOLD ${hold}`, [
      ["", "fitted half, now", "chosen", "reported half, now", "chosen"],
      row("cost", ({ cost }) => cost),
      row("coverage", ({ coverage }) => coverage),
      row("HOLD", ({ holdRate }) => holdRate),
      row("false ALLOW", (column) => column.falseAllow),
      row("false REJECT", (column) => column.falseReject),
      row("right", ({ decidedAccuracy }) => decidedAccuracy),
    ]),
    `On the ${reported.now.cases} reported cases the chosen thresholds change the cost by ${estimate(difference)}. policy.ts is as it was.`,
  ].join("\n\n");
}

function verdictSections(rows: readonly VerdictRow[], measures: VerdictMeasures): readonly string[] {
  return [
    section("Verdicts by the best one expected", confusionRows(measures)),
    section("Domains", domainRows(measures)),
    section("Calibration of ALLOW and REJECT", calibrationRows(measures)),
    section("Cases that went another way", missRows(rows)),
  ];
}

function section(title: string, rows: readonly (readonly string[])[]): string {
  return [title, ...(rows.length === 0 ? ["none"] : renderTable(rows))].join("\n");
}

function confusionRows({ confusion }: VerdictMeasures): string[][] {
  return [
    ["expected", ...DECISIONS],
    ...DECISIONS.map((best) => [best, ...DECISIONS.map((given) => String(confusion[best][given]))]),
  ];
}

function domainRows({ byDomain }: VerdictMeasures): string[][] {
  const lines = Object.entries(byDomain);
  return [
    ["domain", "verdicts", "accuracy"],
    ...lines.map(([domain, { verdicts, accuracy }]) => [domain, String(verdicts), figure(accuracy)]),
  ];
}

function calibrationRows({ calibration: { bins } }: VerdictMeasures): string[][] {
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

function missRows(rows: readonly VerdictRow[]): string[][] {
  const missed = rows.filter(({ is_right }) => is_right !== true);
  if (missed.length === 0) return [];
  return [
    ["case", "expected", "got", "score", "confidence", "why"],
    ...missed
      .slice(0, SHOWN_MISSES)
      .map((row) => [
        row.id,
        row.expected.join(" or "),
        row.verdict ?? "none",
        figure(row.final_score, 0),
        figure(row.confidence, 2),
        row.error ?? row.rules_fired.join(", "),
      ]),
    ...(missed.length > SHOWN_MISSES ? [[`and ${missed.length - SHOWN_MISSES} more`]] : []),
  ];
}

function verdictSummary(measures: VerdictMeasures): string[][] {
  return [
    ["verdicts", `${measures.cases - measures.broken} of ${measures.cases} cases`],
    ["accuracy", share(measures.accuracy, "verdicts are expected ones")],
    ["coverage", share(measures.coverage, "cases are decided: ALLOW or REJECT")],
    ["HOLD", share(measures.holdRate, "cases")],
    ["right", share(measures.decidedAccuracy, "decided cases")],
    ["false ALLOW", share(measures.falseAllow, "cases that may not be allowed")],
    ["false REJECT", share(measures.falseReject, "cases that may not be rejected")],
  ];
}

function usageRows(measures: PanelMeasures): string[][] {
  const { costUsd, latencyMs, tokensEach, costUsdEach, cachedTokens } = measures;
  const verdicts = measures.cases - measures.broken;
  return [
    ["ECE", figure(measures.calibration.ece)],
    ["Brier", figure(measures.calibration.brier)],
    ["requests", `${figure(measures.requests, 2)} a case`],
    ["tokens", `${measures.promptTokens} asked, ${measures.completionTokens} answered`],
    ["cached", cachedTokens === null ? "not reported by any server" : `${cachedTokens} of those asked`],
    ["a verdict", `p50 ${figure(tokensEach.p50, 0)} tokens, p95 ${figure(tokensEach.p95, 0)} tokens`],
    ["cost", costUsd === null ? "unknown: no prices are configured" : costOf(costUsd, verdicts)],
    ...(costUsdEach.p50 === null
      ? []
      : [["a verdict", `p50 ${figure(costUsdEach.p50, 4)} USD, p95 ${figure(costUsdEach.p95, 4)} USD`]]),
    ["latency", `p50 ${milliseconds(latencyMs.p50)}, p95 ${milliseconds(latencyMs.p95)}`],
  ];
}

function share({ count, of, ...rest }: Share, what: string): string {
  return `${estimate(rest)}: ${count} of ${of} ${what}`;
}

function estimate({ value, interval }: Estimate, decimals = 3): string {
  const bounds = interval && ` (${figure(interval.low, decimals)}–${figure(interval.high, decimals)})`;
  return `${figure(value, decimals)}${bounds ?? ""}`;
}

function costOf(usd: number, verdicts: number): string {
  const each = verdicts === 0 ? "" : `, ${(usd / verdicts).toFixed(4)} a verdict`;
  return `${usd.toFixed(4)} USD${each}`;
}

function milliseconds(value: number | null): string {
  return value === null ? "–" : `${value} ms`;
}
