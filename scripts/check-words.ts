import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

/** Fails on words that comments, docs, test titles, names and the texts of the service do not use (see docs/glossary.md), and prints each place. */

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

/** A title begins in lower case, and has none of the words that the glossary replaces. */
const BANNED_IN_TITLES: readonly RegExp[] = [
  ...BANNED,
  /(?<=^|[.:;] )what /gm,
  /\b(?:kept|standing|sighting|carrier)s?\b/gi,
];

/** Words of a name in camelCase, PascalCase, snake_case or UPPER_CASE. */
const BANNED_IN_NAMES = new Set(
  "kept unkept standing standings told untold sighting sightings carrier carriers".split(" "),
);

/** Sources whose string literals users read: answers, pages, the reference, messages of commands. */
const SHOWN = /^(?:service|bin|client)\//;
/** A literal of four words or more; shorter ones are names and codes. */
const SENTENCE = /"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`/g;

const ROOT = new URL("..", import.meta.url).pathname;

for (const file of listFiles()) {
  const source = readIfThere(join(ROOT, file));
  report(file, proseOf(file, source), BANNED);
  if (file.startsWith("test/")) report(file, titlesOf(file, source), BANNED_IN_TITLES);
  if (file.endsWith(".ts")) reportNames(file, source);
}

type Line = { readonly number: number; readonly text: string };

function report(file: string, lines: readonly Line[], words: readonly RegExp[]): void {
  for (const { number, text } of lines) {
    const found = words.flatMap((word) => text.match(word) ?? []);
    if (found.length === 0) continue;
    process.stderr.write(`${file}:${number}: ${found.join(", ")}: ${text.trim()}\n`);
    process.exitCode = 1;
  }
}

/** A file without a banned word is not parsed. */
function reportNames(file: string, source: string): void {
  if (![...BANNED_IN_NAMES].some((word) => source.toLowerCase().includes(word))) return;
  const parsed = ts.createSourceFile(file, source, ts.ScriptTarget.Latest);
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) && wordsOf(node.text).some((word) => BANNED_IN_NAMES.has(word))) {
      const { line } = parsed.getLineAndCharacterOfPosition(node.getStart(parsed));
      process.stderr.write(`${file}:${line + 1}: ${node.text}: another word, by the glossary\n`);
      process.exitCode = 1;
    }
    ts.forEachChild(node, visit);
  };
  visit(parsed);
}

function wordsOf(name: string): string[] {
  return name.split(/_|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/).map((word) => word.toLowerCase());
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

function sentencesOf(line: string): string {
  const literals = line.match(SENTENCE) ?? [];
  return literals.filter((literal) => literal.split(" ").length > 3).join(" ");
}

/** The lines of a document without headings, or the comments of a source file, with the sentences that it shows to users. */
function proseOf(file: string, source: string): Line[] {
  const lines = source.split("\n").map((text, index) => ({ number: index + 1, text }));
  if (file.endsWith(".md")) return lines.filter(({ text }) => !text.startsWith("#"));
  let isOpen = false;
  return lines.flatMap(({ number, text }) => {
    const start = isOpen ? 0 : text.search(/\/\*|(?:^|\s)\/\/+ /);
    if (start < 0) return SHOWN.test(file) ? [{ number, text: sentencesOf(text) }] : [];
    const comment = text
      .slice(start)
      .replace(/^\s*(?:\/\*\*?|\*\/?|\/\/+)\s*/, "")
      .replace(/\*\/$/, "");
    isOpen = isOpen ? !text.includes("*/") : text.slice(start).startsWith("/*") && !text.includes("*/");
    return [{ number, text: comment }];
  });
}

/** The first arguments of test, it and describe, also after each, skipIf and their like. A file without a banned word is not parsed. */
function titlesOf(file: string, source: string): Line[] {
  if (BANNED_IN_TITLES.every((word) => source.search(word) < 0)) return [];
  const parsed = ts.createSourceFile(file, source, ts.ScriptTarget.Latest);
  const titles: Line[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && /^(?:test|it|describe)$/.test(calleeOf(node))) {
      const [title] = node.arguments;
      if (title !== undefined && (ts.isStringLiteralLike(title) || ts.isTemplateExpression(title))) {
        const start = title.getStart(parsed);
        const { line } = parsed.getLineAndCharacterOfPosition(start);
        titles.push({ number: line + 1, text: source.slice(start + 1, title.end - 1) });
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(parsed);
  return titles;
}

/** `test` of `test.each(rows)(title, run)`. */
function calleeOf(node: ts.Expression): string {
  if (ts.isIdentifier(node)) return node.text;
  if (ts.isTaggedTemplateExpression(node)) return calleeOf(node.tag);
  return ts.isCallExpression(node) || ts.isPropertyAccessExpression(node) ? calleeOf(node.expression) : "";
}

/** A deleted file is listed until its deletion is staged. */
function readIfThere(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
