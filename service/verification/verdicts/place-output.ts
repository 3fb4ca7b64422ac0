import { type Address, getAddress, type Hex } from "viem";
import { Problem, unavailable } from "../../access/problems.ts";
import { lowerCase } from "../../db/columns.ts";
import { expiryOf } from "../escrow/decide-clock.ts";
import type { BindableSpec, Binding, JobName } from "../escrow/types.ts";
import { hashText } from "../panel/hashes.ts";
import type { OutputDraft } from "./accept-output.ts";
import type { StoredSpec } from "./specs.ts";

/** An output with its place, before its run is measured. */
export type PlacedOutput = Omit<OutputDraft, "runTokens" | "stakeMicroUsd">;

/** Says whether a specification is its job's. Throws a 503 if that is not known now. */
export type Bind = (spec: BindableSpec) => Promise<Binding>;

/** The index follows a submission within a few blocks. */
const RETRY_AFTER_SECONDS = 5;
/** A person reviews an escrow's new code. */
const SUSPENDED_RETRY_SECONDS = 600;

/**
 * Decides where an output belongs. With a bound specification that is its job and deliverable, otherwise the specification alone, so
 * an unbound specification never takes a job's place. other_provider: the specification is bound to a job of this provider, and the request
 * names another one. Throws the 503 of an escrow whose code has changed.
 */
export async function placeOutput(
  output: Omit<PlacedOutput, "specId" | "slot" | "outputHash" | "job" | "expiresAt">,
  spec: StoredSpec,
  bind: Bind,
): Promise<{ kind: "placed"; draft: PlacedOutput } | { kind: "other_provider"; provider: Address }> {
  const outputHash = hashText(output.outputText);
  const bindable = bindableOf(spec);
  const binding = bindable === null ? null : await bind(bindable);
  if (binding?.kind === "suspended")
    throw unavailable(
      "escrow-suspended",
      `Jobs of this escrow are not settled now: ${binding.reason}. Send the output again once its operator has allowed the new code.`,
      { retryAfterSeconds: SUSPENDED_RETRY_SECONDS },
    );
  const draft = { ...output, specId: spec.id, outputHash };
  if (binding === null || binding.kind === "unbound")
    return {
      kind: "placed",
      draft: { ...draft, slot: `spec:${spec.id}:${outputHash}`, job: null, expiresAt: null },
    };
  const { chainId, jobId } = binding.job;
  const [escrow, provider] = [lowerCase(binding.job.escrow), lowerCase(binding.job.provider)];
  if (output.providerAddr !== provider) return { kind: "other_provider", provider };
  const slot = `job:${chainId}:${escrow}:${jobId}:${outputHash}`;
  const expiresAt = expiryOf(binding.job);
  return { kind: "placed", draft: { ...draft, slot, job: { chainId, escrow, jobId }, expiresAt } };
}

/**
 * Throws the 409 of a job's output that differs from the submission on chain. Otherwise a provider could have variants judged and
 * submit the one that passes. Outputs without a job are judged as they are.
 */
export async function requireDelivered(
  { job, outputHash }: Pick<OutputDraft, "job" | "outputHash">,
  /** The deliverable of a job's newest submission in the index; null if the index has no submission. */
  readDeliverable: (job: JobName) => Promise<Hex | null>,
): Promise<void> {
  if (job === null) return;
  const deliverable = await readDeliverable(job);
  if (deliverable === null)
    throw new Problem(
      "job-not-submitted",
      `The index shows no submission to job ${job.jobId} of ${getAddress(job.escrow)} yet. Its output is judged once it is on chain.`,
      { headers: { "retry-after": String(RETRY_AFTER_SECONDS) } },
    );
  if (deliverable !== outputHash)
    throw new Problem(
      "deliverable-differs",
      `The deliverable of job ${job.jobId} is ${deliverable}, and the output hashes to ${outputHash}.`,
    );
}

/** The specification as binding reads it; null if it names no job of an escrow. */
export function bindableOf({ id: specId, job, ...spec }: StoredSpec): BindableSpec | null {
  if (job === null || job.chainId === null || job.escrow === null) return null;
  return { ...spec, specId, job: { chainId: job.chainId, escrow: job.escrow, jobId: job.jobId } };
}
