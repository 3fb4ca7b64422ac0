import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address, Hex } from "viem";
import type { Database } from "../../db/database.ts";
import { QUERY_DEADLINE, underDeadline } from "../../db/database.ts";
import type { SettlementState } from "../../db/tables/settlement.ts";
import type { RunCause, VerdictStatus } from "../../db/tables/verdict.ts";
import type { CheckStatus, WaitStatus } from "../escrow/settlement-checks.ts";
import { type SignedColumns, type SignedVerdict, signedOf } from "../escrow/settlements.ts";
import type { VerdictResult } from "./store-decision.ts";

/** A verdict as its readers see it. */
export type VerdictView = Omit<StoredVerdict, "result"> & {
  /** Of the newest decision; null before the first. */
  readonly result: VerdictResult | null;
  /** Null where the specification is bound to no job. */
  readonly settlement: SettlementView | null;
};

/** The verdict of an id; null where there is none, or its price is not settled yet. */
export async function readVerdict(db: Database, id: string): Promise<VerdictView | null> {
  const stored = await readStoredVerdict(db, id);
  if (stored === null) return null;
  const isBound = stored.namedJob?.isBound === true;
  const settlement = isBound ? await readSettlementView(underDeadline(db), id) : null;
  // storeDecision alone writes the column, and takes no other type.
  return { ...stored, settlement, result: (stored.result ?? null) as VerdictResult | null };
}

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
type StoredVerdict = {
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

type VerdictRow = {
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
async function readStoredVerdict(db: Database, id: string): Promise<StoredVerdict | null> {
  const { rows } = await db.$client.query<VerdictRow>({
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

function verdictOf(row: VerdictRow): StoredVerdict {
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
function progressOf({ status, cause, runs }: VerdictRow): Pick<StoredVerdict, "status" | "rerun"> {
  if (runs === null) return { status, rerun: null };
  const isRunning = status === "pending" || status === "processing";
  return { status: "completed", rerun: isRunning ? { cause, status } : null };
}

function namedJobOf(row: VerdictRow): StoredVerdict["namedJob"] {
  if (row.named_job_id === null) return null;
  return {
    chainId: row.named_chain_id,
    escrow: row.named_escrow,
    jobId: BigInt(row.named_job_id),
    isBound: row.is_bound,
  };
}

/**
 * Where the newest decision about a bound job stands. waiting: there is none yet, or it was not looked at. waiting_for_submission,
 * waiting_for_finality: the job's submission is not there, or not final. suspended: it cannot be settled now, because the escrow's
 * code changed or the node does not answer. unbound: its specification turned out not to be the job's. signed: under way.
 * settled: the escrow paid or refunded, in a final block. held: the HOLD is on record in a final block, or was given after the job's
 * expiry, when the evaluator takes none. refused: it is never carried out. expired: the job ran out first, or the signature, which
 * is made anew while the job can be decided. expired_on_hold: the job expired while its verdict was HOLD.
 */
export type SettlementStatus = CheckStatus | "waiting" | "signed" | "settled" | "expired_on_hold";

/** What a verdict's answer tells of its job's escrow; the escrow in lower case. */
export type SettlementView = {
  readonly chainId: number;
  readonly escrow: Address;
  readonly jobId: bigint;
  readonly status: SettlementStatus;
  /** The transaction that carried the decision out, once it is final. */
  readonly txHash: Hex | null;
  /** When a reviewer has to have decided on a HOLD; null where nothing is held. */
  readonly reviewBy: Date | null;
  /** Why it is not signed, or not carried out; null where nothing is wrong. */
  readonly reason: string | null;
  /** Null where the newest decision was not signed. */
  readonly signed: SignedVerdict | null;
};

/** The settlement of a verdict's newest decision; null for an unknown verdict and for one that is bound to no job. */
export async function readSettlementView(
  db: NodePgDatabase,
  verdictId: string,
): Promise<SettlementView | null> {
  const { rows } = await db.execute<SettlementRow>(sql`
    select v.job_chain_id, v.job_escrow, v.job_id, v.final_verdict, t.state, t.transaction_hash, t.error,
      c.status as check_status, c.reason as check_reason, h.review_by, h.expired_on_hold_at, t.decision, t.deliverable,
      t.spec_hash, t.score, t.confidence_bps, t.evidence_hash, t.issued_at, t.deadline, t.evaluator, t.signer, t.signature
    from ahs.verdict v
    left join ahs.settlement t on t.verdict_id = v.id and t.run = v.runs
    left join ahs.settlement_check c on c.verdict_id = v.id and c.run = v.runs
    left join ahs.hold_clock h on h.verdict_id = v.id
    where v.id = ${verdictId} and v.job_chain_id is not null`);
  const [row] = rows;
  if (row === undefined) return null;
  const isHold = row.final_verdict === "HOLD";
  // What ran out is looked at again, as what was never signed.
  const isLookedAt = row.state === null || row.state === "expired";
  return {
    chainId: row.job_chain_id,
    escrow: row.job_escrow,
    jobId: BigInt(row.job_id),
    status: settlementStatusOf(row, isHold),
    txHash: row.transaction_hash,
    reviewBy: isHold && row.review_by !== null ? new Date(row.review_by) : null,
    reason: isLookedAt ? (row.check_reason ?? row.error) : row.error,
    signed: row.state === null ? null : signedOf(row),
  };
}

type JobColumns = {
  job_chain_id: number;
  job_escrow: Address;
  job_id: string;
  final_verdict: string | null;
  transaction_hash: Hex | null;
  error: string | null;
  check_status: WaitStatus | null;
  check_reason: string | null;
  review_by: Date | string | null;
  expired_on_hold_at: Date | string | null;
};

type SettlementRow = JobColumns & ((SignedColumns & { state: SettlementState }) | { state: null });

function settlementStatusOf(row: SettlementRow, isHold: boolean): SettlementStatus {
  if (isHold && row.expired_on_hold_at !== null) return "expired_on_hold";
  switch (row.state) {
    case null:
      return row.check_status ?? "waiting";
    case "expired":
      return row.check_status === null || row.check_status === "waiting" ? "expired" : row.check_status;
    case "confirmed":
      return isHold ? "held" : "settled";
    case "signed":
    case "refused":
      return row.state;
  }
}
