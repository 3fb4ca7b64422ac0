import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address, Hex } from "viem";
import type { Database } from "../../db/database.ts";
import { heldEvidence, type RunCause, type VerdictStatus } from "../../db/tables/verdict.ts";
import { hashText } from "../panel/hashes.ts";
import { askRerun } from "./rerun-verdict.ts";
import { wakeWorkers } from "./verdict-queue.ts";

/** A text that somebody hands in for a verdict on HOLD. */
export type EvidenceOffer = {
  readonly verdictId: string;
  /** Who offers it: key:ID or wallet:ADDRESS, lower-case. */
  readonly owner: string;
  readonly text: string;
  /** Whether the re-run need not wait for more of this owner's. */
  readonly isFinal: boolean;
};

/** kept: the re-run is due at rerunAt. Everything else changed nothing. */
export type EvidenceOutcome =
  | {
      readonly kind: "kept";
      readonly textHash: Hex;
      readonly count: number;
      readonly rerunAt: Date;
    }
  | { readonly kind: "unknown" }
  | { readonly kind: "stranger" }
  | { readonly kind: "not-held"; readonly status: string }
  /** Another re-run is due or under way: its decision is waited for. */
  | { readonly kind: "busy" }
  | { readonly kind: "used-up" }
  /** What is left of a job's verdict is for its client or its provider, who have not used it. */
  | { readonly kind: "reserved" }
  | { readonly kind: "texts-dropped" };

type EvidenceDeps = {
  readonly db: Database;
  readonly now: () => Date;
  readonly randomUuid: () => string;
};

/**
 * Keeps a text for a verdict on HOLD and has it run again, once: when no more texts are waited for, or when their collecting is
 * over. A text that is there already counts once.
 */
export function acceptEvidence(
  { db, now, randomUuid }: EvidenceDeps,
  { verdictId, owner, text, isFinal }: EvidenceOffer,
): Promise<EvidenceOutcome> {
  const textHash = hashText(text);
  return db.transaction(async (tx) => {
    const at = now();
    const standing = await takeForEvidence(tx, verdictId);
    if (standing === null) return { kind: "unknown" };
    const refusal = refusalOf(standing, { owner, textHash, now: at });
    if (refusal !== null) return refusal;
    const evidence = { id: randomUuid(), verdictId, submittedBy: owner, text, textHash, createdAt: at };
    await insertEvidence(tx, evidence);
    if (isFinal) await noteFinal(tx, evidence);
    const turns = withText(standing, { owner, textHash, isFinal });
    const count = turns.texts.length;
    const isComplete = isAllIn(turns, isFinal);
    if (isCollecting(standing, at)) {
      if (isComplete) await hastenRun(tx, verdictId, at);
      return { kind: "kept", textHash, count, rerunAt: isComplete ? at : standing.notBefore };
    }
    const rerunAt = isComplete ? at : collectedBy(standing, at);
    const asked = await askRerun(tx, { verdictId, cause: "evidence", at: rerunAt });
    if (asked !== "asked") throw new Error(`verdict ${verdictId} took evidence and no re-run: ${asked}`);
    return { kind: "kept", textHash, count, rerunAt };
  });
}

/** Why a text is not taken; null where it is. */
function refusalOf(
  standing: EvidenceStanding,
  offer: { readonly owner: string; readonly textHash: Hex; readonly now: Date },
): EvidenceOutcome | null {
  if (!mayOffer(standing, offer.owner)) return { kind: "stranger" };
  const { finalVerdict, status, decidedBy, texts, isReplaced } = standing;
  if (finalVerdict === null) return { kind: "not-held", status };
  if (finalVerdict !== "HOLD" || decidedBy.includes("review"))
    return { kind: "not-held", status: finalVerdict };
  if (decidedBy.includes("evidence") || isReplaced) return { kind: "used-up" };
  if (!standing.hasTexts) return { kind: "texts-dropped" };
  if (status !== "completed" && standing.cause !== "evidence") return { kind: "busy" };
  if (status !== "completed" && !isCollecting(standing, offer.now)) return { kind: "used-up" };
  if (texts.some(({ textHash }) => textHash === offer.textHash)) return null;
  if (texts.length >= MAX_TEXTS) return { kind: "used-up" };
  return hasPlace(standing, offer.owner) ? null : { kind: "reserved" };
}

function mayOffer({ owner, clientAddr, providerAddr }: EvidenceStanding, by: string): boolean {
  return [owner, `wallet:${clientAddr}`, `wallet:${providerAddr}`].includes(by);
}

/** Once its run may begin, that has to know all texts. */
function isCollecting({ cause, status, notBefore, isTried }: EvidenceStanding, now: Date): boolean {
  return cause === "evidence" && status === "pending" && notBefore > now && !isTried;
}

/** What decides whose turn it is. */
export type Turns = Pick<EvidenceStanding, "isBound" | "clientAddr" | "providerAddr" | "texts">;

/** Texts that a verdict takes. */
export const MAX_TEXTS = 3;
/** How long after the first text others are waited for, where no job runs out. */
export const COLLECTING_MS = 10 * 60_000;

/**
 * Whether somebody may add a text. Of the three of a job's verdict one stays for each of the job's two sides until it has used it:
 * a side is shown by its wallet alone, so a key takes the third, whomever it says that it submits for.
 */
export function hasPlace(turns: Turns, owner: string): boolean {
  const unheard = sidesOf(turns).filter((side) => side !== owner && !hasSpoken(turns, side));
  return turns.texts.length + unheard.length < MAX_TEXTS;
}

/**
 * Whether no more texts are waited for: three are in, or the newest was said to be the last; of a job's verdict, both sides of the
 * job have said so, since what one says ends its own turn alone.
 */
export function isAllIn(turns: Turns, isFinal: boolean): boolean {
  const { texts, isBound } = turns;
  if (texts.length >= MAX_TEXTS) return true;
  if (!isBound) return isFinal;
  return sidesOf(turns).every((side) => texts.some(({ finalBy }) => finalBy.includes(side)));
}

/**
 * When the collecting that the first text begins is over: after ten minutes; for a held job no later than halfway to its review,
 * or to its expiry once the review is due, so that the decision leaves time to act on it.
 */
export function collectedBy({ clock }: Pick<EvidenceStanding, "clock">, now: Date): Date {
  const end = clock === null ? null : clock.reviewBy > now ? clock.reviewBy : clock.expiresAt;
  const half = end === null ? COLLECTING_MS : (end.getTime() - now.getTime()) / 2;
  return new Date(now.getTime() + Math.max(0, Math.min(COLLECTING_MS, Math.floor(half))));
}

/** The turns once somebody has handed a text in; one that is there already stays its first sender's. */
export function withText<Standing extends Turns>(
  standing: Standing,
  { owner, textHash, isFinal }: { readonly owner: string; readonly textHash: Hex; readonly isFinal: boolean },
): Standing {
  const isThere = standing.texts.some((text) => text.textHash === textHash);
  const texts: readonly HandedIn[] = isThere
    ? standing.texts
    : [...standing.texts, { textHash, submittedBy: owner, finalBy: [] }];
  return {
    ...standing,
    texts: texts.map((text) =>
      isFinal && text.textHash === textHash ? { ...text, finalBy: [...text.finalBy, owner] } : text,
    ),
  };
}

/** Both sides of a job as owners of texts; one account may be both. None where there is no job. */
function sidesOf({ isBound, clientAddr, providerAddr }: Turns): readonly string[] {
  return isBound ? [walletOf(clientAddr), walletOf(providerAddr)] : [];
}

function hasSpoken({ texts }: Turns, side: string): boolean {
  return texts.some(({ submittedBy }) => submittedBy === side);
}

function walletOf(address: Address): string {
  return `wallet:${address}`;
}

/** A text that was handed in. */
type HandedIn = {
  /** keccak256 of its UTF-8 bytes. */
  readonly textHash: Hex;
  /** key:ID or wallet:ADDRESS. */
  readonly submittedBy: string;
  /** Who said with it that they hand in no more. */
  readonly finalBy: readonly string[];
};

/** What decides whether a verdict takes evidence; addresses in lower case. */
type EvidenceStanding = {
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

type StandingRow = {
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
async function takeForEvidence(tx: NodePgDatabase, verdictId: string): Promise<EvidenceStanding | null> {
  await tx.execute(sql`select 1 from ahs.verdict where id = ${verdictId} for update`);
  const { rows } = await tx.execute<StandingRow>(sql`
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

function clockOf({ review_by, expires_at }: StandingRow): EvidenceStanding["clock"] {
  if (review_by === null || expires_at === null) return null;
  return { reviewBy: new Date(review_by), expiresAt: new Date(expires_at) };
}

/** A text that is handed in after a HOLD. */
type NewEvidence = {
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
async function hastenRun(tx: NodePgDatabase, verdictId: string, now: Date): Promise<void> {
  await tx.execute(sql`
    update ahs.verdict set not_before = ${now}, updated_at = ${now}
    where id = ${verdictId} and status = 'pending'`);
  await wakeWorkers(tx);
}
