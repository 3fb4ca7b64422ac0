import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { inject } from "vitest";

const AHS = new URL("../../../bin/ahs.ts", import.meta.url).pathname;

export type Script = ReturnType<typeof runScript>;

/** Runs one command of ours as a process of its own, with the environment given and nothing of vitest's. */
export function runScript(args: readonly string[], env: Record<string, string>, logFile: string) {
  const log = openSync(logFile, "a");
  const child = spawn(process.execPath, [AHS, ...args], {
    stdio: ["ignore", log, log],
    env: {
      PATH: process.env.PATH ?? "",
      HOME: process.env.HOME ?? "",
      ...inject("processEnv"),
      ...env,
    },
  });
  closeSync(log);
  if (child.pid === undefined) throw new Error(`could not start ahs ${args.join(" ")}`);
  const exited = once(child, "exit").then(([code]) => code as number | null);
  return {
    pid: child.pid,
    /** Resolves with the exit code, or with null after a signal. */
    exited,
    /** Ends it as an operator would. */
    stop: () => end(child, exited, "SIGINT"),
    /** Ends it as a power cut would. */
    kill: () => end(child, exited, "SIGKILL"),
    log: () => readFileSync(logFile, "utf8"),
  };
}

async function end(child: ChildProcess, exited: Promise<unknown>, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) child.kill(signal);
  await exited;
}
