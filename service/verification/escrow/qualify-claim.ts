import { specHashesIn } from "./spec-hashes.ts";
import type { EscrowJob, SpecClaim } from "./types.ts";

/** What of a claim has still to be asked: nothing where it is decided. */
export type Qualification =
  /** Its hash is the one that the description names. */
  | { readonly kind: "named" }
  /** The client signed it in time: it binds if none that the client signed was registered before it. */
  | { readonly kind: "by_signature" }
  | { readonly kind: "refused"; readonly reason: string };

/**
 * How far a specification can be a job's, whatever others were registered (verification.md, section 4); its signature is
 * verified. The block of the job's first submission is null while nothing was submitted. A description that names several hashes
 * names none of them.
 */
export function qualifyClaim(
  claim: Pick<SpecClaim, "specHash" | "clientAddr" | "providerAddr" | "clientSignature" | "registeredBlock">,
  job: Pick<EscrowJob, "client" | "provider" | "description">,
  firstSubmittedBlock: bigint | null,
): Qualification {
  if (claim.clientAddr !== job.client)
    return refused(`the job's client is ${job.client}, not ${claim.clientAddr}`);
  if (claim.providerAddr !== null && claim.providerAddr !== job.provider)
    return refused(`the job's provider is ${job.provider}, not ${claim.providerAddr}`);
  const named = specHashesIn(job.description);
  if (named.length > 1) return refused("the job's description names more than one specification");
  const [hash] = named;
  if (hash !== undefined) {
    return hash === claim.specHash.toLowerCase()
      ? { kind: "named" }
      : refused(`the job's description names the specification ${hash}`);
  }
  if (claim.clientSignature === null)
    return refused("the job's description names no specification, and the client signed none");
  if (claim.registeredBlock === null) return refused("it is not known when it was registered");
  if (firstSubmittedBlock !== null && claim.registeredBlock >= firstSubmittedBlock)
    return refused(`it was registered at block ${claim.registeredBlock}, after the job's submission`);
  return { kind: "by_signature" };
}

function refused(reason: string): Qualification {
  return { kind: "refused", reason };
}
