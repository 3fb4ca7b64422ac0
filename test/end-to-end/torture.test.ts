import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import type { TortureRow } from "../../torture/torture-row.ts";
import { useFolder } from "../support/use-folder.ts";

const TORTURE = new URL("../../torture/run.ts", import.meta.url).pathname;
/** The others take what is left of CI's time; `npm run torture -- --short` runs them all. */
const SCENARIOS = ["kill", "hostile", "hostile-chain"];
/** A busy machine takes several times as long as an idle one. */
const TIMEOUT_MS = 1_500_000;

const folder = useFolder();
let running: ChildProcess | null = null;
beforeAll(() => {
  // Run as root, its PostgreSQL is another user, who must be able to reach its directory.
  chmodSync(folder, 0o755);
});
afterAll(async () => {
  if (running !== null && running.exitCode === null) {
    running.kill("SIGINT");
    await once(running, "exit");
  }
});

test(
  "kills, hostile requests and a hostile chain under load lose and double nothing, and leave nothing behind",
  async () => {
    const { code, output, rows } = await torture(["--short", "--only", SCENARIOS.join(",")]);
    expect([code, rows.flatMap(({ faults }) => faults)], output).toEqual([0, []]);
    expect(rows.map(({ name, injected, lost, doubled }) => ({ name, injected, lost, doubled }))).toEqual([
      { name: "kill", injected: 6, lost: 0, doubled: 0 },
      { name: "hostile", injected: expect.any(Number), lost: 0, doubled: 0 },
      { name: "hostile-chain", injected: expect.any(Number), lost: 0, doubled: 0 },
    ]);
    expect(rows.at(1)?.injected).toBeGreaterThan(60);
    expect(rows.at(2)?.injected).toBeGreaterThan(6_000);
    expect(readdirSync(folder)).toEqual(["rows.json"]);
  },
  TIMEOUT_MS,
);

/** Runs it as its user would, with the test's folder for everything that it writes. */
async function torture(args: readonly string[]) {
  const file = join(folder, "rows.json");
  const child = spawn(process.execPath, [TORTURE, ...args, "--json", file], {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env.PATH ?? "",
      HOME: process.env.HOME ?? "",
      TMPDIR: folder,
      ...inject("processEnv"),
    },
  });
  running = child;
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
  const [code] = (await once(child, "exit")) as [number | null];
  const rows = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as TortureRow[]) : [];
  return { code, output, rows };
}
