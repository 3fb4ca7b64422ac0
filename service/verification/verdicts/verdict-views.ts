import type { Address, Hex } from "viem";
import { type Database, QUERY_DEADLINE } from "../../db/database.ts";
import type { RunCause, VerdictStatus } from "../../db/tables/verdict.ts";

type Decision = "ALLOW" | "HOLD" | "REJECT";

/** One decision of a verdict. */
type StoredRun = {
  readonly run: number;
  readonly cause: RunCause;
  readonly finalVerdict: Decision;
  readonly evidenceHash: Hex;
  readonly createdAt: Date;
};

/** A verdict with everything that its answer shows; addresses in lower case. */
export type StoredVerdict = {
  readonly id: string;
  /** As readers see it: completed from the first decision on. */
  readonly status: Exclude<VerdictStatus, "unsettled">;
  /** What a decided verdict is run again for, and how far that is; null where no re-run is due or under way. */
  readonly rerun: { readonly cause: RunCause; readonly status: "pending" | "processing" } | null;
  /** key:ID or wallet:ADDRESS. */
  readonly owner: string;
  readonly clientAddr: Address;
  readonly providerAddr: Address;
  readonly specHash: Hex;
  readonly outputHash: Hex;
  readonly errorMessage: string | null;
  /** The job that its specification names; null where it names none. */
  readonly namedJob: {
    /** Null both where the specification names no escrow. */
    readonly chainId: number | null;
    readonly escrow: Address | null;
    readonly jobId: bigint;
    /** Whether the specification was bound to it when the output was accepted. */
    readonly isBound: boolean;
  } | null;
  /** All decisions, oldest first. */
  readonly runs: readonly StoredRun[];
  /** What the newest decision answers, as verdict_run.result holds it; null before the first. */
  readonly result: unknown;
};

type Row = {
  readonly id: string;
  readonly status: StoredVerdict["status"];
  readonly cause: RunCause;
  readonly owner: string;
  readonly client_addr: Address;
  readonly provider_addr: Address;
  readonly spec_hash: Hex;
  readonly output_hash: Hex;
  readonly error_message: string | null;
  readonly named_chain_id: number | null;
  readonly named_escrow: Address | null;
  readonly named_job_id: string | null;
  readonly is_bound: boolean;
  readonly result: unknown;
  readonly runs:
    | readonly {
        readonly run: number;
        readonly cause: RunCause;
        readonly final_verdict: Decision;
        readonly evidence_hash: Hex;
        readonly created_at: string;
      }[]
    | null;
};

/** Every join is by a primary or a unique key, so a read costs the same however many verdicts there are. */
const VIEW = `
  select v.id, v.status, v.cause, v.owner, s.client_addr, v.provider_addr, s.spec_hash, v.output_hash, v.error_message,
    coalesce(v.job_chain_id, s.job_chain_id) as named_chain_id, coalesce(v.job_escrow, s.job_escrow) as named_escrow,
    coalesce(v.job_id, s.job_id) as named_job_id, v.job_id is not null as is_bound,
    r.result,
    (select json_agg(json_build_object('run', a.run, 'cause', a.cause, 'final_verdict', a.final_verdict,
       'evidence_hash', a.evidence_hash, 'created_at', a.created_at) order by a.run)
     from ahs.verdict_run a where a.verdict_id = v.id) as runs
  from ahs.verdict v
  join ahs.job_spec s on s.id = v.spec_id
  left join ahs.verdict_run r on r.verdict_id = v.id and r.run = v.runs
  where v.id = $1 and v.status <> 'unsettled'`;

/** The verdict of an id; null where there is none, or its price is not settled yet. */
export async function readStoredVerdict(db: Database, id: string): Promise<StoredVerdict | null> {
  const { rows } = await db.$client.query<Row>({
    ...QUERY_DEADLINE,
    name: "verdict_view",
    text: VIEW,
    values: [id],
  });
  return rows[0] === undefined ? null : verdictOf(rows[0]);
}

/** The evidence of one decision, byte by byte what was hashed, and which decision it is. */
export type StoredEvidence = { readonly run: number; readonly body: string; readonly hash: Hex };

/** The evidence of a verdict's decision, the newest where `run` is null; null where there is none. */
export async function readStoredEvidence(
  db: Database,
  id: string,
  run: number | null,
): Promise<StoredEvidence | null> {
  const { rows } = await db.$client.query<StoredEvidence>({
    ...QUERY_DEADLINE,
    name: "verdict_evidence",
    text: `select r.run, r.evidence as body, r.evidence_hash as hash
           from ahs.verdict v join ahs.verdict_run r on r.verdict_id = v.id and r.run = coalesce($2, v.runs)
           where v.id = $1 and v.status <> 'unsettled'`,
    values: [id, run],
  });
  return rows[0] ?? null;
}

/** The texts of a verdict; those whose time of retention is over are null. */
export type StoredTexts = {
  readonly specText: string | null;
  readonly acceptanceCriteria: string | null;
  readonly outputText: string | null;
  /** Oldest first. */
  readonly evidence: readonly { readonly text: string | null; readonly createdAt: Date }[];
};

/** The texts of a verdict that exists. */
export async function readStoredTexts(db: Database, id: string): Promise<StoredTexts> {
  const { rows } = await db.$client.query<{
    readonly spec_text: string | null;
    readonly acceptance_criteria: string | null;
    readonly output_text: string | null;
    readonly evidence: readonly { readonly text: string | null; readonly created_at: string }[] | null;
  }>({
    ...QUERY_DEADLINE,
    text: `select s.spec_text, s.acceptance_criteria, o.text as output_text,
             (select json_agg(json_build_object('text', e.text, 'created_at', e.created_at) order by e.created_at, e.id)
              from ahs.held_evidence e where e.verdict_id = v.id) as evidence
           from ahs.verdict v
           join ahs.job_spec s on s.id = v.spec_id
           left join ahs.output_text o on o.verdict_id = v.id
           where v.id = $1`,
    values: [id],
  });
  const [row] = rows;
  return {
    specText: row?.spec_text ?? null,
    acceptanceCriteria: row?.acceptance_criteria ?? null,
    outputText: row?.output_text ?? null,
    evidence: (row?.evidence ?? []).map(({ text, created_at }) => ({
      text,
      createdAt: new Date(created_at),
    })),
  };
}

function verdictOf(row: Row): StoredVerdict {
  return {
    id: row.id,
    ...progressOf(row),
    owner: row.owner,
    clientAddr: row.client_addr,
    providerAddr: row.provider_addr,
    specHash: row.spec_hash,
    outputHash: row.output_hash,
    errorMessage: row.error_message,
    namedJob: namedJobOf(row),
    runs: (row.runs ?? []).map((run) => ({
      run: run.run,
      cause: run.cause,
      finalVerdict: run.final_verdict,
      evidenceHash: run.evidence_hash,
      createdAt: new Date(run.created_at),
    })),
    result: row.result,
  };
}

/** A decided verdict is run again behind its answer, and stays what it was where that fails. */
function progressOf({ status, cause, runs }: Row): Pick<StoredVerdict, "status" | "rerun"> {
  if (runs === null) return { status, rerun: null };
  const isRunning = status === "pending" || status === "processing";
  return { status: "completed", rerun: isRunning ? { cause, status } : null };
}

function namedJobOf(row: Row): StoredVerdict["namedJob"] {
  if (row.named_job_id === null) return null;
  return {
    chainId: row.named_chain_id,
    escrow: row.named_escrow,
    jobId: BigInt(row.named_job_id),
    isBound: row.is_bound,
  };
}
