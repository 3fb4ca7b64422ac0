import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import type { Reporter, TestModule } from "vitest/node";
import { describeTimes, type ProjectTimes, type RunTimes } from "./run-times.ts";

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

/** Whether the files that are run, by project and by the paths of the command line, start processes of ours. */
export function startsProcesses(projects: readonly string[]): boolean {
  const paths = process.argv.slice(2).filter((argument) => /^[^-*]+\/[^*]*$/.test(argument));
  return [...testFilesByProject()].some(
    ([name, files]) =>
      name !== "unit" &&
      name !== "database" &&
      (projects.length === 0 || projects.includes(name)) &&
      (paths.length === 0 || files.some((file) => paths.some((path) => file.includes(path)))),
  );
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

/** File of the results of the newest run. */
export const RESULTS_FILE = resolve(TESTS, "../node_modules/.cache/agent-health/tests.json");

export type RunResults = RunTimes & {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly projects: Readonly<Record<string, FileTimes>>;
};

type FileTimes = ProjectTimes & {
  readonly files: Readonly<Record<string, Omit<ProjectTimes, "wallSeconds">>>;
};

/** Prints at the end of a run how long each project took, and stores it with the counts of tests. */
export function runResults(): Reporter {
  const startedAt = new Map<string, number>();
  const ended: { readonly module: TestModule; readonly first: number; readonly last: number }[] = [];
  return {
    onTestModuleQueued: ({ id }: TestModule) => void startedAt.set(id, performance.now()),
    onTestModuleEnd: (module: TestModule) => {
      const last = performance.now();
      ended.push({ module, first: startedAt.get(module.id) ?? last, last });
    },
    onTestRunEnd: (modules: readonly TestModule[]) => {
      const projects: Record<string, FileTimes> = {};
      for (const [name, files] of Map.groupBy(ended, ({ module }) => module.project.name)) {
        const times = timesOf(files);
        projects[name] = times;
        process.stdout.write(describeTimes(name, times));
      }
      mkdirSync(dirname(RESULTS_FILE), { recursive: true });
      const yardstickMs = medianOf(ended.flatMap(({ module }) => module.meta().yardstickMs ?? []));
      const results = { ...countTests(modules), yardstickMs, projects } satisfies RunResults;
      writeFileSync(RESULTS_FILE, `${JSON.stringify(results, null, 1)}\n`);
    },
  };
}

function timesOf(
  ended: readonly { readonly module: TestModule; readonly first: number; readonly last: number }[],
): FileTimes {
  const files = ended.map(({ module, first, last }) => {
    const path = relative(dirname(TESTS), module.moduleId);
    return [
      path,
      // A file whose tests are all skipped runs no hook.
      { workSeconds: (last - first) / 1_000, cpuSeconds: module.meta().cpuSeconds ?? 0 },
    ] as const;
  });
  const sumOf = (kind: "workSeconds" | "cpuSeconds") =>
    files.reduce((sum, [, times]) => sum + times[kind], 0);
  const [first, last] = [
    Math.min(...ended.map((one) => one.first)),
    Math.max(...ended.map((one) => one.last)),
  ];
  return {
    wallSeconds: (last - first) / 1_000,
    workSeconds: sumOf("workSeconds"),
    cpuSeconds: sumOf("cpuSeconds"),
    files: Object.fromEntries(files.toSorted(([, a], [, b]) => b.cpuSeconds - a.cpuSeconds)),
  };
}

/** A file that fails outside of its tests counts as a failed test. */
function countTests(modules: readonly TestModule[]) {
  const count = { passed: 0, failed: 0, skipped: 0 };
  for (const module of modules) {
    const states = [...module.children.allTests()].map((test) => test.result().state);
    for (const state of states) count[state === "pending" ? "skipped" : state] += 1;
    if (module.state() === "failed" && !states.includes("failed")) count.failed += 1;
  }
  return count;
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
