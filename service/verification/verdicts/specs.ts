import { eq } from "drizzle-orm";
import type { Address, Hex } from "viem";
import type { Database } from "../../db/database.ts";
import { underDeadline } from "../../db/database.ts";
import { jobSpec } from "../../db/tables/verdict.ts";
import type { SignedSpec } from "../escrow/client-signature.ts";
import { hashSpec } from "../panel/hashes.ts";

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

/** The job that a specification names; a chain and an escrow stand together or not at all. */
export type NamedJob = {
  readonly chainId: number | null;
  /** Lower-case. */
  readonly escrow: Address | null;
  readonly jobId: bigint;
};

/** A registered specification; addresses in lower case. */
export type StoredSpec = {
  readonly id: string;
  readonly clientAddr: Address;
  readonly providerAddr: Address | null;
  /** Null once the texts were dropped. */
  readonly specText: string | null;
  readonly acceptanceCriteria: string | null;
  readonly domain: string;
  readonly specHash: Hex;
  readonly job: NamedJob | null;
  /** The SpecBinding of clientAddr for this job, verified. */
  readonly clientSignature: Hex | null;
  /** The newest block of node and index when it was registered; null where it names no job of an escrow. */
  readonly registeredBlock: bigint | null;
  readonly createdAt: Date;
};

/** Adds a specification; every call adds one. */
export async function insertSpec(db: Database, { job, ...spec }: StoredSpec): Promise<void> {
  await underDeadline(db)
    .insert(jobSpec)
    .values({
      ...spec,
      jobChainId: job?.chainId ?? null,
      jobEscrow: job?.escrow ?? null,
      jobId: job?.jobId ?? null,
    });
}

/** Whether there is a specification, without reading its texts. */
export async function hasSpec(db: Database, id: string): Promise<boolean> {
  const rows = await underDeadline(db).select({ id: jobSpec.id }).from(jobSpec).where(eq(jobSpec.id, id));
  return rows.length > 0;
}

/** A specification by its id; null where there is none. */
export async function readSpec(db: Database, id: string): Promise<StoredSpec | null> {
  const [row] = await underDeadline(db).select().from(jobSpec).where(eq(jobSpec.id, id));
  return row === undefined ? null : specOf(row);
}

// Columns of text forget that they hold addresses and hexadecimal.
function specOf(row: typeof jobSpec.$inferSelect): StoredSpec {
  const { jobChainId, jobEscrow, jobId } = row;
  return {
    id: row.id,
    clientAddr: row.clientAddr as Address,
    providerAddr: row.providerAddr as Address | null,
    specText: row.specText,
    acceptanceCriteria: row.acceptanceCriteria,
    domain: row.domain,
    specHash: row.specHash as Hex,
    job: jobId === null ? null : { chainId: jobChainId, escrow: jobEscrow as Address | null, jobId },
    clientSignature: row.clientSignature as Hex | null,
    registeredBlock: row.registeredBlock,
    createdAt: row.createdAt,
  };
}
