import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

/**
 * Counts words that comments and docs do not use (see docs/glossary.md), by folder, and fails where there are more of them than
 * scripts/words.json allows. `--write` stores the present counts, which may only sink; `--list FOLDER` shows each place.
 */

/** Riddles instead of a concrete subject and a plain verb. */
const BANNED: readonly RegExp[] = [
  /\bwho(?:m|se)?ever\b/gi,
  /\b(?:nobody|somebody|anybody)\b/gi,
  /\b(?:told|tells?)\b/gi,
  /\bstands?\b(?! for\b)/gi,
  /\b(?:is|are|was|were) none\b/gi,
  /\bmend(?:s|ed|ing)?\b/gi,
  /\blest\b/gi,
  /(?<=^|[.:;] )What (?!is\b.*\?$)/gm,
];

const ROOT = new URL("..", import.meta.url).pathname;
const LIMITS = join(ROOT, "scripts/words.json");

const { values: options } = parseArgs({ options: { write: { type: "boolean" }, list: { type: "string" } } });
const counts = new Map<string, number>();
for (const file of listFiles()) {
  const folder = folderOf(file);
  for (const line of proseOf(file)) {
    const found = BANNED.flatMap((word) => line.text.match(word) ?? []);
    counts.set(folder, (counts.get(folder) ?? 0) + found.length);
    if (found.length > 0 && folder === options.list) {
      process.stdout.write(`${file}:${line.number}: ${found.join(", ")}: ${line.text.trim()}\n`);
    }
  }
}
const present = Object.fromEntries([...counts].filter(([, count]) => count > 0).sort());
if (options.write) writeFileSync(LIMITS, `${JSON.stringify(present, null, 2)}\n`);
else if (options.list === undefined) compare(present);

function compare(found: Readonly<Record<string, number>>): void {
  const limits = JSON.parse(readFileSync(LIMITS, "utf8")) as Record<string, number>;
  for (const [folder, count] of Object.entries(found)) {
    const limit = limits[folder] ?? 0;
    if (count <= limit) continue;
    process.stderr.write(
      `${folder}: expected at most ${limit} words of scripts/check-words.ts, got ${count}\n`,
    );
    process.exitCode = 1;
  }
}

function listFiles(): string[] {
  const listed = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "*.ts", "*.sol", "*.md"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  // Prompts of the panel and generated files are left out, and two files that name the words.
  return listed
    .split("\n")
    .filter(
      (file) =>
        file !== "" &&
        !/\/(?:panel\/roles|panel\/injection|abi)\/|schema\.ts$|check-words\.ts$|glossary\.md$/.test(file),
    );
}

/** A room of service/ by itself, every other folder as a whole. */
function folderOf(file: string): string {
  const [top = "", room = ""] = file.split("/");
  return top === "service" ? `service/${room}` : top;
}

/** The lines of a document without headings, or the comments of a source file. */
function proseOf(file: string): { readonly number: number; readonly text: string }[] {
  const source = readIfThere(join(ROOT, file));
  const lines = source.split("\n").map((text, index) => ({ number: index + 1, text }));
  if (file.endsWith(".md")) return lines.filter(({ text }) => !text.startsWith("#"));
  let isOpen = false;
  return lines.flatMap(({ number, text }) => {
    const start = isOpen ? 0 : text.search(/\/\*|(?:^|\s)\/\/+ /);
    if (start < 0) return [];
    const comment = text
      .slice(start)
      .replace(/^\s*(?:\/\*\*?|\*\/?|\/\/+)\s*/, "")
      .replace(/\*\/$/, "");
    isOpen = isOpen ? !text.includes("*/") : text.slice(start).startsWith("/*") && !text.includes("*/");
    return [{ number, text: comment }];
  });
}

/** A deleted file is listed until its deletion is staged. */
function readIfThere(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
