import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { retakeDebit } from "../../access/key-debits.ts";
import type { Database } from "../../db/database.ts";
import type { RunCause, VerdictStatus } from "../../db/tables/verdict.ts";
import { MAX_RETRIES } from "./settle-intake.ts";
import { wakeWorkers } from "./verdict-queue.ts";

export type RetryRequest = {
  readonly verdictId: string;
  /** Who asks: key:ID or wallet:ADDRESS. */
  readonly owner: string;
  readonly now: Date;
};

/** What became of a wish to have a failed verdict run again. */
export type RetryOutcome =
  | { readonly kind: "queued" }
  | { readonly kind: "unknown" }
  | { readonly kind: "not-the-submitter" }
  | { readonly kind: "not-failed"; readonly status: VerdictStatus }
  | { readonly kind: "used-up" }
  | { readonly kind: "texts-dropped" }
  /** The key cannot pay the price that was returned to it. */
  | { readonly kind: "short"; readonly units: number; readonly balanceUnits: number };

/**
 * Queues a failed verdict again, three times at most, for its submitter: a key pays the price again that was returned to it, in the
 * same transaction, and a payment stays what paid for it. Where nothing was returned, client and provider of its job may ask as well.
 */
export function retryVerdict(db: Database, { verdictId, owner, now }: RetryRequest): Promise<RetryOutcome> {
  return db.transaction(async (tx) => {
    const standing = await takeForRetry(tx, verdictId);
    if (standing === null) return { kind: "unknown" };
    const refusal = refusalOf(standing, owner);
    if (refusal !== null) return refusal;
    const { debitId, units } = standing;
    const balanceUnits = debitId === null ? null : await retakeDebit(tx, debitId);
    if (balanceUnits !== null) return { kind: "short", units, balanceUnits };
    await queueRetry(tx, verdictId, now);
    await wakeWorkers(tx);
    return { kind: "queued" };
  });
}

/** Why a verdict is not retried; null where it is. */
export function refusalOf(standing: RetryStanding, owner: string): RetryOutcome | null {
  if (!mayRetry(standing, owner)) return { kind: "not-the-submitter" };
  // A re-run of a decided verdict shows as completed: it never fails.
  const status = standing.runs > 0 ? "completed" : standing.status;
  if (status !== "failed") return { kind: "not-failed", status };
  if (standing.isReplaced || standing.retries >= MAX_RETRIES) return { kind: "used-up" };
  return standing.hasTexts ? null : { kind: "texts-dropped" };
}

/** Nobody has a key charged that is not theirs. */
function mayRetry({ owner, parties, debitId }: RetryStanding, by: string): boolean {
  return owner === by || (debitId === null && parties.some((party) => `wallet:${party}` === by));
}

/** What decides whether a verdict may be retried. */
export type RetryStanding = {
  /** key:ID or wallet:ADDRESS. */
  readonly owner: string;
  /** Client and provider of the job that it is of, in lower case; empty where it is of none. */
  readonly parties: readonly string[];
  readonly status: VerdictStatus;
  readonly runs: number;
  readonly retries: number;
  readonly units: number;
  readonly debitId: string | null;
  /** Another verdict has taken its slot. */
  readonly isReplaced: boolean;
  /** Its text is still kept, and so is its specification's. */
  readonly hasTexts: boolean;
};

type StandingRow = {
  readonly owner: string;
  readonly parties: readonly string[];
  readonly status: VerdictStatus;
  readonly runs: number;
  readonly retries: number;
  readonly units: number;
  readonly debit_id: string | null;
  readonly replaced: boolean;
  readonly has_texts: boolean;
};

/** A verdict that stays as it is until the transaction ends; null where there is none that anybody may see. */
export async function takeForRetry(tx: NodePgDatabase, verdictId: string): Promise<RetryStanding | null> {
  const { rows } = await tx.execute<StandingRow>(sql`
    select v.owner, v.status, v.runs, v.retries, v.units, v.debit_id, v.replaced_at is not null as replaced,
      case when v.job_id is null then '{}'::text[]
        else array[v.provider_addr, (select s.client_addr from ahs.job_spec s where s.id = v.spec_id)] end as parties,
      exists (select from ahs.output_text o where o.verdict_id = v.id)
        and exists (select from ahs.job_spec s where s.id = v.spec_id and s.spec_text is not null) as has_texts
    from ahs.verdict v where v.id = ${verdictId} and v.status <> 'unsettled' for update of v`);
  const [row] = rows;
  if (row === undefined) return null;
  const { debit_id: debitId, replaced: isReplaced, has_texts: hasTexts, ...standing } = row;
  return { ...standing, debitId, isReplaced, hasTexts };
}

/** Queues a failed verdict again, as a retry. */
export async function queueRetry(tx: NodePgDatabase, verdictId: string, at: Date): Promise<void> {
  await tx.execute(sql`
    update ahs.verdict set status = 'pending', cause = 'retried', retries = retries + 1, attempts = 0, tried_at = null,
      not_before = ${at}, lease_until = null, error_message = null, updated_at = ${at}
    where id = ${verdictId}`);
}

/** What a held verdict is run again for, once for each. */
export type RerunCause = Extract<RunCause, "evidence" | "near_expiry">;

/**
 * asked: it is due at its moment. busy: a re-run of either cause is due or under way; ask again once it is over. used_up: this cause had its
 * decision. not_held: the newest decision is not HOLD, or there is none, or a reviewer made it.
 */
type RerunOutcome = "asked" | "busy" | "used_up" | "not_held";

type RerunRow = { readonly status: string; readonly final_verdict: string | null; readonly causes: string[] };

/**
 * Has a held verdict run again, for each cause until that has led to a decision: two re-runs at most. A re-run that failed is not
 * counted. Its earlier decision stands until the new one is stored.
 */
export async function askRerun(
  tx: NodePgDatabase,
  of: {
    readonly verdictId: string;
    readonly cause: RerunCause;
    /** When it is due. */
    readonly at: Date;
  },
): Promise<RerunOutcome> {
  const { verdictId, cause, at } = of;
  await tx.execute(sql`select 1 from ahs.verdict where id = ${verdictId} for update`);
  const { rows } = await tx.execute<RerunRow>(sql`
    select v.status, v.final_verdict,
           array(select r.cause from ahs.verdict_run r where r.verdict_id = v.id) as causes
    from ahs.verdict v where v.id = ${verdictId}`);
  const outcome = outcomeOf(rows[0], cause);
  if (outcome !== "asked") return outcome;
  await tx.execute(sql`
    update ahs.verdict set status = 'pending', cause = ${cause}, tried_at = null, not_before = ${at},
      error_message = null
    where id = ${verdictId}`);
  await wakeWorkers(tx);
  return "asked";
}

function outcomeOf(verdict: RerunRow | undefined, cause: RerunCause): RerunOutcome {
  if (verdict === undefined || verdict.final_verdict !== "HOLD" || verdict.causes.includes("review"))
    return "not_held";
  if (verdict.causes.includes(cause)) return "used_up";
  return verdict.status === "completed" ? "asked" : "busy";
}
