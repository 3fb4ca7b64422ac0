import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { RESULTS_FILE, type RunResults } from "../test/support/projects.ts";

/** The total that Forge prints last. */
const FORGE_TOTAL = /(\d+) tests passed, (\d+) failed, (\d+) skipped/;

// Runs all tests, those of the contracts first; arguments go to vitest. The last line counts the tests of both.
// An interrupt ends the children, which have to clean up first.
process.on("SIGINT", () => undefined);
rmSync(RESULTS_FILE, { force: true });
const forge = spawn("npx", ["forge", "test"], { stdio: ["inherit", "pipe", "inherit"] });
let total: readonly number[] | undefined;
forge.stdout.setEncoding("utf8").on("data", (text: string) => {
  process.stdout.write(text);
  total = FORGE_TOTAL.exec(text)?.slice(1).map(Number) ?? total;
});
const [forgeCode] = await once(forge, "close");
const vitest = spawn("npx", ["vitest", "run", ...process.argv.slice(2)], { stdio: "inherit" });
const [vitestCode] = await once(vitest, "close");

// A part that ended before it counted is a failure.
const [passed = 0, failed = 1, skipped = 0] = total ?? [];
const rest = existsSync(RESULTS_FILE)
  ? (JSON.parse(readFileSync(RESULTS_FILE, "utf8")) as RunResults)
  : { passed: 0, failed: 1, skipped: 0 };
process.stdout.write(
  `${passed + rest.passed} passed, ${failed + rest.failed} failed, ${skipped + rest.skipped} skipped\n`,
);
process.exitCode = forgeCode === 0 && vitestCode === 0 ? 0 : 1;
