import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { peakMemoryMb } from "./indexing.ts";
import type { ScaleAnswer, ScaleTask } from "./scale-worker.ts";

const WORKER = new URL("./scale-worker.ts", import.meta.url).pathname;

/** Starts the service's process, so that its memory is measured apart from that of the bench. */
export function startWorker(task: ScaleTask): ChildProcess {
  return fork(WORKER, [JSON.stringify(task)], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
}

/** The next answer of a process; throws if it ends without one. */
export async function answerOf(child: ChildProcess): Promise<ScaleAnswer> {
  const over = new AbortController();
  const { signal } = over;
  const answered = once(child, "message", { signal }).then(([answer]) => answer as ScaleAnswer);
  const ended = once(child, "exit", { signal }).then(([code]) => {
    throw new Error(`the service's process ended with ${code}`);
  });
  try {
    return await Promise.race([answered, ended]);
  } finally {
    over.abort();
  }
}

export type Usage = { readonly megabytes: number; readonly cpuSeconds: number };

/** Ticks of a second in which Linux counts the time of processes. */
const TICKS = 100;

/** Most memory and all processor time of a running process so far. */
export function usageOf(child: ChildProcess): Usage {
  // Fields 14 and 15, counted behind the name, which may hold spaces.
  const fields = readFileSync(`/proc/${child.pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return { megabytes: peakMemoryMb(child), cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS };
}

/** Runs a task that ends by itself. */
export async function runWorker(task: ScaleTask): Promise<Usage & { readonly seconds: number }> {
  const child = startWorker(task);
  const { ms } = await answerOf(child);
  const usage = usageOf(child);
  child.kill("SIGKILL");
  return { ...usage, seconds: ms / 1_000 };
}
