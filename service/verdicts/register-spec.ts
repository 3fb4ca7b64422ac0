import type { Address, Hex } from "viem";
import { hashSpec } from "../panel/hash-spec.ts";
import type { NamedJob, StoredSpec } from "../store/job-specs.ts";

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
  /** The node's newest block; throws when it does not answer. */
  newestBlock(): Promise<bigint>;
  randomUuid(): string;
};

/**
 * Registers a specification under a fresh id, with its hash. Where it names a job of an escrow the node's newest block is noted,
 * which is what tells a specification written before a delivery from one written after it.
 */
export async function registerSpec(
  deps: RegisterDeps,
  draft: SpecDraft,
  now: Date,
): Promise<{ readonly specId: string; readonly specHash: Hex }> {
  const registeredBlock = draft.job === null || draft.job.escrow === null ? null : await deps.newestBlock();
  const spec = {
    ...draft,
    id: deps.randomUuid(),
    specHash: hashSpec(draft),
    registeredBlock,
    createdAt: now,
  };
  await deps.insert(spec);
  return { specId: spec.id, specHash: spec.specHash };
}
