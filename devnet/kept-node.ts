import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import type { Anvil } from "./anvil-process.ts";
import { jsonRpc } from "./json-rpc.ts";
import { chainFault, type Manifest, nodeFileIn } from "./manifest.ts";

const nodeSchema = z.object({ pid: z.int().positive(), rpcUrl: z.url() });

const STOP_TIMEOUT_MS = 30_000;
const POLL_MS = 50;

/** Notes which node runs for a data folder, until it is gone. */
export function noteNode(dataDir: string, anvil: Anvil): void {
  const file = nodeFileIn(dataDir);
  const note = `${JSON.stringify({ pid: anvil.pid, rpcUrl: anvil.rpcUrl })}\n`;
  writeFileSync(file, note);
  void anvil.exited.then(() => {
    // The folder may be gone, or hold the note of a later node.
    if (existsSync(file) && readFileSync(file, "utf8") === note) rmSync(file);
  });
}

/** Stops the node that a killed process left behind, so that its chain is written, if it has the chain of the manifest. */
export async function stopOrphan(dataDir: string, manifest: Manifest): Promise<void> {
  const file = nodeFileIn(dataDir);
  if (!existsSync(file)) return;
  const noted = nodeSchema.safeParse(JSON.parse(readFileSync(file, "utf8")));
  if (!noted.success || !(await holdsChain(noted.data.rpcUrl, manifest))) return;
  const { pid } = noted.data;
  const deadline = performance.now() + STOP_TIMEOUT_MS;
  process.kill(pid, "SIGTERM");
  while (isAlive(pid)) {
    if (performance.now() > deadline)
      throw new Error(`the node of an earlier run, process ${pid}, does not stop`);
    await delay(POLL_MS);
  }
}

async function holdsChain(rpcUrl: string, manifest: Manifest): Promise<boolean> {
  try {
    return (await chainFault(jsonRpc(rpcUrl), manifest)) === null;
  } catch {
    // Nothing answers there: no node was left behind.
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    // The signal found no process.
    return false;
  }
}
