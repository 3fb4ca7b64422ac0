import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { AHS_SCRIPT } from "../../bin/supervisor/child-process.ts";

const RESTART_MS = 250;
const STOP_WAIT_MS = 30_000;

/** One process of ours, started again whenever it ends. */
export type Supervised = ReturnType<typeof supervise>;

export type SupervisedSpec = {
  readonly name: string;
  readonly command: string;
  readonly env: Readonly<Record<string, string>>;
  readonly logFile: string;
};

/** Runs a command of ours out of reach of the terminal's Ctrl-C; it ends when we do, however that comes about. */
export function supervise(spec: SupervisedSpec) {
  let stopping = false;
  let killed = false;
  let restarts = 0;
  let timer: NodeJS.Timeout | undefined;
  let child = launch();

  function launch(): ChildProcess {
    killed = false;
    const started = spawnCommand(spec);
    started.once("exit", () => {
      if (stopping) return;
      if (!killed) restarts += 1;
      timer = setTimeout(() => {
        child = launch();
      }, RESTART_MS);
    });
    return started;
  }

  return {
    name: spec.name,
    logFile: spec.logFile,
    /** How often it ended by itself, rather than by us. */
    restarts: () => restarts,
    /** Ends it as a power cut would; the supervisor starts it again. False when it was not running. */
    kill: () => {
      if (!isRunning(child)) return false;
      killed = true;
      return child.kill("SIGKILL");
    },
    stop: async () => {
      stopping = true;
      clearTimeout(timer);
      if (!isRunning(child)) return;
      const ended = once(child, "exit");
      child.kill("SIGINT");
      const late = setTimeout(() => child.kill("SIGKILL"), STOP_WAIT_MS);
      await ended;
      clearTimeout(late);
    },
  };
}

function spawnCommand({ command, env, logFile }: SupervisedSpec): ChildProcess {
  const log = openSync(logFile, "a");
  // Of the environment only what finds programs, and what a test sets to load them faster.
  const { PATH, HOME, NODE_OPTIONS, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [AHS_SCRIPT, command], {
    stdio: ["ignore", log, log, "ipc"],
    env: { PATH, HOME, NODE_OPTIONS, NODE_COMPILE_CACHE, ...env },
    detached: true,
  });
  closeSync(log);
  return child;
}

function isRunning({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid !== undefined && exitCode === null && signalCode === null;
}
