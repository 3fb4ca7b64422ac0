import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import type { Reporter, TestModule } from "vitest/node";

const TESTS = resolve(import.meta.dirname, "..");

/** Projects, with an import that puts a test file there, directly or through files of test/. The first match decides. */
const PROJECTS = [
  ["browser", /^test\/support\/chromium\.ts$/],
  [
    "chain",
    /^(test\/support\/anvil-testkit\/.*|devnet\/(anvil-process|attach-devnet|devnet)\.ts|node:child_process)$/,
  ],
  ["database", /^test\/support\/test-database\.ts$/],
  ["unit", /^/],
] as const;

/** Test files of each project, as paths from the root of the repository. */
export function testFilesByProject(): ReadonlyMap<string, readonly string[]> {
  const files = new Map<string, string[]>(PROJECTS.map(([name]) => [name, []]));
  for (const path of readdirSync(TESTS, { recursive: true, encoding: "utf8" })) {
    if (path.endsWith(".test.ts")) files.get(projectOf(join(TESTS, path)))?.push(`test/${path}`);
  }
  return files;
}

function projectOf(file: string): string {
  const imported = importsOf(file);
  return PROJECTS.find(([, kit]) => imported.some((path) => kit.test(path)))?.[0] ?? "unit";
}

/** Everything but types that a file imports, and what imported files of test/ import. */
function importsOf(file: string, seen = new Set<string>()): readonly string[] {
  const statements = readFileSync(file, "utf8").matchAll(/^import (?!type )[^;]*?"([^"]+)"/gm);
  for (const [, from = ""] of statements) {
    const path = from.startsWith(".") ? relative(dirname(TESTS), resolve(dirname(file), from)) : from;
    if (seen.has(path)) continue;
    seen.add(path);
    const target = resolve(dirname(TESTS), path);
    if (path.startsWith("test/") && existsSync(target)) importsOf(target, seen);
  }
  return [...seen];
}

/** Prints at the end of a run how long each project took. */
export function projectTimes(): Reporter {
  const spans = new Map<string, { first: number; last: number; files: number; workMs: number }>();
  const startedAt = new Map<string, number>();
  return {
    onTestModuleQueued: ({ id }: TestModule) => void startedAt.set(id, performance.now()),
    onTestModuleEnd: ({ id, project: { name } }: TestModule) => {
      const last = performance.now();
      const first = startedAt.get(id) ?? last;
      const span = spans.get(name) ?? { first, last, files: 0, workMs: 0 };
      spans.set(name, {
        first: Math.min(span.first, first),
        last,
        files: span.files + 1,
        workMs: span.workMs + last - first,
      });
    },
    onTestRunEnd: () => {
      for (const [name, { first, last, files, workMs }] of spans) {
        const took = `${seconds(last - first)} from the first start to the last end`;
        process.stdout.write(`${name.padEnd(8)} ${took}, ${seconds(workMs)} of work in ${files} files\n`);
      }
    },
  };
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1_000)} s`;
}
