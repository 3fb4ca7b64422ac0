import type { Address, Hex } from "viem";
import { Problem, unavailable } from "../../access/problems.ts";
import type { Binding, JobName, SpecClaim } from "../../verification/escrow/types.ts";
import { hashText } from "../../verification/panel/hash-text.ts";
import type { OutputDraft } from "../../verification/verdicts/accept-output.ts";
import type { StoredSpec } from "../../verification/verdicts/job-specs.ts";
import { ValidationFailed } from "../kit/validation-failed.ts";
import { toEip55 } from "../schemas/values.ts";
import type { OutputBody } from "./output-schema.ts";
import { fault } from "./spec-schema.ts";

/** Says whether a specification is its job's; throws a 503 when that cannot be told now. */
export type Bind = (claim: SpecClaim) => Promise<Binding>;

/** What was submitted to a job last, by the index; null where it shows no submission. */
export type ReadDeliverable = (job: JobName) => Promise<Hex | null>;

/** The index follows a submission within a few blocks. */
const RETRY_AFTER_SECONDS = 5;
/** A person reviews an escrow's new code. */
const SUSPENDED_RETRY_SECONDS = 600;

/**
 * Where an output belongs: to its job and deliverable where its specification is bound, else to the specification alone, so that
 * nobody takes a job's place by a specification that is not the job's. Throws the 422 of a provider who is not the
 * job's, and the 503 of an escrow whose code has changed.
 */
export async function placeOutput(body: OutputBody, spec: StoredSpec, bind: Bind): Promise<OutputDraft> {
  const outputHash = hashText(body.output_text);
  const claim = claimOf(spec);
  const binding = claim === null ? null : await bind(claim);
  const draft = {
    specId: spec.id,
    outputHash,
    outputText: body.output_text,
    submittedBy: body.submitted_by,
    submitterAddr: body.submitter_addr,
    webhookUrl: body.webhook_url,
  };
  if (binding?.kind === "suspended")
    throw unavailable(
      "escrow-suspended",
      `Jobs of this escrow are not settled now: ${binding.reason}. Send the output again once its operator has allowed the new code.`,
      { retryAfterSeconds: SUSPENDED_RETRY_SECONDS },
    );
  if (binding === null || binding.kind === "unbound")
    return { ...draft, slot: `spec:${spec.id}:${outputHash}`, job: null, providerAddr: body.provider_addr };
  const { chainId, jobId } = binding.job;
  const [escrow, provider] = [lowerCase(binding.job.escrow), lowerCase(binding.job.provider)];
  requireProvider(body, provider);
  return {
    ...draft,
    slot: `job:${chainId}:${escrow}:${jobId}:${outputHash}`,
    job: { chainId, escrow, jobId },
    providerAddr: provider,
  };
}

/**
 * Throws the 409 of an output of a job that is not what was submitted to it: nobody has variants judged, and submits the one that
 * passed. Outputs of no job are judged as they are.
 */
export async function requireDelivered(
  { job, outputHash }: Pick<OutputDraft, "job" | "outputHash">,
  readDeliverable: ReadDeliverable,
): Promise<void> {
  if (job === null) return;
  const deliverable = await readDeliverable(job);
  if (deliverable === null)
    throw new Problem(
      "job-not-submitted",
      `The index shows no submission to job ${job.jobId} of ${toEip55(job.escrow)} yet. Its output is judged once it is on chain.`,
      { headers: { "retry-after": String(RETRY_AFTER_SECONDS) } },
    );
  if (deliverable !== outputHash)
    throw new Problem(
      "deliverable-differs",
      `The deliverable of job ${job.jobId} is ${deliverable}, and the output hashes to ${outputHash}.`,
    );
}

/** What binding reads of a specification; null for one that names no job of an escrow. */
export function claimOf({ job, ...spec }: StoredSpec): SpecClaim | null {
  if (job === null || job.chainId === null || job.escrow === null) return null;
  const { specHash, clientAddr, providerAddr, clientSignature, registeredBlock } = spec;
  return {
    specId: spec.id,
    specHash,
    clientAddr,
    providerAddr,
    job: { chainId: job.chainId, escrow: job.escrow, jobId: job.jobId },
    clientSignature,
    registeredBlock,
  };
}

function requireProvider({ provider_addr: given }: OutputBody, provider: Address): void {
  if (given === provider) return;
  const error = `the provider of the job that the specification is bound to is ${toEip55(provider)}`;
  throw new ValidationFailed([fault("provider_addr", given, error)]);
}

// The chain's addresses are addresses in any case.
function lowerCase(address: Address): Address {
  return address.toLowerCase() as Address;
}
