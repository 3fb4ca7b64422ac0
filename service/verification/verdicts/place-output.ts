import { type Address, getAddress, type Hex } from "viem";
import { Problem, unavailable } from "../../access/problems.ts";
import type { Binding, JobName, SpecClaim } from "../escrow/types.ts";
import { hashText } from "../panel/hashes.ts";
import type { OutputDraft } from "./accept-output.ts";
import type { StoredSpec } from "./specs.ts";

/** Says whether a specification is its job's. Throws a 503 if that is not known now. */
export type Bind = (claim: SpecClaim) => Promise<Binding>;

/** The deliverable of a job's newest submission in the index; null if the index has no submission. */
type ReadDeliverable = (job: JobName) => Promise<Hex | null>;

/** An output as its request has it; addresses in lower case. */
type SubmittedOutput = Pick<
  OutputDraft,
  "outputText" | "submittedBy" | "submitterAddr" | "providerAddr" | "webhookUrl"
>;

/** other_provider: the specification is bound to a job of this provider, and the request names another one. */
type Placed =
  | { readonly kind: "placed"; readonly draft: OutputDraft }
  | { readonly kind: "other_provider"; readonly provider: Address };

/** The index follows a submission within a few blocks. */
const RETRY_AFTER_SECONDS = 5;
/** A person reviews an escrow's new code. */
const SUSPENDED_RETRY_SECONDS = 600;

/**
 * Decides where an output belongs. With a bound specification that is its job and deliverable, otherwise the specification alone, so
 * an unbound specification never takes a job's place. Throws the 503 of an escrow whose code has changed.
 */
export async function placeOutput(output: SubmittedOutput, spec: StoredSpec, bind: Bind): Promise<Placed> {
  const outputHash = hashText(output.outputText);
  const claim = claimOf(spec);
  const binding = claim === null ? null : await bind(claim);
  if (binding?.kind === "suspended")
    throw unavailable(
      "escrow-suspended",
      `Jobs of this escrow are not settled now: ${binding.reason}. Send the output again once its operator has allowed the new code.`,
      { retryAfterSeconds: SUSPENDED_RETRY_SECONDS },
    );
  const draft = { ...output, specId: spec.id, outputHash };
  if (binding === null || binding.kind === "unbound")
    return { kind: "placed", draft: { ...draft, slot: `spec:${spec.id}:${outputHash}`, job: null } };
  const { chainId, jobId } = binding.job;
  const [escrow, provider] = [lowerCase(binding.job.escrow), lowerCase(binding.job.provider)];
  if (output.providerAddr !== provider) return { kind: "other_provider", provider };
  const slot = `job:${chainId}:${escrow}:${jobId}:${outputHash}`;
  return { kind: "placed", draft: { ...draft, slot, job: { chainId, escrow, jobId } } };
}

/**
 * Throws the 409 of a job's output that differs from the submission on chain. Otherwise a provider could have variants judged and
 * submit the one that passes. Outputs without a job are judged as they are.
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
      `The index shows no submission to job ${job.jobId} of ${getAddress(job.escrow)} yet. Its output is judged once it is on chain.`,
      { headers: { "retry-after": String(RETRY_AFTER_SECONDS) } },
    );
  if (deliverable !== outputHash)
    throw new Problem(
      "deliverable-differs",
      `The deliverable of job ${job.jobId} is ${deliverable}, and the output hashes to ${outputHash}.`,
    );
}

/** The members of a specification that binding reads; null if it names no job of an escrow. */
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

/** An address in lower case is an address. */
function lowerCase(address: Address): Address {
  return address.toLowerCase() as Address;
}
