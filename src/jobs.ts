import { type Context, type Event, ponder } from "ponder:registry";
import { job, verdictEvent } from "ponder:schema";
import { jobId, verdictEventId } from "./ids.ts";

type Ending = Event<"Escrow:JobCompleted"> | Event<"Escrow:JobRejected"> | Event<"Escrow:JobExpired">;
type Change = Omit<Partial<typeof job.$inferInsert>, "id" | "escrow" | "jobId"> & { readonly status: string };

ponder.on("Escrow:JobFunded", ({ event, context }) => {
  const { client, amount: funded } = event.args;
  return applyChange(event, context, { status: "Funded", client, funded });
});

ponder.on("Escrow:JobSubmitted", async ({ event, context }) => {
  const known = await context.db.find(job, { id: jobId(event.log.address, event.args.jobId) });
  await applyChange(event, context, {
    status: "Submitted",
    provider: event.args.provider,
    deliverable: event.args.deliverable,
    submittedBlock: event.block.number,
    submittedBlockHash: event.block.hash,
    submittedLogIndex: event.log.logIndex,
    submittedTransaction: event.transaction.hash,
    submittedAt: event.block.timestamp,
    firstSubmittedBlock: known?.firstSubmittedBlock ?? event.block.number,
  });
});

ponder.on("Escrow:JobCompleted", ({ event, context }) => {
  const { evaluator: endedBy, reason: endReason } = event.args;
  return applyChange(event, context, { status: "Completed", endedBy, endReason, ...endOf(event) });
});

ponder.on("Escrow:JobRejected", ({ event, context }) => {
  const { rejector: endedBy, reason: endReason } = event.args;
  return applyChange(event, context, { status: "Rejected", endedBy, endReason, ...endOf(event) });
});

ponder.on("Escrow:JobExpired", ({ event, context }) =>
  applyChange(event, context, { status: "Expired", ...endOf(event) }),
);

ponder.on("VerdictEvaluator:VerdictSettled", async ({ event, context }) => {
  const { escrow, jobId: number, decision, score, evidenceHash } = event.args;
  await context.db.insert(verdictEvent).values({
    ...whereOf(event),
    escrow,
    jobId: number,
    kind: "settled",
    decision,
    score,
    evidenceHash,
    reviewBy: null,
  });
});

ponder.on("VerdictEvaluator:HoldRecorded", async ({ event, context }) => {
  const { escrow, jobId: number, evidenceHash, reviewBy } = event.args;
  await context.db.insert(verdictEvent).values({
    ...whereOf(event),
    escrow,
    jobId: number,
    kind: "held",
    decision: HOLD,
    score: null,
    evidenceHash,
    reviewBy,
  });
});

const HOLD = 3;

/** An event may be the first that is seen of its job: an escrow is followed from a block on. */
async function applyChange(
  event: Ending | Event<"Escrow:JobFunded"> | Event<"Escrow:JobSubmitted">,
  context: Context,
  change: Change,
): Promise<void> {
  const escrow = event.log.address;
  await context.db
    .insert(job)
    .values({ id: jobId(escrow, event.args.jobId), escrow, jobId: event.args.jobId, ...change })
    .onConflictDoUpdate(change);
}

function endOf({ block, transaction }: Ending) {
  return { endedBlock: block.number, endedAt: block.timestamp, endedTransaction: transaction.hash };
}

function whereOf({
  block,
  transaction,
  log,
}: Event<"VerdictEvaluator:VerdictSettled"> | Event<"VerdictEvaluator:HoldRecorded">) {
  return {
    id: verdictEventId(transaction.hash, log.logIndex),
    block: block.number,
    timestamp: block.timestamp,
    transactionHash: transaction.hash,
  };
}
