import { existsSync, readFileSync } from "node:fs";

const STAT = "/proc/self/stat";
const TICKS_PER_SECOND = 100;

/** CPU milliseconds that this thread spends on a call. Unlike the time on the clock, they do not grow with the machine's load. */
export function cpuMsOf(act: () => unknown): number {
  const before = process.threadCpuUsage();
  act();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

/** CPU seconds of this process, and on Linux of the processes that it started and that have ended. */
export function processCpuSeconds(): number {
  if (!existsSync(STAT)) {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000_000;
  }
  // Fields 14 to 17 of proc(5): the name before them may hold blanks, in parentheses.
  const [, fields = ""] = readFileSync(STAT, "utf8").split(") ");
  const ticks = fields.split(" ").slice(11, 15).map(Number);
  return ticks.reduce((sum, some) => sum + some, 0) / TICKS_PER_SECOND;
}
