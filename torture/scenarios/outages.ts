import { setTimeout as sleep } from "node:timers/promises";
import type { NodeMode } from "../stand/node-proxy.ts";
import { type Injection, NEVER_RESTARTS, type ScenarioContext, secondsToRecover } from "./scenario.ts";

/** Four of five requests are refused: what a public node does with a busy caller. */
const LIMITED: NodeMode = { kind: "limited", share: 0.8 };
const SLOW: NodeMode = { kind: "slow", ms: 2_000 };

/** PostgreSQL is out of reach for a while: connections end, and none can be made. */
export async function databaseGone(context: ScenarioContext): Promise<Injection> {
  const { stand, extent } = context;
  stand.database.cut();
  await sleep(extent.goneMs);
  stand.database.restore();
  const recovery = await secondsToRecover(context, performance.now());
  return {
    injected: extent.goneMs / 1_000,
    of: "s without database",
    recovery,
    // It gives its lock up with the connection that holds it, and waits for the database from then on.
    mayRestart: (process) => (process === "index" ? 1 : 0),
    notes: [],
  };
}

/** The node is out of reach for a while. */
export function rpcGone(context: ScenarioContext): Promise<Injection> {
  const { goneMs } = context.extent;
  return disturbNode(context, { mode: { kind: "gone" }, forMs: goneMs, of: "s without node" });
}

/** The node answers most requests with 429 for a while. */
export function rpcLimited(context: ScenarioContext): Promise<Injection> {
  const { disturbedMs } = context.extent;
  return disturbNode(context, { mode: LIMITED, forMs: disturbedMs, of: "s of 429 to four in five" });
}

/** The node takes its time over every answer for a while. */
export function rpcSlow(context: ScenarioContext): Promise<Injection> {
  const { disturbedMs } = context.extent;
  return disturbNode(context, { mode: SLOW, forMs: disturbedMs, of: "s of answers 2 s late" });
}

type Disturbance = { readonly mode: NodeMode; readonly forMs: number; readonly of: string };

async function disturbNode(context: ScenarioContext, { mode, forMs, of }: Disturbance): Promise<Injection> {
  const { node } = context.stand;
  const before = node.disturbed();
  node.become(mode);
  await sleep(forMs);
  node.become({ kind: "well" });
  const recovery = await secondsToRecover(context, performance.now());
  return {
    injected: forMs / 1_000,
    of,
    recovery,
    mayRestart: NEVER_RESTARTS,
    notes: [`${node.disturbed() - before} requests to the node were disturbed`],
  };
}
