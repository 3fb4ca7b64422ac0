import { pauseAfter } from "../chain/send-policy.ts";
import { verdictTypedData } from "../chain/verdict-codec.ts";
import { holdChain, isIndexed } from "../store/chain-fence.ts";
import type { IndexedSubmission } from "../store/escrow-jobs.ts";
import { startClock } from "../store/hold-clocks.ts";
import {
  dropCheck,
  type NewCheck,
  noteCheck,
  readUnsigned,
  takeDecision,
  type UnsignedDecision,
} from "../store/settlement-checks.ts";
import { insertSettlement, patchSettlement, takeJob } from "../store/settlements.ts";
import { holdMoments } from "./decide-clock.ts";
import { decideSigning, type SigningDecision } from "./decide-signing.ts";
import type { EscrowDeps } from "./escrow-deps.ts";
import { readHeads } from "./escrow-node.ts";
import { EscrowFailure } from "./failure.ts";
import { type Heads, lookAtDecision } from "./look-at-decision.ts";
import { messageOf, queueVerdict } from "./queue-verdict.ts";
import type { EscrowJob } from "./types.ts";

/** Decisions looked at in one round. */
const BATCH = 50;
/** What comes by itself is looked at often, what needs somebody to act less and less. */
const WAITING_MS = { first: 1_000, longest: 15_000 };
const HINDERED_MS = { first: 5_000, longest: 600_000 };

/**
 * Signs every decision about a bound job that may be signed, and notes of each of the others why not; answers how many it signed.
 * One that cannot be looked at does not keep the others waiting.
 */
export async function signDecisions(deps: EscrowDeps): Promise<number> {
  const { chainId, finalityBlocks } = deps.deployment;
  const due = await readUnsigned(deps.db, { chainId, now: deps.now(), limit: BATCH });
  if (due.length === 0) return 0;
  let signed = 0;
  const heads = await readHeads(deps.client, finalityBlocks);
  for (const decision of due) {
    if (await tryToSign(deps, decision, heads)) signed += 1;
  }
  return signed;
}

async function tryToSign(deps: EscrowDeps, decision: UnsignedDecision, heads: Heads): Promise<boolean> {
  const { verdictId, run } = decision;
  try {
    const { sight, submission } = await lookAtDecision(deps, decision, heads);
    const decided = decideSigning(sight);
    if (decided.kind !== "sign") {
      await note(deps, decision, decided);
      return false;
    }
    if (submission === null || sight.job === null)
      throw new Error("what is signed has a submission and a job");
    return await sign(deps, { decision, submission, job: sight.job, ...decided });
  } catch (error) {
    deps.metrics.failures.inc({ at: error instanceof EscrowFailure ? error.reason : "signing" });
    deps.logger.warn({ err: error, verdict: verdictId, run }, "decision not looked at: looking again later");
    const reason =
      error instanceof EscrowFailure ? error.message : "it could not be looked at; it is looked at again";
    await note(deps, decision, { kind: "wait", status: "suspended", reason });
    return false;
  }
}

type Signing = {
  readonly decision: UnsignedDecision;
  readonly submission: IndexedSubmission;
  readonly job: EscrowJob;
  readonly issuedAt: bigint;
  readonly deadline: bigint;
};

/** Signature, its row, its transaction and the clock of a HOLD: all or nothing, and never a second one that ends a job. */
async function sign(deps: EscrowDeps, signing: Signing): Promise<boolean> {
  const { decision, submission, job } = signing;
  const { chainId } = deps.deployment;
  const now = deps.now();
  const isSigned = await deps.db.transaction(async (tx) => {
    await holdChain(tx, chainId);
    if (!(await takeDecision(tx, decision))) return null;
    const block = { blockNumber: Number(submission.block), blockHash: submission.blockHash };
    if (!(await isIndexed(tx, chainId, block))) return null;
    if (await takeJob(tx, decision.job)) return false;
    const unsigned = settlementOf(deps, signing);
    const name = { chainId, address: deps.evaluator };
    const signature = await deps.signer.signTypedData(verdictTypedData(name, messageOf(unsigned)));
    const settlement = { ...unsigned, signature };
    const id = await insertSettlement(tx, settlement, now);
    const target = { chainId, evaluator: deps.evaluator, relayer: deps.relayer };
    const senderTransactionId = await queueVerdict(tx, target, { id, attempt: 1, settlement });
    await patchSettlement(tx, { id, attempts: 0 }, { patch: { senderTransactionId, attempts: 1 }, now });
    await dropCheck(tx, decision.verdictId);
    if (decision.decision === "HOLD") {
      const moments = holdMoments(signing.issuedAt, job.expiredAt);
      await startClock(tx, { ...moments, verdictId: decision.verdictId, chainId, createdAt: now });
    }
    return true;
  });
  const details = { verdict: decision.verdictId, run: decision.run, job: `${job.escrow}:${job.jobId}` };
  if (isSigned === false) {
    const reason = "another verdict that ends the job was signed before";
    await note(deps, decision, { kind: "never", status: "refused", reason });
  }
  if (isSigned !== true) return false;
  deps.metrics.outcomes.inc({ outcome: "signed" });
  deps.logger.info({ ...details, decision: decision.decision }, "verdict signed");
  return true;
}

function settlementOf(deps: EscrowDeps, { decision, submission, issuedAt, deadline }: Signing) {
  return {
    ...decision.job,
    verdictId: decision.verdictId,
    run: decision.run,
    decision: decision.decision,
    deliverable: submission.deliverable,
    specHash: decision.specHash,
    score: decision.score,
    confidenceBps: decision.confidenceBps,
    evidenceHash: decision.evidenceHash,
    issuedAt: Number(issuedAt),
    deadline: Number(deadline),
    signer: deps.signer.address.toLowerCase(),
  };
}

async function note(
  deps: EscrowDeps,
  decision: UnsignedDecision,
  decided: Exclude<SigningDecision, { kind: "sign" }>,
): Promise<void> {
  const checkedAt = deps.now();
  const { verdictId, run, attempts } = decision;
  const pauses = decided.status.startsWith("waiting") ? WAITING_MS : HINDERED_MS;
  const check: NewCheck = {
    verdictId,
    chainId: deps.deployment.chainId,
    run,
    status: decided.status,
    reason: decided.reason,
    attempts: attempts + 1,
    notBefore: decided.kind === "never" ? null : new Date(checkedAt.getTime() + pauseAfter(attempts, pauses)),
    checkedAt,
  };
  await deps.db.transaction(async (tx) => {
    await holdChain(tx, deps.deployment.chainId);
    if (await takeDecision(tx, decision)) await noteCheck(tx, check);
  });
  if (attempts === 0 && !decided.status.startsWith("waiting"))
    deps.logger.warn(
      { verdict: verdictId, run, status: check.status, reason: check.reason },
      "verdict not signed",
    );
}
