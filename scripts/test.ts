import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { setPriority } from "node:os";
import { RESULTS_FILE, type RunResults } from "../test/support/projects.ts";
import { type RunTimes, readStoredTimes, risesOf, storeTimes } from "../test/support/run-times.ts";

/** The total that Forge prints last. */
const FORGE_TOTAL = /(\d+) tests passed, (\d+) failed, (\d+) skipped/;
const STORE = "--store-times";
const NICE = 10;

// Runs all tests, those of the contracts in what the others leave of the machine; arguments go to vitest. The last line counts the
// tests of both. A whole run fails where a project takes much more CPU time than test/times.json says; `--store-times` writes it.
// An interrupt ends the children, which have to clean up first.
process.on("SIGINT", () => undefined);
rmSync(RESULTS_FILE, { force: true });
const given = process.argv.slice(2);
const vitestArgs = given.filter((argument) => argument !== STORE);
const vitest = spawn("npx", ["vitest", "run", ...vitestArgs], { stdio: "inherit" });
const [contracts, vitestCode] = await Promise.all([runForge(), codeOf(vitest)]);

const none: RunResults = { passed: 0, failed: 1, skipped: 0, yardstickMs: Number.NaN, projects: {} };
const rest = existsSync(RESULTS_FILE) ? (JSON.parse(readFileSync(RESULTS_FILE, "utf8")) as RunResults) : none;
const isWhole = vitestArgs.length === 0 && vitestCode === 0 && contracts.code === 0;
const rises = isWhole ? judge(rest) : [];
for (const rise of rises) process.stdout.write(`${rise}\n`);
const { passed, failed, skipped } = contracts;
process.stdout.write(
  `${passed + rest.passed} passed, ${failed + rest.failed} failed, ${skipped + rest.skipped} skipped\n`,
);
process.exitCode = contracts.code === 0 && vitestCode === 0 && rises.length === 0 ? 0 : 1;

function judge(run: RunTimes): readonly string[] {
  if (given.includes(STORE)) storeTimes(run);
  const stored = readStoredTimes();
  return stored === null ? [] : risesOf(run, stored);
}

async function runForge() {
  const forge = spawn("npx", ["forge", "test"], { stdio: ["inherit", "pipe", "inherit"] });
  if (forge.pid !== undefined) setPriority(forge.pid, NICE);
  let output = "";
  forge.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const code = await codeOf(forge);
  process.stdout.write(output);
  // A part that ended before it counted is a failure.
  const [passed = 0, failed = 1, skipped = 0] = FORGE_TOTAL.exec(output)?.slice(1).map(Number) ?? [];
  return { code, passed, failed, skipped };
}

async function codeOf(child: ChildProcess): Promise<number | null> {
  const [code] = (await once(child, "close")) as [number | null];
  return code;
}
