import type { CheckStatus, UnsignedDecision } from "../store/settlement-checks.ts";
import type { ChainBlock } from "./escrow-node.ts";
import type { Binding, EscrowJob } from "./types.ts";

/** Everything that decides whether a decision is signed. */
export type SigningSight = {
  readonly decision: Pick<UnsignedDecision, "outputHash" | "models" | "job">;
  /** Address of the evaluator that verdicts are signed for, in lower case. */
  readonly evaluator: string;
  /** Newest block of the node; its clock dates the signature. */
  readonly head: Pick<ChainBlock, "timestamp">;
  /** Newest block that cannot be reorged. */
  readonly final: Pick<ChainBlock, "number">;
  /** What changed of the escrow's code; null where nothing did. */
  readonly codeChange: string | null;
  /** As of the final block; null where it holds no such job. */
  readonly job: EscrowJob | null;
  readonly binding: Binding;
  /** The newest submission that the index knows; null where it knows none. */
  readonly submission: {
    readonly block: bigint;
    readonly deliverable: string;
    /** Whether the node's final chain has this very log, in the block of that hash. */
    readonly isConfirmed: boolean;
  } | null;
};

/** What to do about an unsigned decision; times in Unix seconds. */
export type SigningDecision =
  | { readonly kind: "sign"; readonly issuedAt: bigint; readonly deadline: bigint }
  | { readonly kind: "wait"; readonly status: CheckStatus; readonly reason: string }
  /** It can never be signed. */
  | { readonly kind: "never"; readonly status: CheckStatus; readonly reason: string };

/** Most seconds that a signature is good for, as the evaluator has it. */
const LIFE_SECONDS = 86_400n;
/** The local chain, where nothing of worth is moved. */
const LOCAL_CHAIN = 31_337;
/** How the model that obeys a script is named. */
const SCRIPTED = /^scripted/;

/** Whether a decision about a job is signed now: in doubt not (verification.md, section 4). */
export function decideSigning(sight: SigningSight): SigningDecision {
  const { decision, job, head } = sight;
  if (decision.job.chainId !== LOCAL_CHAIN && decision.models.some((model) => SCRIPTED.test(model)))
    return never("refused", "it was made by a scripted model, which is believed on the local chain alone");
  if (sight.codeChange !== null)
    return wait("suspended", `the escrow is not what it was when it was reviewed: ${sight.codeChange}`);
  if (job === null) return wait("waiting_for_finality", "the job is in no final block yet");
  if (job.evaluator !== sight.evaluator)
    return never("refused", `the job's evaluator is ${job.evaluator}, not ${sight.evaluator}`);
  if (job.status === "Completed" || job.status === "Rejected" || job.status === "Expired")
    return never(job.status === "Expired" ? "expired" : "refused", `the job has ended: ${job.status}`);
  if (head.timestamp >= job.expiredAt) return never("expired", `the job expired at ${isoOf(job.expiredAt)}`);
  if (sight.binding.kind === "unbound") return wait("unbound", sight.binding.reason);
  return decideBySubmission(sight, job);
}

function decideBySubmission(sight: SigningSight, job: EscrowJob): SigningDecision {
  const { submission, final, head, decision } = sight;
  if (submission === null) return wait("waiting_for_submission", "nothing has been submitted to the job");
  if (submission.block > final.number || job.status !== "Submitted")
    return wait("waiting_for_finality", `the submission of block ${submission.block} is not final`);
  if (!submission.isConfirmed)
    return wait("waiting_for_finality", `the node does not show the submission in block ${submission.block}`);
  if (submission.deliverable !== decision.outputHash)
    return wait("refused", `the job's deliverable is ${submission.deliverable}, not ${decision.outputHash}`);
  const issuedAt = head.timestamp;
  const latest = issuedAt + LIFE_SECONDS;
  return { kind: "sign", issuedAt, deadline: job.expiredAt < latest ? job.expiredAt : latest };
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
