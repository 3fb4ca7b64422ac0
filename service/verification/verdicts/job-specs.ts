import { eq } from "drizzle-orm";
import type { Address, Hex } from "viem";
import { type Database, underDeadline } from "../../db/database.ts";
import { jobSpec } from "../../db/tables/verdict.ts";

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
