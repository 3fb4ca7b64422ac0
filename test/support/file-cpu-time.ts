import { existsSync, readFileSync } from "node:fs";
import { afterAll } from "vitest";

declare module "vitest" {
  interface TaskMeta {
    /** CPU seconds that a test file took, with those of the processes that it started and saw end. */
    cpuSeconds?: number;
  }
}

const STAT = "/proc/self/stat";
const TICKS_PER_SECOND = 100;

// Runs before each test file; its hook is the last of the file.
const before = cpuSeconds();
// biome-ignore lint/correctness/noEmptyPattern: vitest reads from it which fixtures are wanted
afterAll(({}, file) => {
  file.meta.cpuSeconds = cpuSeconds() - before;
});

/** Of this process, and on Linux of the processes that it started and that have ended. */
function cpuSeconds(): number {
  if (!existsSync(STAT)) {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000_000;
  }
  // Fields 14 to 17 of proc(5): the name before them may hold blanks, in parentheses.
  const [, fields = ""] = readFileSync(STAT, "utf8").split(") ");
  const ticks = fields.split(" ").slice(11, 15).map(Number);
  return ticks.reduce((sum, some) => sum + some, 0) / TICKS_PER_SECOND;
}
