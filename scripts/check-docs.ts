import { execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * Fails when ARCHITECTURE.md or docs/invariants.md names a file that does not exist, an invariant names no test, or a link of a
 * document leads to no file.
 */

const ROOT = new URL("..", import.meta.url).pathname;
const MOST_LINES = 120;

const files = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], { cwd: ROOT, encoding: "utf8" })
  .split("\n")
  .map((path) => `/${path}`);

const faults = ["ARCHITECTURE.md", "docs/invariants.md"].flatMap((doc) =>
  linesOf(doc).flatMap((line, index) => faultsOf(line, doc).map((fault) => `${doc}:${index + 1}: ${fault}`)),
);
for (const doc of globSync("{*.md,docs/*.md,examples/*.md,client/*.md,eval/panel/*.md}", { cwd: ROOT })) {
  for (const [, link = ""] of readFileSync(join(ROOT, doc), "utf8").matchAll(
    /\]\((?!https?:|#|mailto:)([^)#]+)/g,
  )) {
    if (!existsSync(join(ROOT, dirname(doc), link))) faults.push(`${doc}: there is no ${link}`);
  }
}
const { length } = linesOf("ARCHITECTURE.md");
if (length > MOST_LINES) faults.push(`ARCHITECTURE.md: expected at most ${MOST_LINES} lines, got ${length}`);
if (faults.length > 0) {
  process.stderr.write(`${faults.join("\n")}\n`);
  process.exitCode = 1;
}

function linesOf(doc: string): string[] {
  return readFileSync(join(ROOT, doc), "utf8").trimEnd().split("\n");
}

function faultsOf(line: string, doc: string): string[] {
  const names = [...line.matchAll(/`([\w./-]+\.(?:ts|sol|sql))`/g)].map(([, name = ""]) => name);
  const missing = names.filter((name) => !files.some((file) => file.endsWith(`/${name}`)));
  const isInvariant = doc === "docs/invariants.md" && line.startsWith("- ");
  const isUntested = isInvariant && names.length === 0 && !/`npm run \w+`$/.test(line);
  return [...missing.map((name) => `there is no file ${name}`), ...(isUntested ? ["expected a test"] : [])];
}
