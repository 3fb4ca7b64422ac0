import { randomUUID } from "node:crypto";
import { parseArgs } from "node:util";
import type { Address, PublicClient } from "viem";
import { agentHealthOracleAbi } from "../../service/chain/abi/agent-health-oracle.ts";
import type { Deployment } from "../../service/chain/deployments.ts";
import { type Database, requireMigrated } from "../../service/db/database.ts";
import { newAgentsOf, registryFaultsOf, type ScanReport } from "../../service/db/tables/scan.ts";
import {
  beginScan,
  nightOf,
  noteScanFailure,
  readNewestScan,
  readScan,
  readScans,
  type ScanAttempt,
  type ScanRunRow,
  whileScanning,
} from "../../service/registries/nightly/scan-runs.ts";
import { indexedDeployment, unknownAction, withDatabase } from "../command.ts";
import { type Config, type Invocation, requireChainSettings } from "../config.ts";
import { scoringFromConfig } from "../from-config.ts";
import { createLogger, openChainClient, shutdownSignal } from "../process.ts";
import { renderTable } from "../render-table.ts";
import { scanWith } from "../work/nightly.ts";

/** Usage of `ahs scan`. */
export const USAGE = `Usage: ahs scan run [--json]
       ahs scan list [--json]
       ahs scan show [ID|NIGHT] [--json]
run scans now: all scores, the night's Merkle root unless it was made, registries, documents, a report. Needs RPC_URL, and
PUBLIC_URL for a root on a public chain.
show takes the beginning of an id or a UTC day (YYYY-MM-DD), and the newest scan that is done without either.`;

const LISTED = 30;

/** Makes a scan; throws the error that prevents its report. */
type MakeScan = (attempt: ScanAttempt, signal: AbortSignal) => Promise<ScanReport>;

type ScanCommandDeps = {
  readonly db: Database;
  readonly chainId: number;
  readonly out: (line: string) => void;
  readonly now: () => Date;
  readonly signal: AbortSignal;
  /** Throws where what a scan needs is not configured, or not there. */
  readonly openScan: () => Promise<MakeScan>;
};

/** `ahs scan run|list|show`: the scans of the configured chain. */
export async function run({ config, args, out }: Invocation): Promise<void> {
  const deployment = indexedDeployment(config);
  await withDatabase({ ...config, logLevel: "fatal" }, "scan", async (db, { now }) => {
    await requireMigrated(db);
    await runScanCommand(args, {
      db,
      chainId: deployment.chainId,
      out,
      now,
      signal: shutdownSignal(),
      openScan: () => openScan({ config, deployment, db, now }),
    });
  });
}

async function openScan(from: {
  readonly config: Config;
  readonly deployment: Deployment;
  readonly db: Database;
  readonly now: () => Date;
}): Promise<MakeScan> {
  const { rpcUrl } = requireChainSettings(from.config);
  const logger = createLogger({ logLevel: "fatal" }, "scan");
  const publisher = await readPublisher(openChainClient(rpcUrl), from.deployment.oracle.address);
  return scanWith({ ...from, rpcUrl, publisher, scoring: scoringFromConfig({ ...from, logger }) });
}

/** Whose transactions carry a root: no key is needed to have one sent by a worker. */
function readPublisher(client: PublicClient, oracle: Address): Promise<Address> {
  return client.readContract({ address: oracle, abi: agentHealthOracleAbi, functionName: "publisher" });
}

/** Runs `ahs scan …`; throws with what was given and expected when the arguments do not fit, and while a scan is running. */
export async function runScanCommand(args: readonly string[], deps: ScanCommandDeps): Promise<void> {
  const [action, ...rest] = args;
  const { values, positionals } = parseArgs({
    args: [...rest],
    options: { json: { type: "boolean", default: false } },
    allowPositionals: true,
  });
  if (positionals.length > (action === "show" ? 1 : 0)) {
    throw new Error(`too many arguments: "${positionals.join(" ")}"\n${USAGE}`);
  }
  const { db, chainId } = deps;
  switch (action) {
    case "run":
      return show(await runNow(deps), values.json, deps);
    case "list": {
      const scans = await readScans(db, chainId, LISTED);
      for (const line of values.json ? [asJson(scans)] : renderScans(scans)) deps.out(line);
      return;
    }
    case "show":
      return show(await find(deps, positionals[0]), values.json, deps);
    default:
      throw unknownAction(action, USAGE);
  }
}

async function find({ db, chainId }: ScanCommandDeps, wanted: string | undefined): Promise<ScanRunRow> {
  const found =
    wanted === undefined ? await readNewestScan(db, chainId) : await readScan(db, chainId, wanted);
  if (found !== null) return found;
  throw new Error(wanted === undefined ? "no scan is done yet" : `no scan of that id or night: "${wanted}"`);
}

async function runNow(deps: ScanCommandDeps): Promise<ScanRunRow> {
  const { db, chainId, now, signal } = deps;
  const make = await deps.openScan();
  const result = await whileScanning({ db, chainId, signal }, async (held) => {
    const night = nightOf(now());
    const attempt = await beginScan(db, { chainId, night, cause: "hand", id: randomUUID(), now: now() });
    if (attempt === null) throw new Error("a scan by hand has a row of its own");
    try {
      await make(attempt, held);
    } catch (error) {
      await noteScanFailure(db, attempt, signal.aborted ? "it was stopped" : "a step failed");
      throw error;
    }
    return readScan(db, chainId, attempt.id);
  });
  if (result === "busy") throw new Error('a scan is running already: "ahs scan list" shows it');
  if (result === null) throw new Error("the chain was cleared meanwhile, and the scan with it");
  return result;
}

function show(scan: ScanRunRow, json: boolean, { out }: ScanCommandDeps): void {
  for (const line of json ? [asJson(scan)] : renderScan(scan)) out(line);
}

function asJson(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

const NONE = "–";
const ID_CHARACTERS = 8;

/** Scans as a table, in the order given. */
function renderScans(scans: readonly ScanRunRow[]): string[] {
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

/** Shows one scan with its report, or the progress of an unfinished one. */
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
