import type { Address, Hex } from "viem";
import type { SignedSpec } from "../escrow/check-client-signature.ts";
import { hashSpec } from "../panel/hash-spec.ts";
import type { NamedJob, StoredSpec } from "./job-specs.ts";

/** A specification as its client sends it, after defaults; addresses in lower case. */
export type SpecDraft = {
  readonly clientAddr: Address;
  readonly providerAddr: Address | null;
  readonly specText: string;
  readonly acceptanceCriteria: string | null;
  readonly domain: string;
  readonly job: NamedJob | null;
  readonly clientSignature: Hex | null;
};

export type RegisterDeps = {
  insert(spec: StoredSpec): Promise<void>;
  /** The newest block of node and index; throws when the node does not answer. */
  newestBlock(): Promise<bigint>;
  /** Why a signature is not the client's for the job; null where it is. Throws when the node does not answer. */
  refuseSignature(signed: SignedSpec): Promise<string | null>;
  /** Why the panel could judge no output by it; null where it could, and where no panel is configured. */
  describeOverflow(draft: SpecDraft): string | null;
  randomUuid(): string;
};

/** refused: nothing is stored, since that member of the request cannot stand. */
export type Registration =
  | { readonly kind: "registered"; readonly specId: string; readonly specHash: Hex }
  | { readonly kind: "refused"; readonly member: "spec_text" | "client_signature"; readonly reason: string };

/**
 * Registers a specification under a fresh id, with its hash; one that no output could be judged by, or whose signature is not its
 * client's, is refused. Where it names a job of an escrow the newest block is noted, which is what tells a specification written
 * before a delivery from one written after it.
 */
export async function registerSpec(deps: RegisterDeps, draft: SpecDraft, now: Date): Promise<Registration> {
  const overflow = deps.describeOverflow(draft);
  if (overflow !== null) return { kind: "refused", member: "spec_text", reason: overflow };
  const specHash = hashSpec(draft);
  const signed = signedSpecOf(draft, specHash);
  const fault = signed === null ? null : await deps.refuseSignature(signed);
  if (fault !== null) return { kind: "refused", member: "client_signature", reason: fault };
  // Asked after the signature, so that what a wallet says later than this block is never counted as said before it.
  const registeredBlock = draft.job === null || draft.job.escrow === null ? null : await deps.newestBlock();
  const spec = { ...draft, id: deps.randomUuid(), specHash, registeredBlock, createdAt: now };
  await deps.insert(spec);
  return { kind: "registered", specId: spec.id, specHash };
}

/** Null where the client signed nothing. Throws for a signature without a job, which nothing could verify. */
function signedSpecOf({ job, clientAddr, clientSignature }: SpecDraft, specHash: Hex): SignedSpec | null {
  if (clientSignature === null) return null;
  if (job === null || job.chainId === null || job.escrow === null)
    throw new Error("a client's signature names a job of an escrow");
  const name = { chainId: job.chainId, escrow: job.escrow, jobId: job.jobId };
  return { job: name, clientAddr, specHash, signature: clientSignature };
}
