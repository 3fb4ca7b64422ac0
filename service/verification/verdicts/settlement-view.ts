import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address, Hex } from "viem";
import type { SettlementState } from "../../db/tables/settlement.ts";
import type { CheckStatus, WaitStatus } from "../escrow/settlement-checks.ts";
import { type SignedColumns, type SignedVerdict, signedOf } from "../escrow/signed-verdict.ts";

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
  const { rows } = await db.execute<Row>(sql`
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
    status: statusOf(row, isHold),
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

type Row = JobColumns & ((SignedColumns & { state: SettlementState }) | { state: null });

function statusOf(row: Row, isHold: boolean): SettlementStatus {
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
