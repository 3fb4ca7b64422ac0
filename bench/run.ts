import { fork } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Client } from "pg";
import { freePort } from "../bin/supervisor/child-process.ts";
import type { BenchRow } from "./bench-row.ts";
import { benchIndexing } from "./indexing.ts";
import { benchPanel } from "./panel.ts";
import { benchPublish } from "./publish.ts";
import { benchReadApi } from "./read-api.ts";
import { benchScale } from "./scale.ts";
import { benchScoring } from "./scoring.ts";
import { benchScoringWorkers } from "./scoring-workers.ts";
import { benchUnpaid } from "./unpaid.ts";

/**
 * `npm run bench [-- --json FILE] [-- --markdown FILE] [-- --only indexing,scoring,workers,publish,panel,read,unpaid,scale]`: measures beside
 * the bars and prints a table. `[--wallets 27000] [--busiest 5000000]` are of scale, which warms so many wallets with a past (2,700 by default,
 * in some six minutes; from 100,000 on with 340 calls each) and, if asked, gives the first one at least so many calls.
 * A bar that does not hold is printed as such and does not fail the run: figures of a busy machine say little.
 */
const HEADING = `# Figures of the last run

Written by \`npm run bench -- --markdown bench/results.md\`, with nothing else running on the machine. Ratios are medians of alternated runs; a bar that does not hold says MISSES, and comes first.`;
const POSTGRES_HOST = new URL("../devnet/demo/postgres-host.ts", import.meta.url).pathname;

const { values } = parseArgs({
  options: {
    json: { type: "string" },
    markdown: { type: "string" },
    only: { type: "string" },
    wallets: { type: "string", default: "2700" },
    busiest: { type: "string" },
  },
});
const wanted = values.only?.split(",") ?? [
  "indexing",
  "scoring",
  "workers",
  "publish",
  "panel",
  "read",
  "unpaid",
  "scale",
];
const postgres = await startPostgres();
const rows: BenchRow[] = [];
try {
  if (wanted.includes("indexing"))
    rows.push(...(await benchIndexing({ createDatabase: postgres.createDatabase })));
  if (wanted.includes("scoring"))
    rows.push(...(await benchScoring({ databaseUrl: await postgres.createDatabase() })));
  if (wanted.includes("workers"))
    rows.push(...(await benchScoringWorkers({ databaseUrl: await postgres.createDatabase() })));
  if (wanted.includes("publish")) {
    rows.push(
      ...(await benchPublish({ databaseUrl: await postgres.createDatabase(), port: await freePort() })),
    );
  }
  if (wanted.includes("panel"))
    rows.push(...(await benchPanel({ databaseUrl: await postgres.createDatabase() })));
  if (wanted.includes("read"))
    rows.push(...(await benchReadApi({ databaseUrl: await postgres.createDatabase() })));
  if (wanted.includes("unpaid"))
    rows.push(...(await benchUnpaid({ databaseUrl: await postgres.createDatabase() })));
  if (wanted.includes("scale")) {
    const { createDatabase } = postgres;
    rows.push(
      ...(await benchScale({
        createDatabase,
        wallets: Number(values.wallets),
        busiest: values.busiest === undefined ? null : Number(values.busiest),
      })),
    );
  }
} finally {
  await postgres.stop();
}
process.stdout.write(`${table(rows)}\n`);
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(rows, null, 2)}\n`);
if (values.markdown !== undefined) writeFileSync(values.markdown, `${HEADING}\n\n${table(rows)}\n`);
process.exit(0);

async function startPostgres() {
  const dataDir = mkdtempSync(join(tmpdir(), "ahs-bench-postgres-"));
  chmodSync(dataDir, 0o755);
  const host = fork(POSTGRES_HOST, ["--data-dir", dataDir, "--port", String(await freePort())], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const [{ databaseUrl, error }] = (await once(host, "message")) as [
    { databaseUrl?: string; error?: string },
  ];
  if (databaseUrl === undefined) throw new Error(error);
  let made = 0;
  const createDatabase = async () => {
    made += 1;
    const url = new URL(databaseUrl);
    const client = new Client({ connectionString: databaseUrl });
    await client.connect();
    await client.query(`create database bench_${made}`);
    await client.end();
    url.pathname = `/bench_${made}`;
    return url.href;
  };
  const stop = async () => {
    const ended = once(host, "exit");
    host.kill("SIGINT");
    await ended;
    rmSync(dataDir, { recursive: true, force: true });
  };
  return { createDatabase, stop };
}

function table(measured: readonly BenchRow[]): string {
  const cores = cpus();
  const missedFirst = measured.toSorted((a, b) => Number(a.holds) - Number(b.holds));
  const lines = missedFirst.map(({ name, value, unit, bar, holds }) => {
    const verdict = bar === null ? "" : holds ? "holds" : "MISSES";
    return `| ${name} | ${value} ${unit} | ${bar ?? ""} | ${verdict} |`;
  });
  return [
    `${cores.length} × ${cores[0]?.model ?? "unknown processor"}, Node ${process.version}`,
    "",
    "| What | Measured | Bar | |",
    "|---|---|---|---|",
    ...lines,
  ].join("\n");
}
