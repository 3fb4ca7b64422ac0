import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type JsonRpc, jsonRpc } from "./json-rpc.ts";

export type Anvil = {
  readonly pid: number;
  readonly rpcUrl: string;
  readonly rpc: JsonRpc;
  /** Resolves with a description once the process is gone, however that came about. */
  readonly exited: Promise<string>;
  /** Stops it, writing the state file; resolves when the process is gone. */
  stop(): Promise<void>;
};

const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 30_000;
const POLL_MS = 25;
/** Each kept state is a copy of the whole state, 2 MB or more. Reads by block number need them; `finalized` is 64 blocks back. */
const MAX_STATES = 128;

/** Starts anvil from npm, mining on demand, until this process ends; throws when the port is taken or it exits first. */
export async function startAnvil(options: {
  /** Port on 127.0.0.1. */
  readonly port: number;
  readonly chainId: number;
  /** Loaded at start if it exists and written at a graceful stop; null keeps the chain in memory. */
  readonly stateFile: string | null;
  /** Unix seconds of the genesis block, the same whenever a state is loaded; null means now. The clock of the node starts there. */
  readonly genesisTime: number | null;
}): Promise<Anvil> {
  await requireFreePort(options.port);
  const child = spawn(anvilBinary(), anvilArguments(options), { stdio: ["ignore", "ignore", "pipe"] });
  const exited = exitOf(child);
  const killWithParent = (): void => {
    child.kill("SIGTERM");
  };
  process.once("exit", killWithParent);
  void exited.then(() => process.removeListener("exit", killWithParent));

  const rpcUrl = `http://127.0.0.1:${options.port}`;
  const rpc = jsonRpc(rpcUrl);
  await waitUntilItAnswers(rpc, exited, child);
  const pid = child.pid;
  if (pid === undefined) throw new Error("anvil answered without a process id");
  return { pid, rpcUrl, rpc, exited, stop: () => stopChild(child, exited) };
}

/** Throws a readable error when something already listens on the port of 127.0.0.1. */
export async function requireFreePort(port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const probe = createServer();
    probe.once("error", (error: NodeJS.ErrnoException) => {
      const reason =
        error.code === "EADDRINUSE" ? "is taken by another process" : `cannot be used: ${error.message}`;
      reject(new Error(`port ${port} for the local chain ${reason}`, { cause: error }));
    });
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve()));
  });
}

function anvilArguments(options: Parameters<typeof startAnvil>[0]): string[] {
  const optional = [
    ...(options.stateFile === null ? [] : ["--state", options.stateFile]),
    ...(options.genesisTime === null ? [] : ["--timestamp", String(options.genesisTime)]),
  ];
  return [
    ...["--port", String(options.port), "--chain-id", String(options.chainId)],
    ...["--no-mining", "--order", "fifo", "--prune-history", String(MAX_STATES)],
    ...["--no-request-size-limit", "--quiet"],
    ...optional,
  ];
}

/** The native binary itself: the wrapper script of the package would be one more process to end. */
function anvilBinary(): string {
  const require = createRequire(import.meta.url);
  const architecture = process.arch === "x64" ? "amd64" : process.arch;
  const folder = `@foundry-rs/anvil-${process.platform}-${architecture}`;
  const wrapper = require.resolve("@foundry-rs/anvil/package.json");
  const binary = join(
    dirname(wrapper),
    "../..",
    folder,
    "bin",
    process.platform === "win32" ? "anvil.exe" : "anvil",
  );
  if (!existsSync(binary))
    throw new Error(`${folder} is not installed: anvil has no binary for this machine`);
  return binary;
}

function exitOf(child: ChildProcess): Promise<string> {
  let errors = "";
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    errors = (errors + chunk).slice(-2_000);
  });
  return new Promise((resolve) => {
    child.once("error", (error) => resolve(`anvil could not be started: ${error.message}`));
    child.once("close", (code, signal) =>
      resolve(`anvil exited with ${signal ?? code} ${errors.trim()}`.trim()),
    );
  });
}

async function waitUntilItAnswers(rpc: JsonRpc, exited: Promise<string>, child: ChildProcess): Promise<void> {
  let ended: string | null = null;
  void exited.then((reason) => {
    ended = reason;
  });
  const deadline = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    if (ended !== null) throw new Error(ended);
    try {
      await rpc.request("eth_chainId");
      return;
    } catch (error) {
      if (performance.now() > deadline) {
        child.kill("SIGKILL");
        throw new Error(`anvil did not answer within ${START_TIMEOUT_MS / 1000} s`, { cause: error });
      }
      await delay(POLL_MS);
    }
  }
}

async function stopChild(child: ChildProcess, exited: Promise<string>): Promise<void> {
  child.kill("SIGTERM");
  const controller = new AbortController();
  const timeout = delay(STOP_TIMEOUT_MS, "late" as const, { signal: controller.signal }).catch(() => "done");
  const first = await Promise.race([exited, timeout]);
  controller.abort();
  if (first === "late") {
    child.kill("SIGKILL");
    await exited;
  }
}
