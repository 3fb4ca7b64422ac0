import type { Address } from "viem";
import { unavailable } from "../../access/problems.ts";
import { NodeFailure } from "../../reports/recovery/ask-node.ts";
import { openRecovery, type Recovery, type RecoveryPorts } from "../../reports/recovery/open-recovery.ts";
import type { RecoveryNode } from "../../reports/recovery/recovery-node.ts";
import { type ReportTurns, tooManyReports } from "../report-turns.ts";

/** What endpoints need that simulate transactions. */
export type RecoverPorts = {
  readonly recovery: RecoveryPorts;
  /** Their own turns, since they wait for the node: a slow one holds up no other report. */
  readonly recoveryTurns: ReportTurns;
};

const RETRY_AFTER_SECONDS = 10;

const DETAILS: Readonly<Record<NodeFailure["kind"], string>> = {
  unreachable: "The chain's node does not answer, or this deployment has none.",
  deadline: "The chain's node takes too long to answer.",
  garbage: "The chain's node answers what is no answer.",
  behind: "The chain's node has not the newest indexed block, or another one in its place.",
};

/** Throws the 503 of a process in which so many recoveries wait that one more would find no place. */
export function requireRecoveryTurn({ recoveryTurns }: RecoverPorts): void {
  if (!recoveryTurns.hasRoom()) throw tooManyReports();
}

/** A wallet as index and node tell it now; throws a 503 problem where they do not. */
export function requireRecovery(wallet: Address, { recovery }: RecoverPorts): Promise<Recovery> {
  return withNode(() => openRecovery(wallet, recovery));
}

/** Runs what asks the node; what the node fails to answer becomes a 503 problem. */
export async function withNode<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof NodeFailure)) throw error;
    throw unavailable("node-unavailable", DETAILS[error.kind], {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
      cause: error,
    });
  }
}

/** A node whose deadline begins now; throws a NodeFailure where the deployment names none. */
export function openNode({ recovery }: RecoverPorts): RecoveryNode {
  if (recovery.openNode === null) throw new NodeFailure("unreachable", "this deployment names no node");
  return recovery.openNode();
}
