import { newAgentsOf, registryFaultsOf, type ScanReport } from "../../service/db/tables/scan.ts";
import type { ScanRunRow } from "../../service/registries/nightly/scan-runs.ts";
import { renderTable } from "../render-table.ts";

const NONE = "–";
const ID_CHARACTERS = 8;

/** Scans as a table, in the order given. */
export function renderScans(scans: readonly ScanRunRow[]): string[] {
  const header = [
    "id",
    "night",
    "cause",
    "state",
    "began",
    "took",
    "wallets",
    "new agents",
    "changed grades",
    "",
  ];
  return renderTable([header, ...scans.map(rowOf)]);
}

function rowOf({ id, night, cause, state, startedAt, finishedAt, report, error }: ScanRunRow): string[] {
  const faults = report === null ? 0 : registryFaultsOf(report);
  return [
    id.slice(0, ID_CHARACTERS),
    night,
    cause,
    state,
    startedAt.toISOString(),
    finishedAt === null ? NONE : secondsBetween(startedAt, finishedAt),
    report === null ? NONE : String(report.wallets),
    report === null ? NONE : String(newAgentsOf(report)),
    report === null ? NONE : String(report.changedGrades ?? NONE),
    error ?? (faults > 0 ? `${faults} registries not read to their end` : ""),
  ];
}

/** One scan with all that its report says; of one that is not done, how it stands. */
export function renderScan(scan: ScanRunRow): string[] {
  const { id, night, cause, state, startedAt, finishedAt, attempts, error, report } = scan;
  const tries = attempts === 1 ? "" : `, at attempt ${attempts}`;
  const took = finishedAt === null ? "" : `, took ${secondsBetween(startedAt, finishedAt)}`;
  const head = [
    `scan ${id} of the night ${night}, ${cause}: ${state}, began ${startedAt.toISOString()}${took}${tries}`,
  ];
  if (error !== null) head.push(`the last attempt failed: ${error}`);
  return report === null ? head : [...head, "", ...renderReport(report)];
}

function renderReport(report: ScanReport): string[] {
  const { documents, endpoints, grades, meanScoreHundredths, root, noRoot } = report;
  const mean = meanScoreHundredths === null ? NONE : (meanScoreHundredths / 100).toFixed(2);
  return [
    ...renderRegistries(report),
    "",
    `documents: ${listed(documents)}; ${report.changedDocuments} changed, ${report.documentsLeft} still to be read again`,
    `endpoints: ${listed(endpoints)}`,
    `wallets followed: ${report.wallets}; grades ${listed(grades)}; mean score ${mean}; sanctioned: ${report.sanctioned}`,
    root === null
      ? `root: none, ${noRoot}`
      : `root of epoch ${root.epoch}: ${root.root} over ${root.leaves} wallets`,
    ...renderMoves(report),
  ];
}

function renderRegistries({ registries }: ScanReport): string[] {
  const header = ["registry", "agents", "new", "wallets asked for", "block", ""];
  const rows = registries.map(({ name, agents, newAgents, newWallets, block, fault }) => [
    name,
    String(agents),
    String(newAgents),
    String(newWallets),
    block === null ? NONE : String(block),
    fault ?? "",
  ]);
  return renderTable([header, ...rows]);
}

function renderMoves({ changedGrades, gradeMoves }: ScanReport): string[] {
  if (changedGrades === null) return ["changed grades: this is the first scan"];
  const rest = changedGrades - gradeMoves.length;
  return [
    `changed grades: ${changedGrades}`,
    ...renderTable(
      gradeMoves.map(({ wallet, from, to }) => [`  ${wallet}`, `${from ?? NONE} → ${to ?? NONE}`]),
    ),
    ...(rest > 0 ? [`  and ${rest} more`] : []),
  ];
}

function listed(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(", ");
}

function secondsBetween(from: Date, to: Date): string {
  return `${((to.getTime() - from.getTime()) / 1000).toFixed(1)} s`;
}
