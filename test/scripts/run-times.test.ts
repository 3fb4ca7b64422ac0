import { expect, test } from "vitest";
import { type RunTimes, risesOf } from "../support/run-times.ts";

function runOf(yardstickMs: number, cpuSeconds: Readonly<Record<string, number>>): RunTimes {
  const projects = Object.entries(cpuSeconds).map(([name, seconds]) => [
    name,
    { wallSeconds: 1, workSeconds: 1, cpuSeconds: seconds },
  ]);
  return { yardstickMs, projects: Object.fromEntries(projects) };
}

const STORED = runOf(4, { database: 100, unit: 50, chain: 100 });

test.each([
  ["as much as before", runOf(4, { database: 100, unit: 50 }), []],
  ["a fifth more", runOf(4, { database: 120, unit: 60 }), []],
  ["more in one project", runOf(4, { database: 121, unit: 50 }), ["database"]],
  ["twice as much on a machine of half the speed", runOf(8, { database: 200, unit: 100 }), []],
  ["as much on a machine of twice the speed", runOf(2, { database: 100, unit: 50 }), ["unit", "database"]],
  ["more in a project that waits for processes", runOf(4, { unit: 50, chain: 300 }), []],
] as const)("names each judged project that takes over a fifth more CPU time: %s", (_, run, names) => {
  expect(risesOf(run, STORED).map((rise) => rise.split(" ")[0])).toEqual(names);
});
