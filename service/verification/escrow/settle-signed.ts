import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { holdChain } from "../../db/chain-fence.ts";
import { decideSettlement, type SettlementSnapshot, type SettlementStep } from "./decide-settlement.ts";
import type { EscrowDeps } from "./escrow-deps.ts";
import { readEscrowIndex, readIndexedJob, readIndexedTime, readIndexedVerdicts } from "./escrow-jobs.ts";
import { EscrowFailure, findCodeChange, findEscrow } from "./escrow-node.ts";
import {
  type OpenSettlement,
  patchSettlement,
  queueVerdict,
  readOpenSettlements,
  type SettlementPatch,
} from "./settlements.ts";
import { DECISION_CODES } from "./types.ts";

type Settling = Pick<EscrowDeps, "db" | "client" | "deployment" | "relayer" | "metrics" | "logger" | "now">;

/**
 * Compares every open signed verdict with the events of evaluator and escrows and with its transaction, and confirms, ends or resends it.
 * Each has its own database transaction. Does nothing without an index.
 */
export async function settleSigned(deps: Settling): Promise<void> {
  for (const settlement of await readOpenSettlements(deps.db, deps.deployment.chainId)) {
    try {
      await settleOne(deps, settlement);
    } catch (error) {
      deps.metrics.failures.inc({ at: "settling" });
      deps.logger.error(
        { err: error, settlement: settlement.id },
        "signed verdict not processed: trying again",
      );
    }
  }
}

async function settleOne(deps: Settling, settlement: OpenSettlement): Promise<void> {
  const codeChange = await readCodeChange(deps, settlement);
  const done = await deps.db.transaction(async (tx): Promise<SettlementStep | null> => {
    await holdChain(tx, settlement.chainId);
    const seen = await look(tx, deps, settlement);
    if (seen === null) return null;
    const step = decideSettlement(settlement, { ...seen, codeChange });
    const patch = await patchOf(tx, deps, { settlement, step });
    if (patch === null) return null;
    return (await patchSettlement(tx, settlement, { patch, now: seen.now })) ? step : null;
  });
  if (done !== null) report(deps, settlement, done);
}

/** Read only if the verdict may have to be sent again. Without an answer of the node the verdict waits. */
async function readCodeChange(
  { client, deployment }: Settling,
  { transaction, ...job }: OpenSettlement,
): Promise<string | null> {
  const isUnderWay =
    transaction !== null &&
    transaction.state !== "failed" &&
    transaction.state !== "reverted" &&
    !transaction.final;
  if (isUnderWay) return null;
  const known = findEscrow(deployment, job);
  if (known === undefined) return "it is not among those whose jobs are settled here any more";
  try {
    return await findCodeChange(client, known);
  } catch (error) {
    if (error instanceof EscrowFailure) return error.message;
    throw error;
  }
}

async function look(
  tx: NodePgDatabase,
  { deployment, now }: Settling,
  settlement: OpenSettlement,
): Promise<Omit<SettlementSnapshot, "codeChange"> | null> {
  const { chainId } = settlement;
  const head = await readEscrowIndex(tx, chainId);
  if (head === null) return null;
  const depth = BigInt(deployment.finalityBlocks);
  const number = head.number > depth ? head.number - depth : 0n;
  const timestamp = await readIndexedTime(tx, chainId, number);
  if (timestamp === null) return null;
  const events = await readIndexedVerdicts(tx, settlement);
  const code = DECISION_CODES[settlement.decision];
  const event = events.find(
    ({ decision, evidenceHash }) => decision === code && evidenceHash === settlement.evidenceHash,
  );
  return {
    event: event ?? null,
    end: (await readIndexedJob(tx, settlement))?.end ?? null,
    indexedBlock: head.number,
    final: { number, timestamp },
    now: now(),
  };
}

/** Returns the change of a step after queuing its transaction; null without one. */
async function patchOf(
  tx: NodePgDatabase,
  deps: Settling,
  { settlement, step }: { settlement: OpenSettlement; step: SettlementStep },
): Promise<SettlementPatch | null> {
  switch (step.kind) {
    case "wait":
      return null;
    case "confirm":
      return { state: "confirmed", transactionHash: step.event.transactionHash, error: null };
    case "refuse":
      return { state: "refused", error: step.reason };
    case "expire":
      return { state: "expired", error: step.reason };
    case "send": {
      const attempt = settlement.attempts + 1;
      const queued = { id: settlement.id, attempt, settlement };
      const senderTransactionId = await queueVerdict(tx, deps.relayer, queued);
      return { senderTransactionId, attempts: attempt, error: step.cause };
    }
  }
}

const OUTCOMES = { confirm: "confirmed", refuse: "refused", expire: "expired", send: "sent_again" } as const;

function report({ metrics, logger }: Settling, settlement: OpenSettlement, step: SettlementStep): void {
  if (step.kind === "wait") return;
  metrics.outcomes.inc({ outcome: OUTCOMES[step.kind] });
  const { verdictId: verdict, run, decision, escrow, jobId } = settlement;
  const details = { verdict, run, decision, job: `${escrow}:${jobId}` };
  switch (step.kind) {
    case "confirm":
      logger.info({ ...details, transaction: step.event.transactionHash }, "verdict carried out");
      break;
    case "send":
      logger.warn({ ...details, cause: step.cause }, "signed verdict sent again");
      break;
    case "refuse":
    case "expire":
      logger.warn({ ...details, reason: step.reason }, "signed verdict not carried out");
  }
}
