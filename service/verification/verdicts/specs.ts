import { eq } from "drizzle-orm";
import type { Address, Hex } from "viem";
import type { Database } from "../../db/database.ts";
import { underDeadline } from "../../db/database.ts";
import { jobSpec } from "../../db/tables/verdict.ts";
import type { SignedSpec } from "../escrow/client-signature.ts";
import { hashSpec } from "../panel/hashes.ts";
import { openSpecTexts, placeOf } from "./sealed-texts.ts";

/** The job that a specification names. Chain and escrow are both set or both null. */
export type NamedJob = { chainId: number | null; escrow: Address | null; jobId: bigint };

/** A registered specification; addresses in lower case. */
export type StoredSpec = Omit<
  typeof jobSpec.$inferSelect,
  "jobChainId" | "jobEscrow" | "jobId" | "textsDroppedAt"
> & { readonly job: NamedJob | null };

/** A specification as sent, after defaults; addresses in lower case. */
export type SpecDraft = Omit<StoredSpec, "id" | "specText" | "specHash" | "registeredBlock" | "createdAt"> & {
  readonly specText: string;
};

export type RegisterDeps = {
  insert(spec: StoredSpec): Promise<void>;
  /** Newest block of node and index. Throws if the node does not answer. */
  newestBlock(): Promise<bigint>;
  /** Returns why a signature is not the client's for the job; null if it is. Throws if the node does not answer. */
  refuseSignature(signed: SignedSpec): Promise<string | null>;
  /** Returns why the panel could judge no output by it; null if it could, or if no panel is configured. */
  describeOverflow(draft: SpecDraft): string | null;
  randomUuid(): string;
};

/**
 * Registers a specification with a new id and its hash. It refuses a specification that leaves no room for an output, and a signature that
 * is not its client's, and stores nothing then. If it names a job of an escrow, the newest block is stored, to distinguish
 * specifications from before and after the delivery.
 */
export async function registerSpec(
  deps: RegisterDeps,
  draft: SpecDraft,
  now: Date,
): Promise<
  | { kind: "registered"; specId: string; specHash: Hex }
  | { kind: "refused"; member: "spec_text" | "client_signature"; reason: string }
> {
  const overflow = deps.describeOverflow(draft);
  if (overflow !== null) return { kind: "refused", member: "spec_text", reason: overflow };
  const specHash = hashSpec(draft);
  const signed = signedSpecOf(draft, specHash);
  const fault = signed === null ? null : await deps.refuseSignature(signed);
  if (fault !== null) return { kind: "refused", member: "client_signature", reason: fault };
  // Read after the signature, so that a later signature never counts as made before this block.
  const registeredBlock = draft.job === null || draft.job.escrow === null ? null : await deps.newestBlock();
  const spec = { ...draft, id: deps.randomUuid(), specHash, registeredBlock, createdAt: now };
  await deps.insert(spec);
  return { kind: "registered", specId: spec.id, specHash };
}

/** Null without a signature. Throws for a signature without a job, which cannot be verified. */
function signedSpecOf({ job, clientAddr, clientSignature }: SpecDraft, specHash: Hex): SignedSpec | null {
  if (clientSignature === null) return null;
  if (job === null || job.chainId === null || job.escrow === null)
    throw new Error("a client's signature names a job of an escrow");
  const name = { chainId: job.chainId, escrow: job.escrow, jobId: job.jobId };
  return { job: name, clientAddr, specHash, signature: clientSignature };
}

export async function insertSpec(db: Database, { job, ...spec }: StoredSpec): Promise<void> {
  const { chainId: jobChainId = null, escrow: jobEscrow = null, jobId = null } = job ?? {};
  const seal = (column: "spec_text" | "acceptance_criteria", text: string | null) =>
    text === null ? null : db.texts.seal(text, placeOf(`job_spec.${column}`, spec.id));
  const specText = seal("spec_text", spec.specText);
  const acceptanceCriteria = seal("acceptance_criteria", spec.acceptanceCriteria);
  await underDeadline(db)
    .insert(jobSpec)
    .values({ ...spec, specText, acceptanceCriteria, jobChainId, jobEscrow, jobId });
}

/** True if a specification exists; its texts are not read. */
export async function hasSpec(db: Database, id: string): Promise<boolean> {
  const rows = await underDeadline(db).select({ id: jobSpec.id }).from(jobSpec).where(eq(jobSpec.id, id));
  return rows.length > 0;
}

/** Reads a specification; null without one. Its texts are null after their retention time. */
export async function readSpec(db: Database, id: string): Promise<StoredSpec | null> {
  const [row] = await underDeadline(db).select().from(jobSpec).where(eq(jobSpec.id, id));
  if (row === undefined) return null;
  const { jobChainId: chainId, jobEscrow: escrow, jobId, textsDroppedAt: _, ...spec } = row;
  return {
    ...spec,
    ...openSpecTexts(db.texts, spec.id, spec),
    job: jobId === null ? null : { chainId, escrow, jobId },
  };
}
