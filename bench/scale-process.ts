import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { ScaleAnswer, ScaleTask } from "./scale-worker.ts";

const WORKER = new URL("./scale-worker.ts", import.meta.url).pathname;

/** Starts the service's process, so that its memory is measured apart from that of the bench. */
export function startWorker(task: ScaleTask): ChildProcess {
  return fork(WORKER, [JSON.stringify(task)], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
}

/** The next answer of a process; throws if it ends without one. */
export async function answerOf(child: ChildProcess): Promise<ScaleAnswer> {
  const answered = once(child, "message").then(([answer]) => answer as ScaleAnswer);
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`the service's process ended with ${code}`);
  });
  return Promise.race([answered, ended]);
}
