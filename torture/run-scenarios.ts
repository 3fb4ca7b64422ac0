import { setTimeout as sleep } from "node:timers/promises";
import { newFindings } from "./accounts/finding.ts";
import { answersGivenAway } from "./accounts/key-account.ts";
import { type SettleOptions, settle } from "./accounts/settle.ts";
import { collectFaults } from "./faults.ts";
import { type Load, startLoad } from "./load/load.ts";
import { chainLost } from "./scenarios/chain-lost.ts";
import { hostile } from "./scenarios/hostile.ts";
import { hostileChain } from "./scenarios/hostile-chain.ts";
import { connections, kill } from "./scenarios/kill.ts";
import { moneyEdges } from "./scenarios/money-edges.ts";
import { databaseGone, rpcGone, rpcLimited, rpcSlow } from "./scenarios/outages.ts";
import { reorg } from "./scenarios/reorg.ts";
import type { Extent, Injection, Scenario, ScenarioContext } from "./scenarios/scenario.ts";
import { several } from "./scenarios/several.ts";
import type { DatabaseServer } from "./stand/database-server.ts";
import { openStand, type Stand } from "./stand/stand.ts";
import { type TortureRow, tortureRow } from "./torture-row.ts";

/** In this order: the last one replaces the chain. */
const SCENARIOS: Readonly<Record<string, Scenario>> = {
  several,
  kill,
  connections,
  reorg,
  "database-gone": databaseGone,
  "rpc-gone": rpcGone,
  "rpc-429": rpcLimited,
  "rpc-slow": rpcSlow,
  "money-edges": moneyEdges,
  hostile,
  "hostile-chain": hostileChain,
  "chain-lost": chainLost,
};

export const SCENARIO_NAMES = Object.keys(SCENARIOS);

/** Runs scenarios in the order of `SCENARIO_NAMES`, with one set of processes and one load. Accounts for everything after each. */
export async function runScenarios(options: {
  names: readonly string[];
  seed: number;
  extent: Extent;
  settling: SettleOptions;
  /** Starts beside the chain. */
  startingDatabases: Promise<DatabaseServer>;
  /** Load before the first scenario, so that there is something to lose. */
  warmUpMs: number;
  onStart: (end: () => Promise<void>) => void;
  say: (line: string) => void;
  /** Receives all rows so far after each scenario. */
  onRow: (rows: readonly TortureRow[]) => void;
}): Promise<readonly TortureRow[]> {
  const { seed, startingDatabases, onStart, say } = options;
  const faults = collectFaults();
  say("starting chain, database, indexer, two servers and three workers");
  const stand = await openStand({ seed, startingDatabases, onStart });
  const load = await startLoad(stand, faults);
  onStart(load.stop);
  await sleep(options.warmUpMs);
  const rows: TortureRow[] = [];
  const reported = new Map<string, number>();
  for (const [name, scenario] of Object.entries(SCENARIOS)) {
    if (!options.names.includes(name)) continue;
    say(`${name} …`);
    const context: ScenarioContext = {
      stand,
      load,
      faults,
      extent: options.extent,
      settle: () => settle(stand, load, options.settling),
    };
    const row = await runScenario(name, { scenario, context, reported });
    rows.push(row);
    options.onRow(rows);
    for (const fault of row.faults) say(`${name}: FAULT ${fault}`);
    for (const note of row.notes) say(`${name}: ${note}`);
    say(`${name}: ${row.lost} lost, ${row.doubled} doubled, recovered after ${row.recovery_s ?? "–"} s`);
  }
  return rows;
}

async function runScenario(
  name: string,
  {
    scenario,
    context,
    reported,
  }: {
    scenario: Scenario;
    context: ScenarioContext;
    /** Findings of earlier scenarios, each reported once. */
    reported: Map<string, number>;
  },
): Promise<TortureRow> {
  const { stand, load, faults } = context;
  const restartsBefore = restartsOf(stand.services.all());
  const statusesBefore = new Map(load.statuses);
  const doneBefore = doneOf(load);
  const givenBefore = answersGivenAway(stand);
  const injection = await scenario(context);
  const { findings, agreedAfterMs } =
    injection.findings === undefined
      ? await context.settle()
      : { findings: injection.findings, agreedAfterMs: null };
  const fresh = newFindings(findings, reported);
  for (const [process, restarts] of restartsOf(stand.services.all())) {
    const times = restarts - (restartsBefore.get(process) ?? 0);
    if (times > injection.mayRestart(process))
      faults.note(`${process} ended by itself`, `${times} times, ${injection.mayRestart(process)} by design`);
  }
  const countOf = (wanted: string) =>
    fresh.reduce((sum, { kind, count }) => sum + (kind === wanted ? count : 0), 0);
  return tortureRow({
    name,
    injected: injection.injected,
    of: injection.of,
    lost: countOf("lost"),
    doubled: countOf("doubled"),
    recovery_s: recoveryOf(injection, agreedAfterMs),
    faults: [...faults.take(), ...fresh.map(({ kind, item, count }) => `${count} ${kind}: ${item}`)],
    notes: [
      ...injection.notes,
      ...givenAway(stand, givenBefore),
      `${doneDuring(load, doneBefore)}; answers ${statusesDuring(load, statusesBefore)}`,
    ],
  });
}

/** Answers whose price could not be kept in time: the service gives them away rather than have a caller pay for its fault. */
function givenAway(stand: Stand, before: number): readonly string[] {
  const given = answersGivenAway(stand) - before;
  return given === 0 ? [] : [`${given} answers were given away, since their price could not be kept in time`];
}

function recoveryOf({ recovery }: Injection, agreedAfterMs: number | null): number | null {
  if (recovery !== "agreed") return recovery;
  return agreedAfterMs === null ? Number.POSITIVE_INFINITY : agreedAfterMs / 1_000;
}

function restartsOf(
  processes: readonly { readonly name: string; readonly restarts: () => number }[],
): ReadonlyMap<string, number> {
  return new Map(processes.map(({ name, restarts }) => [name, restarts()]));
}

function doneOf({ lanes }: Load): ReadonlyMap<string, number> {
  return new Map(
    lanes.map(({ name, operations }) => [name, operations.filter(({ doneAt }) => doneAt !== null).length]),
  );
}

function doneDuring(load: Load, before: ReadonlyMap<string, number>): string {
  return [...doneOf(load)].map(([name, done]) => `${done - (before.get(name) ?? 0)} ${name}`).join(", ");
}

function statusesDuring({ statuses }: Load, before: ReadonlyMap<number, number>): string {
  return [...statuses]
    .toSorted(([a], [b]) => a - b)
    .map(([status, times]) => [status, times - (before.get(status) ?? 0)] as const)
    .filter(([, times]) => times > 0)
    .map(([status, times]) => `${status === 0 ? "none" : status} × ${times}`)
    .join(", ");
}
