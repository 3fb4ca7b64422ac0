import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address, Hex } from "viem";
import { heldEvidence, type RunCause, type VerdictStatus } from "../../db/tables/verdict.ts";
import { wakeWorkers } from "./verdict-intake.ts";

/** A text that was handed in. */
export type HandedIn = {
  /** keccak256 of its UTF-8 bytes. */
  readonly textHash: Hex;
  /** key:ID or wallet:ADDRESS. */
  readonly submittedBy: string;
  /** Who said with it that they hand in no more. */
  readonly finalBy: readonly string[];
};

/** What decides whether a verdict takes evidence; addresses in lower case. */
export type EvidenceStanding = {
  readonly status: VerdictStatus;
  readonly finalVerdict: "ALLOW" | "HOLD" | "REJECT" | null;
  /** key:ID or wallet:ADDRESS. */
  readonly owner: string;
  readonly clientAddr: Address;
  readonly providerAddr: Address;
  /** What the run that is due, or under way, is for; that of the last one where none is. */
  readonly cause: RunCause;
  /** When that run is due. */
  readonly notBefore: Date;
  /** Whether that run was tried already: it knows the texts of then. */
  readonly isTried: boolean;
  /** Causes of all decisions so far. */
  readonly decidedBy: readonly RunCause[];
  readonly texts: readonly HandedIn[];
  /** Whether it decides on a job. */
  readonly isBound: boolean;
  /** When a reviewer is asked to decide on its job at the latest, and when that runs out; null where no clock of it runs. */
  readonly clock: { readonly reviewBy: Date; readonly expiresAt: Date } | null;
  readonly isReplaced: boolean;
  /** Whether the texts that a run needs are still kept. */
  readonly hasTexts: boolean;
};

type Row = {
  readonly status: VerdictStatus;
  readonly final_verdict: EvidenceStanding["finalVerdict"];
  readonly owner: string;
  readonly client_addr: Address;
  readonly provider_addr: Address;
  readonly cause: RunCause;
  readonly due_at: string;
  readonly is_tried: boolean;
  readonly decided_by: readonly RunCause[];
  readonly texts: EvidenceStanding["texts"];
  readonly is_bound: boolean;
  readonly review_by: string | null;
  readonly expires_at: string | null;
  readonly is_replaced: boolean;
  readonly has_texts: boolean;
};

/** The standing of a verdict, whose row nobody else changes until the transaction ends; null where there is none. */
export async function takeForEvidence(
  tx: NodePgDatabase,
  verdictId: string,
): Promise<EvidenceStanding | null> {
  await tx.execute(sql`select 1 from ahs.verdict where id = ${verdictId} for update`);
  const { rows } = await tx.execute<Row>(sql`
    select v.status, v.final_verdict, v.owner, s.client_addr, v.provider_addr, v.cause,
      to_json(v.not_before) #>> '{}' as due_at, v.tried_at is not null as is_tried, v.replaced_at is not null as is_replaced,
      s.spec_text is not null and exists (select from ahs.output_text o where o.verdict_id = v.id) as has_texts,
      array(select r.cause from ahs.verdict_run r where r.verdict_id = v.id) as decided_by,
      coalesce((
        select json_agg(json_build_object('textHash', e.text_hash, 'submittedBy', e.submitted_by, 'finalBy', e.final_by)
          order by e.created_at, e.id)
        from ahs.held_evidence e where e.verdict_id = v.id), '[]'::json) as texts,
      v.job_id is not null as is_bound, to_json(h.review_by) #>> '{}' as review_by, to_json(h.expires_at) #>> '{}' as expires_at
    from ahs.verdict v join ahs.job_spec s on s.id = v.spec_id
    left join ahs.hold_clock h on h.verdict_id = v.id
    where v.id = ${verdictId} and v.status <> 'unsettled'`);
  const [row] = rows;
  if (row === undefined) return null;
  return {
    status: row.status,
    finalVerdict: row.final_verdict,
    owner: row.owner,
    clientAddr: row.client_addr,
    providerAddr: row.provider_addr,
    cause: row.cause,
    notBefore: new Date(row.due_at),
    isTried: row.is_tried,
    decidedBy: row.decided_by,
    texts: row.texts,
    isBound: row.is_bound,
    clock: clockOf(row),
    isReplaced: row.is_replaced,
    hasTexts: row.has_texts,
  };
}

function clockOf({ review_by, expires_at }: Row): EvidenceStanding["clock"] {
  if (review_by === null || expires_at === null) return null;
  return { reviewBy: new Date(review_by), expiresAt: new Date(expires_at) };
}

/** A text that is handed in after a HOLD. */
export type NewEvidence = {
  readonly id: string;
  readonly verdictId: string;
  /** key:ID or wallet:ADDRESS. */
  readonly submittedBy: string;
  readonly text: string;
  readonly textHash: Hex;
  readonly createdAt: Date;
};

/** Keeps a text; one that the verdict has already stays as it is. */
export async function insertEvidence(tx: NodePgDatabase, evidence: NewEvidence): Promise<void> {
  await tx.insert(heldEvidence).values(evidence).onConflictDoNothing();
}

/** Notes that somebody hands in no more, at a text that the verdict has. */
export async function noteFinal(
  tx: NodePgDatabase,
  of: Pick<NewEvidence, "verdictId" | "submittedBy" | "textHash">,
): Promise<void> {
  await tx.execute(sql`
    update ahs.held_evidence set final_by = array_append(array_remove(final_by, ${of.submittedBy}), ${of.submittedBy})
    where verdict_id = ${of.verdictId} and text_hash = ${of.textHash}`);
}

/** Has the run that is due later be due now, in the transaction that holds the verdict's row. */
export async function hastenRun(tx: NodePgDatabase, verdictId: string, now: Date): Promise<void> {
  await tx.execute(sql`
    update ahs.verdict set not_before = ${now}, updated_at = ${now}
    where id = ${verdictId} and status = 'pending'`);
  await wakeWorkers(tx);
}
