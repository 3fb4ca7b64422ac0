import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { verdictEvaluatorAbi } from "../../chain/abi/verdict-evaluator.ts";
import { verdictTypedData } from "../../chain/verdict-codec.ts";
import { holdChain, isIndexed } from "../../db/chain-fence.ts";
import { lowerCase } from "../../db/columns.ts";
import { isOutage } from "../../db/database-failure.ts";
import { pauseAfter } from "../../db/run-loop.ts";
import { SignerFailure } from "../../sender/remote-signer.ts";
import { openWindow, readAppealTerm } from "./appeal-rows.ts";
import { bindSpec, readBindable } from "./bind-spec.ts";
import type { AppealTerm } from "./decide-appeal.ts";
import { holdMoments } from "./decide-clock.ts";
import { decideSigning, type SigningDecision, type SigningSnapshot } from "./decide-signing.ts";
import type { EscrowDeps } from "./escrow-deps.ts";
import { type IndexedSubmission, readIndexedJob } from "./escrow-jobs.ts";
import {
  askNode,
  confirmSubmission,
  EscrowFailure,
  findCodeChange,
  findEscrow,
  readHeads,
  readJob,
} from "./escrow-node.ts";
import { startClock } from "./hold-clocks.ts";
import {
  type CheckStatus,
  dropCheck,
  noteCheck,
  readUnsigned,
  takeDecision,
  type UnsignedDecision,
} from "./settlement-checks.ts";
import {
  insertSettlement,
  messageOf,
  type NewSettlement,
  patchSettlement,
  queueVerdict,
  renewSettlement,
  takeJob,
} from "./settlements.ts";
import type { Binding, JobTerm } from "./types.ts";

const BATCH = 50;
/**
 * Finality comes by itself and is checked often. Other causes need a person and are checked less and less. A new submission in the index is
 * always due.
 */
const FINALITY_MS = { first: 1_000, longest: 15_000 };
const HINDERED_MS = { first: 5_000, longest: 600_000 };
/** Statuses that pass by themselves. */
const PASSING: ReadonlySet<CheckStatus> = new Set(["waiting_for_finality", "appealable", "appealed"]);

/**
 * Signs every decision about a bound job that may be signed, stores the reason for each other one, and returns the number signed. A failing
 * decision does not delay the others.
 */
export async function signDecisions(deps: EscrowDeps): Promise<number> {
  const { chainId, finalityBlocks } = deps.deployment;
  const due = await readUnsigned(deps.db, { chainId, now: deps.now(), limit: BATCH });
  if (due.length === 0) return 0;
  let signed = 0;
  const heads = await readHeads(deps.client, finalityBlocks);
  for (const decision of due) {
    try {
      if (await tryToSign(deps, decision, heads)) signed += 1;
    } catch (error) {
      if (isOutage(error)) throw error;
      // Its reason could not be stored, so a fixed text is.
      const { verdictId: verdict, run } = decision;
      deps.metrics.failures.inc({ at: "signing" });
      deps.logger.error({ err: error, verdict, run }, "why a decision is not signed could not be stored");
      await note(deps, decision, { kind: "wait", status: "suspended", reason: UNSTORABLE });
    }
  }
  return signed;
}

async function tryToSign(
  deps: EscrowDeps,
  decision: UnsignedDecision,
  heads: Awaited<ReturnType<typeof readHeads>>,
): Promise<boolean> {
  const { verdictId, run } = decision;
  try {
    const { snapshot, submission } = await readSnapshot(deps, decision, heads);
    const decided = decideSigning(snapshot);
    if (decided.kind === "open" || decided.kind === "wait" || decided.kind === "never") {
      await note(deps, decision, decided);
      return false;
    }
    if (submission === null || snapshot.job === null)
      throw new Error("what is signed has a submission and a job");
    const { job } = snapshot;
    const appealState = snapshot.appeal?.state ?? null;
    if (decided.kind === "sign")
      return await sign(deps, { decision, submission, job, appealState, ...decided });
    await note(deps, decision, decided, { job, heldAt: heads.head.timestamp });
    return false;
  } catch (error) {
    deps.metrics.failures.inc({ at: error instanceof EscrowFailure ? error.reason : "signing" });
    deps.logger.warn({ err: error, verdict: verdictId, run }, "decision not processed: trying again later");
    await note(deps, decision, { kind: "wait", status: "suspended", reason: hindranceOf(error) });
    return false;
  }
}

const UNSTORABLE = "it could not be processed; it is tried again";

/** Public reason of a decision that could not be signed now. */
function hindranceOf(error: unknown): string {
  if (error instanceof EscrowFailure) return error.message;
  return error instanceof SignerFailure
    ? "the key that signs verdicts does not answer; it is asked again"
    : UNSTORABLE;
}

/**
 * Stores signature, row, transaction and a HOLD's clock, all or nothing. A job never gets a second terminal signature, except a renewed one
 * of the same decision. It signs before the database transaction, because a remote signer must not keep rows locked. An unstored signature
 * stays secret.
 */
async function sign(
  deps: EscrowDeps,
  signing: Extract<SigningDecision, { kind: "sign" }> & {
    decision: UnsignedDecision;
    submission: IndexedSubmission;
    job: JobTerm;
    appealState: AppealTerm["state"] | null;
  },
): Promise<boolean> {
  const { decision, submission } = signing;
  const { chainId } = deps.deployment;
  const now = deps.now();
  const unsigned = settlementOf(deps, signing);
  const name = { chainId, address: deps.evaluator };
  const signature = await deps.signer.signTypedData(verdictTypedData(name, messageOf(unsigned)));
  const settlement = { ...unsigned, signature };
  const isSigned = await deps.db.transaction(async (tx) => {
    await holdChain(tx, chainId);
    if (!(await takeDecision(tx, decision))) return null;
    // An appeal locks the verdict, as this does: one of the two comes first.
    const appeal = await readAppealTerm(tx, decision.verdictId);
    if ((appeal?.state ?? null) !== signing.appealState) return null;
    const block = { blockNumber: Number(submission.block), blockHash: submission.blockHash };
    if (!(await isIndexed(tx, chainId, block))) return null;
    const terminal = await takeJob(tx, decision.job);
    if (terminal !== null && terminal !== decision.earlier?.settlementId) return false;
    const id = await store(tx, decision, { settlement, now });
    if (id === null) return null;
    const senderTransactionId = await queueVerdict(tx, deps.relayer, { id, attempt: 1, settlement });
    const unsent = { id, issuedAt: settlement.issuedAt, attempts: 0 };
    await patchSettlement(tx, unsent, { patch: { senderTransactionId, attempts: 1 }, now });
    await dropCheck(tx, decision.verdictId);
    const { job, issuedAt: heldAt } = signing;
    if (decision.decision === "HOLD") await hold(tx, deps, { verdictId: decision.verdictId, job, heldAt });
    return true;
  });
  const { escrow, jobId } = decision.job;
  const details = { verdict: decision.verdictId, run: decision.run, job: `${escrow}:${jobId}` };
  if (isSigned === false) {
    const reason = "another verdict that ends the job was signed before";
    await note(deps, decision, { kind: "never", status: "refused", reason });
  }
  if (isSigned !== true) return false;
  deps.metrics.outcomes.inc({ outcome: "signed" });
  const isAnew = decision.earlier !== null;
  deps.logger.info({ ...details, decision: decision.decision, anew: isAnew }, "verdict signed");
  return true;
}

/** Returns the row's id; null if the expired signature is not there any more. */
async function store(
  tx: NodePgDatabase,
  { earlier }: UnsignedDecision,
  { settlement, now }: { settlement: NewSettlement; now: Date },
): Promise<number | null> {
  if (earlier === null) return insertSettlement(tx, settlement, now);
  const id = earlier.settlementId;
  return (await renewSettlement(tx, { id, row: settlement }, now)) ? id : null;
}

/** A held job with the time from which it is, in Unix seconds. */
type Holding = { job: JobTerm; heldAt: bigint };

async function hold(
  tx: NodePgDatabase,
  { deployment: { chainId }, now }: EscrowDeps,
  { verdictId, job, heldAt }: Holding & Pick<UnsignedDecision, "verdictId">,
): Promise<void> {
  await startClock(tx, { ...holdMoments(heldAt, job), verdictId, chainId, createdAt: now() });
}

function settlementOf(
  deps: EscrowDeps,
  { decision: unsigned, submission, issuedAt, deadline }: Parameters<typeof sign>[1],
) {
  const { job, verdictId, run, decision, specHash, score, confidenceBps, evidenceHash } = unsigned;
  return {
    ...job,
    verdictId,
    run,
    decision,
    specHash,
    score,
    confidenceBps,
    evidenceHash,
    deliverable: submission.deliverable,
    issuedAt: Number(issuedAt),
    deadline: Number(deadline),
    evaluator: lowerCase(deps.evaluator),
    signer: lowerCase(deps.signer.address),
  };
}

async function note(
  deps: EscrowDeps,
  decision: UnsignedDecision,
  decided: Exclude<SigningDecision, { kind: "sign" }>,
  held?: Holding,
): Promise<void> {
  const checkedAt = deps.now();
  const { verdictId, run, attempts } = decision;
  const pauses = PASSING.has(decided.status) ? FINALITY_MS : HINDERED_MS;
  const pausedUntil = new Date(checkedAt.getTime() + pauseAfter(attempts, pauses));
  const check = {
    verdictId,
    chainId: deps.deployment.chainId,
    run,
    status: decided.status,
    reason: decided.reason,
    attempts: attempts + 1,
    notBefore: nextCheck(decided, pausedUntil),
    checkedAt,
  };
  await deps.db.transaction(async (tx) => {
    await holdChain(tx, deps.deployment.chainId);
    if (!(await takeDecision(tx, decision))) return;
    await noteCheck(tx, check);
    if (decided.kind === "open") {
      const { appealBy, decideBy, units } = decided;
      const chainId = deps.deployment.chainId;
      await openWindow(tx, { verdictId, chainId, run, appealBy, decideBy, units, at: checkedAt });
    }
    if (held !== undefined) await hold(tx, deps, { verdictId, ...held });
  });
  if (attempts === 0 && !decided.status.startsWith("waiting") && !PASSING.has(decided.status))
    deps.logger.warn(
      { verdict: verdictId, run, status: check.status, reason: check.reason },
      "verdict not signed",
    );
}

/** Time of the next check of an unsigned decision; null if it is never signed. */
function nextCheck(decided: Exclude<SigningDecision, { kind: "sign" }>, pausedUntil: Date): Date | null {
  switch (decided.kind) {
    case "open":
      return decided.appealBy;
    case "wait":
      return decided.until ?? pausedUntil;
    case "keep":
    case "never":
      return null;
  }
}

/**
 * Verifies again everything that a decision's signature depends on, on the final chain, and the escrow's code also as of the newest block.
 * Throws an EscrowFailure if node or index cannot answer.
 */
async function readSnapshot(
  deps: EscrowDeps,
  decision: UnsignedDecision,
  { head, final }: Awaited<ReturnType<typeof readHeads>>,
): Promise<{ snapshot: SigningSnapshot; submission: IndexedSubmission | null }> {
  const { job } = decision;
  const escrow = findEscrow(deps.deployment, job);
  const found = {
    evaluator: deps.evaluator.toLowerCase(),
    head,
    final,
    decision,
    earlier: null,
    appeal: null,
    appealUnits: null,
    windowSeconds: deps.appealWindowSeconds,
    now: deps.now(),
  };
  if (escrow === undefined) {
    const codeChange = "it is not among those whose jobs are settled here any more";
    const binding: Binding = { kind: "unbound", reason: codeChange };
    return { snapshot: { ...found, codeChange, job: null, binding, submission: null }, submission: null };
  }
  const codeChange = await findCodeChange(deps.client, escrow);
  const submission = (await readIndexedJob(deps.db, job))?.submission ?? null;
  const isFinal = submission !== null && submission.block <= final.number;
  const isConfirmed = isFinal && (await confirmSubmission(deps.client, job, submission));
  const reported = await readJob(deps.client, escrow, { job, block: final.number });
  const appeal = await readAppealTerm(deps.db, decision.verdictId);
  const mayOpen = isConfirmed && appeal === null && deps.appealWindowSeconds > 0;
  const snapshot = {
    ...found,
    codeChange,
    job: reported === null ? null : { ...reported, generation: escrow.generation },
    earlier: await readEarlier(deps, decision, final.number),
    appeal,
    appealUnits: mayOpen ? await deps.readAppealUnits(decision) : null,
    binding: await bind(deps, decision, final.number),
    submission: submission === null ? null : { ...submission, isConfirmed },
  };
  return { snapshot, submission };
}

async function readEarlier(
  { client, evaluator }: EscrowDeps,
  { earlier, job }: UnsignedDecision,
  blockNumber: bigint,
): Promise<SigningSnapshot["earlier"]> {
  if (earlier === null) return null;
  const decided = await askNode(() =>
    client.readContract({
      address: evaluator,
      abi: verdictEvaluatorAbi,
      functionName: "decisionOf",
      args: [job.escrow, job.jobId],
      blockNumber,
    }),
  );
  return { deadline: BigInt(earlier.deadline), decided };
}

async function bind(deps: EscrowDeps, decision: UnsignedDecision, block: bigint): Promise<Binding> {
  const spec = await readBindable(deps.db, decision.specId);
  const { chainId, escrow, jobId } = decision.job;
  const isOfJob = spec?.job.chainId === chainId && spec.job.escrow === escrow && spec.job.jobId === jobId;
  if (!isOfJob) return { kind: "unbound", reason: "its specification names another job" };
  return bindSpec(deps, spec, block);
}
