import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { runScenarios, SCENARIO_NAMES } from "./run-scenarios.ts";
import type { Extent } from "./scenarios/scenario.ts";
import { startDatabaseServer } from "./stand/database-server.ts";
import { isBroken, renderRows, type TortureRow } from "./torture-row.ts";

/**
 * `npm run torture [-- --short] [-- --only kill,reorg] [-- --seed N] [-- --json FILE] [-- --markdown FILE]`: injects what services
 * die of while agents, paid calls, verdicts and webhooks go on, accounts for all of it, and prints a table beside its bars. Ends with 1 when something was lost or doubled, or something did what it should not; a recovery that
 * takes longer than its bar is printed as such and does not fail the run.
 */
const HEADING = `# What the last run injected, and what was lost

Written by \`npm run torture -- --markdown torture/results.md\`. All processes, their database, the chain, the models and the clients share the machine. A bar that does not hold says MISSES.`;

const FULL: Extent = {
  kills: 50,
  terminations: 12,
  reorgDepths: Array.from({ length: 20 }, (_, place) => ((place * 7) % 20) + 1),
  goneMs: 60_000,
  disturbedMs: 30_000,
  measureMs: 15_000,
  fuzzed: 40,
  forged: 150_000,
  registrations: 300,
  busyCalls: 1_000_000,
  floods: 200,
  edges: { ms: 120_000, kills: 16 },
};
const SHORT: Extent = {
  // Each process once.
  kills: 6,
  terminations: 1,
  reorgDepths: [3, 20, 1],
  goneMs: 5_000,
  disturbedMs: 2_500,
  measureMs: 2_000,
  fuzzed: 2,
  forged: 3_000,
  registrations: 30,
  busyCalls: 20_000,
  floods: 10,
  edges: { ms: 25_000, kills: 4 },
};
/** A request that died keeps its place for two minutes. */
const DRAIN_MS = 170_000;
const WARM_UP_MS = { full: 5_000, short: 1_500 };
const SEED = 20_261_120;

const { values } = parseArgs({
  options: {
    short: { type: "boolean", default: false },
    only: { type: "string" },
    seed: { type: "string", default: String(SEED) },
    json: { type: "string" },
    markdown: { type: "string" },
  },
});
const form = values.short ? "short" : "full";
const names = values.only?.split(",") ?? SCENARIO_NAMES;
const unknown = names.filter((name) => !SCENARIO_NAMES.includes(name));
if (unknown.length > 0)
  throw new Error(`no scenario ${unknown.join(", ")}; there are ${SCENARIO_NAMES.join(", ")}`);

const ends: (() => Promise<void>)[] = [];
let closing: Promise<void> | null = null;
const close = (): Promise<void> => {
  closing ??= endAll();
  return closing;
};
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () => void close().finally(() => process.exit(1)));
// A failure during another wait ends the run and every process that it started.
process.on("unhandledRejection", (error) => {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  void close().finally(() => process.exit(1));
});

const started = performance.now();
try {
  const rows = await run();
  process.stdout.write(`\n${renderRows(rows, machine())}\n`);
  process.exitCode = rows.some(isBroken) ? 1 : 0;
} finally {
  await close();
}
process.exit();

async function run(): Promise<readonly TortureRow[]> {
  const startingDatabases = startDatabaseServer();
  ends.push(async () => (await startingDatabases).stop());
  return runScenarios({
    names,
    seed: Number(values.seed),
    extent: values.short ? SHORT : FULL,
    settling: { drainMs: DRAIN_MS, endDeadRequests: values.short },
    startingDatabases,
    onRow: write,
    warmUpMs: WARM_UP_MS[form],
    onStart: (end) => {
      ends.push(end);
    },
    say: (line) => {
      process.stdout.write(
        `${String(Math.round((performance.now() - started) / 1_000)).padStart(4)} s  ${line}\n`,
      );
    },
  });
}

/** After every scenario, so that a run that is broken off leaves what it found. */
function write(rows: readonly TortureRow[]): void {
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(rows, null, 2)}\n`);
  if (values.markdown !== undefined)
    writeFileSync(values.markdown, `${HEADING}\n\n${renderRows(rows, machine())}\n`);
}

/** Newest first; one that fails keeps no other from ending. */
async function endAll(): Promise<void> {
  for (const end of ends.reverse()) {
    await end().catch((error: unknown) => process.stderr.write(`${String(error)}\n`));
  }
}

function machine(): string {
  const cores = cpus();
  return `${cores.length} × ${cores[0]?.model ?? "unknown processor"}, Node ${process.version}, seed ${values.seed}, ${form} form, ${Math.round((performance.now() - started) / 1_000)} s`;
}
