import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";

/** From the first start to the last end, of all files together, and of CPU. */
export type ProjectTimes = {
  readonly wallSeconds: number;
  readonly workSeconds: number;
  readonly cpuSeconds: number;
};

export type RunTimes = {
  /** CPU time of a fixed piece of work, by which runs on machines of different speeds are compared. */
  readonly yardstickMs: number;
  readonly projects: Readonly<Record<string, ProjectTimes>>;
};

const STORED = resolve(import.meta.dirname, "../times.json");
const ALLOWED_RISE = 0.2;
/** Projects that run processes of ours use more CPU time the longer they wait, so they are stored and not judged. */
const JUDGED = ["unit", "database"];

/**
 * A sentence for each judged project that takes over a fifth more CPU time than is stored. Wall time says little where others use the
 * machine; CPU time is counted in units of the yardstick, which is measured all through the same run.
 */
export function risesOf(run: RunTimes, stored: RunTimes): readonly string[] {
  const slowness = run.yardstickMs / stored.yardstickMs;
  return JUDGED.flatMap((name) => {
    const [now, before] = [run.projects[name], stored.projects[name]];
    if (now === undefined || before === undefined) return [];
    const { cpuSeconds } = now;
    const allowed = before.cpuSeconds * slowness * (1 + ALLOWED_RISE);
    if (cpuSeconds <= allowed) return [];
    return [
      `${name} takes ${cpuSeconds.toFixed(0)} s of CPU, more than the ${allowed.toFixed(0)} s of test/times.json`,
    ];
  });
}

/** A line for a project. */
export function describeTimes(name: string, { wallSeconds, workSeconds, cpuSeconds }: ProjectTimes): string {
  const [wall, work, cpu] = [wallSeconds, workSeconds, cpuSeconds].map(
    (seconds) => `${Math.round(seconds)} s`,
  );
  return `${name.padEnd(9)} ${wall} from the first start to the last end, ${work} of work and ${cpu} of CPU\n`;
}

/** Null before the first run that stores its times. */
export function readStoredTimes(): RunTimes | null {
  return existsSync(STORED) ? (JSON.parse(readFileSync(STORED, "utf8")) as RunTimes) : null;
}

export function storeTimes({ yardstickMs, projects }: RunTimes): void {
  const rounded = Object.entries(projects)
    .toSorted()
    .map(([name, { wallSeconds, workSeconds, cpuSeconds }]) => [
      name,
      {
        wallSeconds: Math.round(wallSeconds),
        workSeconds: Math.round(workSeconds),
        cpuSeconds: Math.round(cpuSeconds),
      },
    ]);
  const times = { yardstickMs: Math.round(yardstickMs * 100) / 100, projects: Object.fromEntries(rounded) };
  writeFileSync(STORED, `${JSON.stringify(times, null, 2)}\n`);
}
