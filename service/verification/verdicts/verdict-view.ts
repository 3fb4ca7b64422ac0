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

/** A verdict as readers see it. */
export type VerdictView = Omit<StoredVerdict, "result"> & {
  /** Result of the newest decision; null before the first. */
  readonly result: VerdictResult | null;
  /** Null if the specification is not bound to a job. */
  readonly settlement: SettlementView | null;
};

/** Reads a verdict; null if it does not exist or its price is not settled. */
export async function readVerdict(db: Database, id: string): Promise<VerdictView | null> {
  const stored = await readStoredVerdict(db, id);
  if (stored === null) return null;
  const isBound = stored.namedJob?.isBound === true;
  const settlement = isBound ? await readSettlementView(underDeadline(db), id) : null;
  // Only storeDecision writes the column, and with this type.
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

/** A verdict with everything that its response shows; addresses in lower case. */
type StoredVerdict = {
  readonly id: string;
  /** Visible status: completed from the first decision on. */
  readonly status: Exclude<VerdictStatus, "unsettled">;
  /** Cause and status of a re-run of a decided verdict; null without one. */
  readonly rerun: { readonly cause: RunCause; readonly status: "pending" | "processing" } | null;
  /** key:ID or wallet:ADDRESS. */
  readonly owner: string;
  readonly clientAddr: Address;
  readonly providerAddr: Address;
  readonly specHash: Hex;
  readonly outputHash: Hex;
  readonly errorMessage: string | null;
  /** Job named by its specification; null without one. */
  readonly namedJob: {
    /** Both are null if the specification names no escrow. */
    readonly chainId: number | null;
    readonly escrow: Address | null;
    readonly jobId: bigint;
    /** True if the specification was bound to it when the output was accepted. */
    readonly isBound: boolean;
  } | null;
  /** All decisions, oldest first. */
  readonly runs: readonly StoredRun[];
  /** verdict_run.result of the newest decision; null before the first. */
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

/** Every join uses a primary or unique key, so the cost does not grow with the number of verdicts. */
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

/** Reads a verdict; null if it does not exist or its price is not settled. */
async function readStoredVerdict(db: Database, id: string): Promise<StoredVerdict | null> {
  const { rows } = await db.$client.query<VerdictRow>({
    ...QUERY_DEADLINE,
    name: "verdict_view",
    text: VIEW,
    values: [id],
  });
  return rows[0] === undefined ? null : verdictOf(rows[0]);
}

/** Evidence of one decision: the hashed bytes, and the number of the decision. */
export type StoredEvidence = { readonly run: number; readonly body: string; readonly hash: Hex };

/** Reads the evidence of a verdict's decision, the newest if `run` is null; null without one. */
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

/** Texts of a verdict; null after their retention time. */
export type StoredTexts = {
  readonly specText: string | null;
  readonly acceptanceCriteria: string | null;
  readonly outputText: string | null;
  /** Oldest first. */
  readonly evidence: readonly { readonly text: string | null; readonly createdAt: Date }[];
};

/** Reads the texts of an existing verdict. */
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

/** A re-run of a decided verdict does not change its visible status, even if it fails. */
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
 * Settlement status of the newest decision about a bound job. waiting: there is no decision yet, or it was not checked.
 * waiting_for_submission, waiting_for_finality: the job's submission is missing, or not final. suspended: it cannot be settled now, because
 * the escrow's code changed or the node does not answer. unbound: its specification is not the job's. signed: in progress. settled: the
 * escrow paid or refunded, in a final block. held: the HOLD is on record in a final block, or was made after the job's expiry, when the
 * evaluator takes none. refused: it is never carried out. expired: the job expired first, or the signature, which is renewed while the job
 * can be decided. expired_on_hold: the job expired while its verdict was HOLD.
 */
export type SettlementStatus = CheckStatus | "waiting" | "signed" | "settled" | "expired_on_hold";

/** Settlement in a verdict's response; the escrow in lower case. */
export type SettlementView = {
  readonly chainId: number;
  readonly escrow: Address;
  readonly jobId: bigint;
  readonly status: SettlementStatus;
  /** Transaction that carried out the decision, when it is final. */
  readonly txHash: Hex | null;
  /** Review deadline of a HOLD; null without one. */
  readonly reviewBy: Date | null;
  /** Why it is not signed or not carried out; null without a problem. */
  readonly reason: string | null;
  /** Null if the newest decision was not signed. */
  readonly signed: SignedVerdict | null;
};

/** Reads the settlement of a verdict's newest decision; null for an unknown verdict and one without a bound job. */
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
  // An expired signature is checked again, like an unsigned decision.
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
