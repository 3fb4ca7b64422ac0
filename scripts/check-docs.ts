import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

/** Fails when docs/invariants.md names a test file that does not exist, or an invariant without a test. */

const ROOT = new URL("..", import.meta.url).pathname;

const known = new Set(globSync("test/**/*.{test.ts,t.sol}", { cwd: ROOT }).map((path) => basename(path)));
const faults = readFileSync(join(ROOT, "docs/invariants.md"), "utf8")
  .split("\n")
  .flatMap((line, index) => faultsOf(line).map((fault) => `docs/invariants.md:${index + 1}: ${fault}`));
if (faults.length > 0) {
  process.stderr.write(`${faults.join("\n")}\n`);
  process.exitCode = 1;
}

function faultsOf(line: string): string[] {
  if (!line.startsWith("- ")) return [];
  const tests = [...line.matchAll(/`([\w.-]+\.(?:test\.ts|t\.sol))`/g)].map(([, name = ""]) => name);
  if (tests.length === 0 && !/`npm run \w+`$/.test(line)) return ["expected a test file or an npm script"];
  return tests.filter((name) => !known.has(name)).map((name) => `no file of test/ is named ${name}`);
}
