import { type ChildProcess, type Serializable, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:net";

/** The command line itself, for processes that run one of its commands. */
export const AHS_SCRIPT = new URL("../ahs.ts", import.meta.url).pathname;

/** The chain writes its whole state before it ends. */
const STOP_WAIT_MS = 45_000;
const FIRST_RESTART_MS = 250;
const LONGEST_RESTART_MS = 10_000;
/** A child that lived this long had started well: its next restart waits no longer than the first. */
const HEALTHY_AFTER_MS = 30_000;

type ChildSpec = {
  readonly name: string;
  readonly script: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly logFile: string;
  readonly onMessage?: (message: Serializable) => void;
};

export type Child = {
  readonly name: string;
  readonly pid: () => number | undefined;
  readonly send: (message: Serializable) => void;
  readonly stop: () => Promise<void>;
};

/** A child that nothing starts again. */
export type Host = Child & {
  /** Resolves with a description when it ends without having been stopped. */
  readonly died: Promise<string>;
};

/**
 * Runs a script of ours in a process of its own and starts it again whenever it ends by itself, ever more slowly.
 * The terminal's Ctrl-C does not reach it, so that the supervisor chooses the order; it ends with its parent.
 */
export function superviseChild(spec: ChildSpec, onRestart: (reason: string) => void): Child {
  let stopping = false;
  let waitMs = FIRST_RESTART_MS;
  let timer: NodeJS.Timeout | undefined;
  let running = launch();

  function launch(): ChildProcess {
    const startedAt = performance.now();
    const child = spawnScript(spec);
    child.once("exit", (code, signal) => {
      if (stopping) return;
      if (performance.now() - startedAt > HEALTHY_AFTER_MS) waitMs = FIRST_RESTART_MS;
      onRestart(`${spec.name} ended with ${signal ?? code}; starting it again in ${waitMs} ms`);
      timer = setTimeout(() => {
        running = launch();
      }, waitMs);
      waitMs = Math.min(waitMs * 2, LONGEST_RESTART_MS);
    });
    return child;
  }

  return {
    name: spec.name,
    pid: () => running.pid,
    send: (message) => {
      if (running.connected) running.send(message);
    },
    stop: () => {
      stopping = true;
      clearTimeout(timer);
      return stopProcess(running);
    },
  };
}

/** Starts the script once. Its first message that is no progress is `ready`, which rejects with the end of its log when it exits before. */
export function startHost(spec: ChildSpec): { host: Host; ready: Promise<Serializable> } {
  const logStart = existsSync(spec.logFile) ? statSync(spec.logFile).size : 0;
  const process = spawnScript(spec);
  let stopping = false;
  const ended = new Promise<string>((resolve) => {
    process.once("exit", (code, signal) => resolve(`${spec.name} ended with ${signal ?? code}`));
  });
  const ready = new Promise<Serializable>((resolve, reject) => {
    process.on("message", (message: Serializable) => {
      if (isReady(message)) resolve(message);
    });
    void ended.then((end) =>
      reject(new Error(`${end} before it was ready\n${endOf(spec.logFile, logStart)}`)),
    );
  });
  const host: Host = {
    name: spec.name,
    died: new Promise((resolve) => {
      void ended.then((end) => {
        if (!stopping) resolve(`${end} (log: ${spec.logFile})`);
      });
    }),
    pid: () => process.pid,
    send: (message) => {
      if (process.connected) process.send(message);
    },
    stop: () => {
      stopping = true;
      return stopProcess(process);
    },
  };
  return { host, ready };
}

/** Progress messages carry a stage; anything else is the answer that was waited for. */
function isReady(message: Serializable): boolean {
  return typeof message === "object" && !("stage" in message);
}

function spawnScript(spec: ChildSpec): ChildProcess {
  const log = openSync(spec.logFile, "a");
  const child = spawn(process.execPath, [spec.script, ...spec.args], {
    stdio: ["ignore", log, log, "ipc"],
    env: { ...process.env, ...spec.env },
    detached: true,
  });
  closeSync(log);
  if (spec.onMessage !== undefined) child.on("message", spec.onMessage);
  return child;
}

async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = once(child, "exit");
  child.kill("SIGINT");
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_WAIT_MS);
  await ended;
  clearTimeout(timer);
}

/** The last lines of a log beyond its first `start` bytes, which are of an earlier process. */
function endOf(logFile: string, start: number): string {
  return readFileSync(logFile).subarray(start).toString("utf8").trimEnd().split("\n").slice(-12).join("\n");
}

/** How many ports are tried: by chance, or after the preferred one. */
const PORTS_TRIED = 20;
/** Below the ports that systems give to connections and to listeners without a port, so that none is taken meanwhile. */
const PORTS = { first: 12_000, end: 32_000 };

/** A port of the loopback interface, by chance, that nothing listened on a moment ago. */
export async function freePort(): Promise<number> {
  for (let tried = 0; tried < PORTS_TRIED; tried++) {
    const port = randomInt(PORTS.first, PORTS.end);
    if (await isFree(port)) return port;
  }
  throw new Error(`none of ${PORTS_TRIED} ports of 127.0.0.1 is free`);
}

/** The preferred port of the loopback interface, or the next one that is free, so that URLs stay the same after a restart. */
export async function freePortFrom(preferred: number): Promise<number> {
  for (let port = preferred; port < preferred + PORTS_TRIED; port++) {
    if (await isFree(port)) return port;
  }
  return freePort();
}

function isFree(port: number): Promise<boolean> {
  return requireFreePort("127.0.0.1", port).then(
    () => true,
    () => false,
  );
}

/** Throws EADDRINUSE, which `describeFault` explains, when something already listens on the port. */
export async function requireFreePort(host: string, port: number): Promise<void> {
  const server = createServer().listen(port, host);
  await once(server, "listening");
  server.close();
  await once(server, "close");
}
