import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const AHS = new URL("../../../bin/ahs.ts", import.meta.url).pathname;
const POLL_MS = 50;
/** Code that the processes of a run compiled: each of them would spend a third of its start on that. */
export const COMPILE_CACHE = mkdtempSync(join(tmpdir(), "ahs-compiled-"));
process.once("exit", () => rmSync(COMPILE_CACHE, { recursive: true, force: true }));

export type Script = {
  readonly pid: number;
  /** Resolves with the exit code, or with null after a signal. */
  readonly exited: Promise<number | null>;
  /** Ends it as an operator would. */
  readonly stop: () => Promise<void>;
  /** Ends it as a power cut would. */
  readonly kill: () => Promise<void>;
  readonly log: () => string;
};

/** Runs one command of ours as a process of its own, with the environment given and nothing of vitest's. */
export function runScript(args: readonly string[], env: Record<string, string>, logFile: string): Script {
  const log = openSync(logFile, "a");
  const child = spawn(process.execPath, [AHS, ...args], {
    stdio: ["ignore", log, log],
    env: {
      PATH: process.env.PATH ?? "",
      HOME: process.env.HOME ?? "",
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      ...env,
    },
  });
  closeSync(log);
  if (child.pid === undefined) throw new Error(`could not start ahs ${args.join(" ")}`);
  const exited = once(child, "exit").then(([code]) => code as number | null);
  return {
    pid: child.pid,
    exited,
    stop: () => end(child, exited, "SIGINT"),
    kill: () => end(child, exited, "SIGKILL"),
    log: () => readFileSync(logFile, "utf8"),
  };
}

async function end(child: ChildProcess, exited: Promise<unknown>, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) child.kill(signal);
  await exited;
}

export type Wait = { readonly what: string; readonly timeoutMs: number };

/** Asks until the answer is not null; throws with what was waited for when the time is over. */
export async function until<T>(wait: Wait, ask: () => Promise<T | null>): Promise<T> {
  const deadline = performance.now() + wait.timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== null) return answer;
    if (performance.now() > deadline) throw new Error(`${wait.what}: not within ${wait.timeoutMs} ms`);
    await sleep(POLL_MS);
  }
}
