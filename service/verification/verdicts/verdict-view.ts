import { and, desc, eq, isNotNull, ne, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Hex } from "viem";
import type { Database } from "../../db/database.ts";
import { underDeadline } from "../../db/database.ts";
import { appeal } from "../../db/tables/appeal.ts";
import { holdClock, type SettlementState, settlement, settlementCheck } from "../../db/tables/settlement.ts";
import { jobSpec, outputText, verdict, verdictRun } from "../../db/tables/verdict.ts";
import type { CheckStatus, WaitStatus } from "../escrow/settlement-checks.ts";
import type { SignedVerdict } from "../escrow/settlements.ts";
import { JOB_COLUMNS, type JobName, jobOf } from "../escrow/types.ts";
import { NO_ANSWER_YET } from "../panel/ask-role.ts";
import { ROLE_NAMES, type RoleProgress } from "../panel/types.ts";
import { openOrNull, openSpecTexts, placeOf } from "./sealed-texts.ts";
import type { VerdictResult } from "./verdict-result.ts";

/** A verdict with everything that its response shows; addresses in lower case. */
export type VerdictView = NonNullable<Awaited<ReturnType<typeof readVerdict>>>;

type Run = Pick<
  typeof verdictRun.$inferSelect,
  "run" | "cause" | "finalVerdict" | "evidenceHash" | "createdAt"
>;

/**
 * Reads a verdict; null if it does not exist or its price is not settled. `result` is of the newest decision, `run`, and null before the first; `runs`
 * has all of them, oldest first. A HOLD on appeal is after the newest. `appeal` is null before the time to appeal was opened. `namedJob` is the job of its specification,
 * `settlement` is null unless that was bound to it. Every join uses a primary or unique key, so the cost does not grow with the number of
 * verdicts.
 */
export async function readVerdict(db: Database, id: string) {
  const [row] = await underDeadline(db)
    .select({
      id: verdict.id,
      status: verdict.status,
      cause: verdict.cause,
      owner: verdict.owner,
      run: verdict.runs,
      clientAddr: jobSpec.clientAddr,
      providerAddr: verdict.providerAddr,
      specHash: jobSpec.specHash,
      outputHash: verdict.outputHash,
      errorMessage: verdict.errorMessage,
      ...JOB_COLUMNS,
      named: { chainId: jobSpec.jobChainId, escrow: jobSpec.jobEscrow, jobId: jobSpec.jobId },
      result: verdictRun.result,
      appeal: {
        state: appeal.state,
        run: appeal.run,
        appellant: appeal.appellant,
        appealBy: appeal.appealBy,
        decideBy: appeal.decideBy,
        units: appeal.units,
      },
      calls: sql<readonly RoleProgress[] | null>`(
        select json_agg(json_build_object('role', c.role, 'status', case when c.failure is null then 'answered'
          when c.failure = ${NO_ANSWER_YET} then 'asked' else 'abstained' end))
        from ahs.role_call c where c.verdict_id = ${verdict.id} and c.run = ${verdict.runs} + 1)`,
      runs: sql<readonly (Omit<Run, "createdAt"> & { createdAt: string })[] | null>`(
        select json_agg(json_build_object('run', a.run, 'cause', a.cause, 'finalVerdict', a.final_verdict,
          'evidenceHash', a.evidence_hash, 'createdAt', a.created_at) order by a.run)
        from ahs.verdict_run a where a.verdict_id = ${verdict.id})`,
    })
    .from(verdict)
    .innerJoin(jobSpec, eq(jobSpec.id, verdict.specId))
    .leftJoin(verdictRun, and(eq(verdictRun.verdictId, verdict.id), eq(verdictRun.run, verdict.runs)))
    .leftJoin(appeal, eq(appeal.verdictId, verdict.id))
    .where(eq(verdict.id, id))
    .prepare("verdict_view")
    .execute();
  if (row === undefined || row.status === "unsettled") return null;
  const { status, cause, named, jobChainId, jobEscrow, jobId, result, calls, runs, ...shown } = row;
  const { jobId: namedId, ...escrow } = named;
  const bound = jobOf({ jobChainId, jobEscrow, jobId });
  const isRunning = status === "pending" || status === "processing";
  return {
    ...shown,
    // A re-run of a decided verdict does not change its visible status, even if it fails.
    status: runs === null ? status : ("completed" as const),
    /** Of every role in a run that is due or under way; null without one. */
    progress: isRunning ? progressOf(calls ?? []) : null,
    rerun: runs !== null && isRunning ? { cause, status } : null,
    namedJob:
      bound !== null
        ? { ...bound, isBound: true }
        : namedId === null
          ? null
          : { ...escrow, jobId: namedId, isBound: false },
    runs: (runs ?? []).map((run) => ({ ...run, createdAt: new Date(run.createdAt) })),
    // Only storeDecision writes the column, and with this type.
    result: (result ?? null) as VerdictResult | null,
    settlement: bound === null ? null : await readSettlementView(underDeadline(db), id),
  };
}

function progressOf(calls: readonly RoleProgress[]): readonly RoleProgress[] {
  return ROLE_NAMES.map((role) => calls.find((call) => call.role === role) ?? { role, status: "waiting" });
}

/** A verdict as its owner's list shows it. */
export type OwnedVerdict = Pick<
  typeof verdict.$inferSelect,
  "id" | "status" | "finalVerdict" | "createdAt" | "jobId" | "providerAddr"
>;

/** The newest verdicts of an owner (see `ownerText`), whose price is settled. */
export async function readOwnVerdicts(
  db: Database,
  owner: string,
  limit: number,
): Promise<readonly OwnedVerdict[]> {
  const { id, status, finalVerdict, createdAt, jobId, providerAddr } = verdict;
  return underDeadline(db)
    .select({ id, status, finalVerdict, createdAt, jobId, providerAddr })
    .from(verdict)
    .where(and(eq(verdict.owner, owner), ne(verdict.status, "unsettled")))
    .orderBy(desc(verdict.createdAt))
    .limit(limit);
}

/** Reads the evidence of a verdict's decision, the newest if `run` is null: its number and the hashed bytes, null once erased; null without one. */
export async function readStoredEvidence(db: Database, id: string, run: number | null) {
  const [row] = await underDeadline(db)
    .select({
      run: verdictRun.run,
      body: sql<string | null>`nullif(${verdictRun.evidence}, '')`,
      hash: verdictRun.evidenceHash,
    })
    .from(verdict)
    .innerJoin(
      verdictRun,
      and(eq(verdictRun.verdictId, verdict.id), eq(verdictRun.run, run === null ? verdict.runs : run)),
    )
    .where(and(eq(verdict.id, id), ne(verdict.status, "unsettled")));
  return row ?? null;
}

/** Reads the texts of an existing verdict, null after their retention time; the evidence has the oldest first. */
export async function readStoredTexts(db: Database, id: string) {
  const [row] = await underDeadline(db)
    .select({
      specId: jobSpec.id,
      specText: jobSpec.specText,
      acceptanceCriteria: jobSpec.acceptanceCriteria,
      outputText: outputText.text,
      evidence: sql<readonly { id: string; text: string | null; createdAt: string }[]>`coalesce((
        select json_agg(json_build_object('id', e.id, 'text', e.text, 'createdAt', e.created_at) order by e.created_at, e.id)
        from ahs.held_evidence e where e.verdict_id = ${verdict.id}), '[]'::json)`,
    })
    .from(verdict)
    .innerJoin(jobSpec, eq(jobSpec.id, verdict.specId))
    .leftJoin(outputText, eq(outputText.verdictId, verdict.id))
    .where(eq(verdict.id, id));
  if (row === undefined) throw new Error(`no verdict ${id} to read the texts of`);
  return {
    ...openSpecTexts(db.texts, row.specId, row),
    outputText: openOrNull(db.texts, row.outputText, placeOf("output_text.text", id)),
    evidence: row.evidence.map(({ id: evidenceId, text, createdAt }) => ({
      text: openOrNull(db.texts, text, placeOf("held_evidence.text", evidenceId)),
      createdAt: new Date(createdAt),
    })),
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
export type SettlementView = JobName & {
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
  const ofNewest = <Table extends typeof settlement | typeof settlementCheck>(table: Table) =>
    and(eq(table.verdictId, verdict.id), eq(table.run, verdict.runs));
  const [row] = await db
    .select({
      ...JOB_COLUMNS,
      finalVerdict: verdict.finalVerdict,
      signed: settlement,
      // Only noteCheck and queueDecision write the column, and with this type.
      check: sql<WaitStatus | null>`${settlementCheck.status}`,
      checkReason: settlementCheck.reason,
      reviewBy: holdClock.reviewBy,
      expiredOnHoldAt: holdClock.expiredOnHoldAt,
    })
    .from(verdict)
    .leftJoin(settlement, ofNewest(settlement))
    .leftJoin(settlementCheck, ofNewest(settlementCheck))
    .leftJoin(holdClock, eq(holdClock.verdictId, verdict.id))
    .where(and(eq(verdict.id, verdictId), isNotNull(verdict.jobChainId)));
  const job = row === undefined ? null : jobOf(row);
  if (row === undefined || job === null) return null;
  const { signed, check, checkReason } = row;
  const isHold = row.finalVerdict === "HOLD";
  // An expired signature is checked again, like an unsigned decision.
  const isChecked = signed === null || signed.state === "expired";
  const error = signed?.error ?? null;
  return {
    ...job,
    status:
      isHold && row.expiredOnHoldAt !== null ? "expired_on_hold" : statusOf(signed?.state, check, isHold),
    txHash: signed?.transactionHash ?? null,
    reviewBy: isHold ? row.reviewBy : null,
    reason: isChecked ? (checkReason ?? error) : error,
    signed,
  };
}

function statusOf(
  state: SettlementState | undefined,
  check: WaitStatus | null,
  isHold: boolean,
): SettlementStatus {
  switch (state) {
    case undefined:
      return check ?? "waiting";
    case "expired":
      return check === null || check === "waiting" ? "expired" : check;
    case "confirmed":
      return isHold ? "held" : "settled";
    case "signed":
    case "refused":
      return state;
  }
}
