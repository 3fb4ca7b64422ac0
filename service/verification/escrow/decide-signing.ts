import { type AppealSnapshot, type AppealTerms, decideAppeal } from "./decide-appeal.ts";
import type { IndexedSubmission } from "./escrow-jobs.ts";
import type { ChainBlock } from "./escrow-node.ts";
import type { CheckStatus, UnsignedDecision } from "./settlement-checks.ts";
import { type Binding, type EscrowGeneration, type EscrowJob, jobEnd } from "./types.ts";

/** Snapshot of everything that decides if a decision is signed. */
export type SigningSnapshot = {
  readonly decision: Pick<UnsignedDecision, "outputHash" | "models" | "job" | "decision" | "run" | "cause">;
  /** Address of the evaluator of signed verdicts, in lower case. */
  readonly evaluator: string;
  /** Newest block of the node; its time dates the signature. */
  readonly head: Pick<ChainBlock, "timestamp">;
  /** Newest final block. */
  readonly final: Pick<ChainBlock, "number" | "timestamp">;
  /** Change of the escrow's code; null without one. */
  readonly codeChange: string | null;
  /** As of the final block; null without such a job. */
  readonly job: (EscrowJob & { readonly generation: EscrowGeneration }) | null;
  readonly binding: Binding;
  /** Newest submission in the index; null without one. */
  readonly submission:
    | (Pick<IndexedSubmission, "block" | "deliverable"> & {
        /** True if the node's final chain has this log in the block of that hash. */
        readonly isConfirmed: boolean;
      })
    | null;
  /** The expired signature of the same decision; null if it was never signed. */
  readonly earlier: {
    /** Unix seconds. */
    readonly deadline: bigint;
    /** The evaluator's decision about the job as of the final block; 0 without one. */
    readonly decided: number;
  } | null;
} & Pick<AppealSnapshot, "appeal" | "appealUnits" | "windowSeconds" | "now">;

/** Next step of an unsigned decision; times in Unix seconds. */
export type SigningDecision =
  | { readonly kind: "sign"; readonly issuedAt: bigint; readonly deadline: bigint }
  /** The time to appeal begins. */
  | ({ readonly kind: "open"; readonly status: "appealable"; readonly reason: string } & AppealTerms)
  /** `until` is the time of the next check, if it is known. */
  | { readonly kind: "wait"; readonly status: CheckStatus; readonly reason: string; readonly until?: Date }
  /** A HOLD that the evaluator does not accept any more; the job is held anyway. */
  | { readonly kind: "keep"; readonly status: "held"; readonly reason: string }
  /** It can never be signed. */
  | { readonly kind: "never"; readonly status: CheckStatus; readonly reason: string };

/** Longest validity that the evaluator accepts, in seconds. */
const LIFE_SECONDS = 86_400n;
/** The local chain, which moves nothing of value. */
const LOCAL_CHAIN = 31_337;
/** Name of the scripted model. */
const SCRIPTED = /^scripted/;

/**
 * Decides if a decision about a job is signed now; not in doubt. It is signed again only if the earlier
 * signature is unusable in every future block and unused in every final one, so that a job never has two valid signatures.
 */
export function decideSigning(snapshot: SigningSnapshot): SigningDecision {
  const { decision, job, head } = snapshot;
  if (decision.job.chainId !== LOCAL_CHAIN && decision.models.some((model) => SCRIPTED.test(model)))
    return never("refused", "it was made by a scripted model, which is believed on the local chain alone");
  if (snapshot.codeChange !== null)
    return wait("suspended", `the escrow is not what it was when it was reviewed: ${snapshot.codeChange}`);
  if (job === null) return wait("waiting_for_finality", "the job is in no final block yet");
  if (job.status === "Completed" || job.status === "Rejected" || job.status === "Expired")
    return never(job.status === "Expired" ? "expired" : "refused", `the job has ended: ${job.status}`);
  const end = jobEnd(job);
  if (end !== null && head.timestamp >= end)
    return never("expired", `the job can be decided no more since ${isoOf(end)}`);
  if (job.evaluator !== snapshot.evaluator) return decideForOtherEvaluator(snapshot, job);
  if (snapshot.binding.kind === "unbound") return wait("unbound", snapshot.binding.reason);
  if (snapshot.binding.kind === "suspended") return wait("suspended", snapshot.binding.reason);
  return decideBySubmission(snapshot, job);
}

/** The deployment's evaluator may be wrong and be corrected, so this waits until the job expires. */
function decideForOtherEvaluator(
  { head, evaluator }: SigningSnapshot,
  job: NonNullable<SigningSnapshot["job"]>,
): SigningDecision {
  const reason = `the job's evaluator is ${job.evaluator}, not ${evaluator}`;
  return head.timestamp >= job.expiredAt ? never("refused", reason) : wait("refused", reason);
}

function decideBySubmission(
  snapshot: SigningSnapshot,
  job: NonNullable<SigningSnapshot["job"]>,
): SigningDecision {
  const { submission, final, decision, earlier } = snapshot;
  if (submission === null) return wait("waiting_for_submission", "nothing has been submitted to the job");
  if (submission.block > final.number || job.status !== "Submitted")
    return wait("waiting_for_finality", `the submission of block ${submission.block} is not final`);
  if (!submission.isConfirmed)
    return wait("waiting_for_finality", `the node does not show the submission in block ${submission.block}`);
  if (submission.deliverable !== decision.outputHash)
    return wait("refused", `the job's deliverable is ${submission.deliverable}, not ${decision.outputHash}`);
  if (earlier !== null && earlier.decided !== 0)
    return never("refused", "the evaluator has decided about the job");
  if (earlier !== null && final.timestamp <= earlier.deadline)
    return wait("waiting_for_finality", "the earlier signature may still be used");
  return decideByTime(snapshot, job);
}

function decideByTime(snapshot: SigningSnapshot, job: NonNullable<SigningSnapshot["job"]>): SigningDecision {
  const { head, decision } = snapshot;
  const issuedAt = head.timestamp;
  const isHold = decision.decision === "HOLD";
  if (isHold && issuedAt >= job.expiredAt) {
    const reason = "the evaluator takes no HOLD after the job's expiry; it can be decided still";
    return { kind: "keep", status: "held", reason };
  }
  // A signature that expired unused waited for its appeal before.
  const waiting = snapshot.earlier === null ? decideByAppeal(snapshot, job) : null;
  if (waiting !== null) return waiting;
  const end = isHold ? job.expiredAt : jobEnd(job);
  const latest = issuedAt + LIFE_SECONDS;
  return { kind: "sign", issuedAt, deadline: end !== null && end < latest ? end : latest };
}

/** Null if the decision waits for no appeal. */
function decideByAppeal(
  snapshot: SigningSnapshot,
  job: NonNullable<SigningSnapshot["job"]>,
): SigningDecision | null {
  const step = decideAppeal({ ...snapshot, secondsLeft: Number(job.expiredAt - snapshot.head.timestamp) });
  switch (step.kind) {
    case "sign":
      return null;
    case "open":
      return { ...step, status: "appealable", reason: appealableUntil(step.appealBy) };
    case "wait": {
      if (step.status === "appealed") return wait("appealed", UNDER_APPEAL);
      if (step.until === null) return wait("appealable", "an appeal is being paid");
      return { kind: "wait", status: "appealable", reason: appealableUntil(step.until), until: step.until };
    }
  }
}

/** Reason of a decision that waits for the second panel. */
export const UNDER_APPEAL = "it is under appeal: a second panel judges the output";

function appealableUntil(time: Date): string {
  return `it may be appealed until ${time.toISOString()}`;
}

function wait(status: CheckStatus, reason: string): SigningDecision {
  return { kind: "wait", status, reason };
}

function never(status: CheckStatus, reason: string): SigningDecision {
  return { kind: "never", status, reason };
}

/** The expiry of a job that never expires exceeds any date. */
function isoOf(seconds: bigint): string {
  const date = new Date(Number(seconds) * 1000);
  return Number.isNaN(date.getTime()) ? String(seconds) : date.toISOString();
}
