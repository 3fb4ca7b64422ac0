import type { ChainBlock } from "./escrow-node.ts";
import type { CheckStatus, UnsignedDecision } from "./settlement-checks.ts";
import { type Binding, type EscrowGeneration, type EscrowJob, jobEnd } from "./types.ts";

/** Everything that decides whether a decision is signed. */
export type SigningSight = {
  readonly decision: Pick<UnsignedDecision, "outputHash" | "models" | "job" | "decision">;
  /** Address of the evaluator that verdicts are signed for, in lower case. */
  readonly evaluator: string;
  /** Newest block of the node; its clock dates the signature. */
  readonly head: Pick<ChainBlock, "timestamp">;
  /** Newest block that cannot be reorged. */
  readonly final: Pick<ChainBlock, "number" | "timestamp">;
  /** What changed of the escrow's code; null where nothing did. */
  readonly codeChange: string | null;
  /** As of the final block; null where it holds no such job. */
  readonly job: (EscrowJob & { readonly generation: EscrowGeneration }) | null;
  readonly binding: Binding;
  /** The newest submission that the index knows; null where it knows none. */
  readonly submission: {
    readonly block: bigint;
    readonly deliverable: string;
    /** Whether the node's final chain has this very log, in the block of that hash. */
    readonly isConfirmed: boolean;
  } | null;
  /** The same decision's signature that ran out; null where it was never signed. */
  readonly earlier: {
    /** Unix seconds. */
    readonly deadline: bigint;
    /** What the evaluator decided about the job, as of the final block; 0 where nothing. */
    readonly decided: number;
  } | null;
};

/** What to do about an unsigned decision; times in Unix seconds. */
export type SigningDecision =
  | { readonly kind: "sign"; readonly issuedAt: bigint; readonly deadline: bigint }
  | { readonly kind: "wait"; readonly status: CheckStatus; readonly reason: string }
  /** A HOLD that the evaluator takes no more: the job is held all the same. */
  | { readonly kind: "keep"; readonly status: "held"; readonly reason: string }
  /** It can never be signed. */
  | { readonly kind: "never"; readonly status: CheckStatus; readonly reason: string };

/** Most seconds that a signature is good for, as the evaluator has it. */
const LIFE_SECONDS = 86_400n;
/** The local chain, where nothing of worth is moved. */
const LOCAL_CHAIN = 31_337;
/** How the model that obeys a script is named. */
const SCRIPTED = /^scripted/;

/**
 * Whether a decision about a job is signed now: in doubt not (verification.md, section 4). Signed anew it is only when the earlier
 * signature can be used in no block to come and was in none that is final, so that a job never has two.
 */
export function decideSigning(sight: SigningSight): SigningDecision {
  const { decision, job, head } = sight;
  if (decision.job.chainId !== LOCAL_CHAIN && decision.models.some((model) => SCRIPTED.test(model)))
    return never("refused", "it was made by a scripted model, which is believed on the local chain alone");
  if (sight.codeChange !== null)
    return wait("suspended", `the escrow is not what it was when it was reviewed: ${sight.codeChange}`);
  if (job === null) return wait("waiting_for_finality", "the job is in no final block yet");
  if (job.status === "Completed" || job.status === "Rejected" || job.status === "Expired")
    return never(job.status === "Expired" ? "expired" : "refused", `the job has ended: ${job.status}`);
  const end = jobEnd(job);
  if (end !== null && head.timestamp >= end)
    return never("expired", `the job can be decided no more since ${isoOf(end)}`);
  if (job.evaluator !== sight.evaluator) return decideForOtherEvaluator(sight, job);
  if (sight.binding.kind === "unbound") return wait("unbound", sight.binding.reason);
  if (sight.binding.kind === "suspended") return wait("suspended", sight.binding.reason);
  return decideBySubmission(sight, job);
}

/** The deployment may name the wrong evaluator and be corrected, so this waits as long as the job has not expired. */
function decideForOtherEvaluator(
  { head, evaluator }: SigningSight,
  job: NonNullable<SigningSight["job"]>,
): SigningDecision {
  const reason = `the job's evaluator is ${job.evaluator}, not ${evaluator}`;
  return head.timestamp >= job.expiredAt ? never("refused", reason) : wait("refused", reason);
}

function decideBySubmission(sight: SigningSight, job: NonNullable<SigningSight["job"]>): SigningDecision {
  const { submission, final, decision, earlier } = sight;
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
  return decideByTime(sight, job);
}

function decideByTime(
  { head, decision }: SigningSight,
  job: NonNullable<SigningSight["job"]>,
): SigningDecision {
  const issuedAt = head.timestamp;
  const isHold = decision.decision === "HOLD";
  if (isHold && issuedAt >= job.expiredAt) {
    const reason = "the evaluator takes no HOLD after the job's expiry; it can be decided still";
    return { kind: "keep", status: "held", reason };
  }
  const end = isHold ? job.expiredAt : jobEnd(job);
  const latest = issuedAt + LIFE_SECONDS;
  return { kind: "sign", issuedAt, deadline: end !== null && end < latest ? end : latest };
}

function wait(status: CheckStatus, reason: string): SigningDecision {
  return { kind: "wait", status, reason };
}

function never(status: CheckStatus, reason: string): SigningDecision {
  return { kind: "never", status, reason };
}

/** A job may never expire: its expiry is then no date. */
function isoOf(seconds: bigint): string {
  const date = new Date(Number(seconds) * 1000);
  return Number.isNaN(date.getTime()) ? String(seconds) : date.toISOString();
}
