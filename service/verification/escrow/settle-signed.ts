import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { holdChain } from "../../db/chain-fence.ts";
import { fateOfAttempt } from "../../sender/orders/fate.ts";
import type { Failure } from "../../sender/orders/order-kind.ts";
import { eachOrder, runOrder, type Settled } from "../../sender/orders/run-orders.ts";
import { describeFailure, lookAtSettlement, type SettlementSnapshot, VERDICTS } from "./decide-settlement.ts";
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
  const open = await readOpenSettlements(deps.db, deps.deployment.chainId);
  const settled = (settlement: OpenSettlement) => settleOne(deps, settlement);
  await eachOrder(open, settled, ({ id }, error) => {
    deps.metrics.failures.inc({ at: "settling" });
    deps.logger.error({ err: error, settlement: id }, "signed verdict not processed: trying again");
  });
}

async function settleOne(deps: Settling, settlement: OpenSettlement): Promise<void> {
  const codeChange = await readCodeChange(deps, settlement);
  const done = await deps.db.transaction(async (tx): Promise<SettlementPatch | null> => {
    await holdChain(tx, settlement.chainId);
    const index = await readIndex(tx, deps, settlement);
    if (index === null) return null;
    const { indexedBlock, ...snapshot } = index;
    const now = deps.now();
    const look = (row: OpenSettlement) => lookAtSettlement(row, { ...snapshot, codeChange });
    let patch: SettlementPatch = {};
    const settled = await runOrder({ ...VERDICTS, look }, settlement, {
      now,
      indexedBlock,
      settle: async (of) => {
        patch = await patchOf(tx, deps, of);
        return patchSettlement(tx, settlement, { patch, now });
      },
    });
    return settled === null ? null : patch;
  });
  if (done !== null) report(deps, settlement, done);
}

/** Read only if the verdict may have to be sent again. Without an answer of the node the verdict waits. */
async function readCodeChange(
  { client, deployment }: Settling,
  { transaction, ...job }: OpenSettlement,
): Promise<string | null> {
  const mayBeMined = transaction !== null && fateOfAttempt(VERDICTS, transaction, Infinity) === "open";
  if (mayBeMined) return null;
  const known = findEscrow(deployment, job);
  if (known === undefined) return "it is not among those whose jobs are settled here any more";
  try {
    return await findCodeChange(client, known);
  } catch (error) {
    if (error instanceof EscrowFailure) return error.message;
    throw error;
  }
}

async function readIndex(
  tx: NodePgDatabase,
  { deployment }: Settling,
  settlement: OpenSettlement,
): Promise<(Omit<SettlementSnapshot, "codeChange"> & { readonly indexedBlock: number }) | null> {
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
    indexedBlock: Number(head.number),
    final: { number, timestamp },
  };
}

/** Returns the change of a step after queuing its transaction. */
async function patchOf(
  tx: NodePgDatabase,
  { relayer }: Settling,
  {
    row: settlement,
    step,
    seen,
  }: Settled<OpenSettlement> & { readonly seen: ReturnType<typeof lookAtSettlement> },
): Promise<SettlementPatch> {
  switch (step.kind) {
    case "reopen":
      throw new Error("a row that is settled was read again");
    case "done":
      return { state: "confirmed", transactionHash: seen.event?.transactionHash ?? null, error: null };
    case "end":
      return { state: seen.endsAs, error: step.cause };
    case "again": {
      const attempts = settlement.attempts + 1;
      const order = { id: settlement.id, attempt: attempts, settlement };
      const senderTransactionId = await queueVerdict(tx, relayer, order);
      return { senderTransactionId, attempts, error: causeOf(settlement, step.failure) };
    }
  }
}

/** Why the last transaction came to nothing; null without one. */
function causeOf({ transaction }: OpenSettlement, failure: Failure | null): string | null {
  if (transaction === null || failure === null) return null;
  return failure.kind === "lost" ? failure.cause : describeFailure(transaction);
}

function report({ metrics, logger }: Settling, settlement: OpenSettlement, patch: SettlementPatch): void {
  const { verdictId: verdict, run, decision, escrow, jobId } = settlement;
  const { state = "sent_again", error, transactionHash: transaction } = patch;
  metrics.outcomes.inc({ outcome: state });
  const details = { verdict, run, decision, job: `${escrow}:${jobId}` };
  if (state === "confirmed") logger.info({ ...details, transaction }, "verdict carried out");
  else if (state === "sent_again") logger.warn({ ...details, cause: error }, "signed verdict sent again");
  else logger.warn({ ...details, reason: error }, "signed verdict not carried out");
}
