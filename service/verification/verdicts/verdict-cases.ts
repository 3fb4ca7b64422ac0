import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address, Hex } from "viem";

/** Inputs of a verdict's run. */
export type VerdictCase = {
  readonly specId: string;
  readonly specHash: Hex;
  readonly outputHash: Hex;
  /** Lower-case, as all addresses here. */
  readonly clientAddr: Address;
  readonly providerAddr: Address;
  readonly submitterAddr: Address;
  readonly submittedBy: "client" | "agent" | "protocol";
  readonly domain: string;
  readonly job: { readonly chainId: number; readonly escrow: Address; readonly jobId: bigint } | null;
  /** keccak256 of the evidence texts after a HOLD, oldest first. */
  readonly evidenceHashes: readonly Hex[];
  readonly providerHasScore: boolean;
  /** Null if any of them was dropped after its retention time. */
  readonly texts: CaseTexts | null;
};

type CaseTexts = {
  readonly specText: string;
  readonly acceptanceCriteria: string | null;
  readonly outputText: string;
  /** Oldest first. */
  readonly evidenceTexts: readonly string[];
};

type CaseRow = {
  readonly [column: string]: unknown;
  readonly spec_id: string;
  readonly spec_hash: Hex;
  readonly output_hash: Hex;
  readonly client_addr: Address;
  readonly provider_addr: Address;
  readonly submitter_addr: Address;
  readonly submitted_by: VerdictCase["submittedBy"];
  readonly domain: string;
  readonly job_chain_id: number | null;
  readonly job_escrow: Address | null;
  /** The driver returns numeric as text. */
  readonly job_id: string | null;
  readonly spec_text: string | null;
  readonly acceptance_criteria: string | null;
  readonly output: string | null;
  readonly evidence: readonly { readonly text: string | null; readonly hash: Hex }[];
  readonly has_score: boolean;
};

/** Reads the inputs of a verdict's run. `providerHasScore` is for this chain. Throws for an unknown verdict. */
export async function readVerdictCase(
  db: NodePgDatabase,
  { verdictId, chainId }: { readonly verdictId: string; readonly chainId: number },
): Promise<VerdictCase> {
  const { rows } = await db.execute<CaseRow>(sql`
    select v.spec_id, s.spec_hash, v.output_hash, s.client_addr, v.provider_addr, v.submitter_addr, v.submitted_by,
            s.domain, v.job_chain_id, v.job_escrow, v.job_id, s.spec_text, s.acceptance_criteria, o.text as output,
            coalesce((
              select json_agg(json_build_object('text', h.text, 'hash', h.text_hash) order by h.created_at, h.id)
              from ahs.held_evidence h where h.verdict_id = v.id), '[]'::json) as evidence,
            exists (
              select from ahs.current_score c
              where c.chain_id = ${chainId} and c.wallet = v.provider_addr and c.ahs_score is not null) as has_score
     from ahs.verdict v
     join ahs.job_spec s on s.id = v.spec_id
     left join ahs.output_text o on o.verdict_id = v.id
     where v.id = ${verdictId}`);
  const [row] = rows;
  if (row === undefined) throw new Error(`no verdict ${verdictId} to run`);
  return {
    specId: row.spec_id,
    specHash: row.spec_hash,
    outputHash: row.output_hash,
    clientAddr: row.client_addr,
    providerAddr: row.provider_addr,
    submitterAddr: row.submitter_addr,
    submittedBy: row.submitted_by,
    domain: row.domain,
    job: jobOf(row),
    evidenceHashes: row.evidence.map(({ hash }) => hash),
    providerHasScore: row.has_score,
    texts: textsOf(row),
  };
}

/** True if a verdict's specification was bound to a job; false for an unknown verdict. */
export async function isVerdictOfJob(db: NodePgDatabase, verdictId: string): Promise<boolean> {
  const { rowCount } = await db.execute(sql`
    select 1 from ahs.verdict where id = ${verdictId} and job_id is not null`);
  return rowCount === 1;
}

function jobOf({ job_chain_id, job_escrow, job_id }: CaseRow): VerdictCase["job"] {
  if (job_chain_id === null || job_escrow === null || job_id === null) return null;
  return { chainId: job_chain_id, escrow: job_escrow, jobId: BigInt(job_id) };
}

function textsOf(row: CaseRow): CaseTexts | null {
  const { spec_text: specText, output: outputText, acceptance_criteria: acceptanceCriteria } = row;
  const evidenceTexts = row.evidence.map(({ text }) => text).filter((text) => text !== null);
  if (specText === null || outputText === null || evidenceTexts.length < row.evidence.length) return null;
  return { specText, acceptanceCriteria, outputText, evidenceTexts };
}
