import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address, Hex } from "viem";
import type { Database } from "../../db/database.ts";
import { heldEvidence, type RunCause, type VerdictStatus } from "../../db/tables/verdict.ts";
import { hashText } from "../panel/hashes.ts";
import { askRerun } from "./rerun-verdict.ts";
import { wakeWorkers } from "./verdict-queue.ts";

/** An evidence text for a verdict on HOLD. */
export type EvidenceOffer = {
  readonly verdictId: string;
  /** Its sender: key:ID or wallet:ADDRESS, in lower case. */
  readonly owner: string;
  readonly text: string;
  /** True if this owner sends no further text. */
  readonly isFinal: boolean;
};

/** kept: the text is stored, and the re-run is due at rerunAt. Every other outcome changed nothing. */
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
  /** Another re-run is due or running; its decision comes first. */
  | { readonly kind: "busy" }
  | { readonly kind: "used-up" }
  /** The remaining places are reserved for the job's client and provider. */
  | { readonly kind: "reserved" }
  | { readonly kind: "texts-dropped" };

type EvidenceDeps = {
  readonly db: Database;
  readonly now: () => Date;
  readonly randomUuid: () => string;
};

/**
 * Stores a text for a verdict on HOLD and schedules one re-run: at once when no more texts are expected, else at the end of the collecting
 * time. A text sent twice counts once.
 */
export function acceptEvidence(
  { db, now, randomUuid }: EvidenceDeps,
  { verdictId, owner, text, isFinal }: EvidenceOffer,
): Promise<EvidenceOutcome> {
  const textHash = hashText(text);
  return db.transaction(async (tx) => {
    const at = now();
    const state = await takeForEvidence(tx, verdictId);
    if (state === null) return { kind: "unknown" };
    const refusal = refusalOf(state, { owner, textHash, now: at });
    if (refusal !== null) return refusal;
    const evidence = { id: randomUuid(), verdictId, submittedBy: owner, text, textHash, createdAt: at };
    await insertEvidence(tx, evidence);
    if (isFinal) await noteFinal(tx, evidence);
    const turns = withText(state, { owner, textHash, isFinal });
    const count = turns.texts.length;
    const isComplete = isAllIn(turns, isFinal);
    if (isCollecting(state, at)) {
      if (isComplete) await hastenRun(tx, verdictId, at);
      return { kind: "kept", textHash, count, rerunAt: isComplete ? at : state.notBefore };
    }
    const rerunAt = isComplete ? at : collectedBy(state, at);
    const asked = await askRerun(tx, { verdictId, cause: "evidence", at: rerunAt });
    if (asked !== "asked") throw new Error(`verdict ${verdictId} took evidence and no re-run: ${asked}`);
    return { kind: "kept", textHash, count, rerunAt };
  });
}

/** Returns why a text is refused; null if it is accepted. */
function refusalOf(
  state: EvidenceState,
  offer: { readonly owner: string; readonly textHash: Hex; readonly now: Date },
): EvidenceOutcome | null {
  if (!mayOffer(state, offer.owner)) return { kind: "stranger" };
  const { finalVerdict, status, decidedBy, texts, isReplaced } = state;
  if (finalVerdict === null) return { kind: "not-held", status };
  if (finalVerdict !== "HOLD" || decidedBy.includes("review"))
    return { kind: "not-held", status: finalVerdict };
  if (decidedBy.includes("evidence") || isReplaced) return { kind: "used-up" };
  if (!state.hasTexts) return { kind: "texts-dropped" };
  if (status !== "completed" && state.cause !== "evidence") return { kind: "busy" };
  if (status !== "completed" && !isCollecting(state, offer.now)) return { kind: "used-up" };
  if (texts.some(({ textHash }) => textHash === offer.textHash)) return null;
  if (texts.length >= MAX_TEXTS) return { kind: "used-up" };
  return hasPlace(state, offer.owner) ? null : { kind: "reserved" };
}

function mayOffer({ owner, clientAddr, providerAddr }: EvidenceState, by: string): boolean {
  return [owner, `wallet:${clientAddr}`, `wallet:${providerAddr}`].includes(by);
}

/** True before the run may start: a started run must know all texts. */
function isCollecting({ cause, status, notBefore, isTried }: EvidenceState, now: Date): boolean {
  return cause === "evidence" && status === "pending" && notBefore > now && !isTried;
}

/** Facts that decide whose turn it is. */
export type Turns = Pick<EvidenceState, "isBound" | "clientAddr" | "providerAddr" | "texts">;

/** Evidence texts per verdict. */
export const MAX_TEXTS = 3;
/** Collecting time after the first text, unless a job expires earlier. */
export const COLLECTING_MS = 10 * 60_000;

/**
 * True if an owner may add a text. For a job's verdict one of the three places is reserved for each side of the job until it has used it.
 * Only its wallet identifies a side, so a key always takes the third place.
 */
export function hasPlace(turns: Turns, owner: string): boolean {
  const unheard = sidesOf(turns).filter((side) => side !== owner && !hasSpoken(turns, side));
  return turns.texts.length + unheard.length < MAX_TEXTS;
}

/**
 * True if no more texts are expected: three exist, or the newest was final. For a job's verdict both sides must have sent a final text,
 * since `final` ends only the sender's own turn.
 */
export function isAllIn(turns: Turns, isFinal: boolean): boolean {
  const { texts, isBound } = turns;
  if (texts.length >= MAX_TEXTS) return true;
  if (!isBound) return isFinal;
  return sidesOf(turns).every((side) => texts.some(({ finalBy }) => finalBy.includes(side)));
}

/**
 * End of the collecting time: ten minutes after the first text. For a held job at most half the time to its review, or to its expiry after
 * that, so that there is time to act on the decision.
 */
export function collectedBy({ clock }: Pick<EvidenceState, "clock">, now: Date): Date {
  const end = clock === null ? null : clock.reviewBy > now ? clock.reviewBy : clock.expiresAt;
  const half = end === null ? COLLECTING_MS : (end.getTime() - now.getTime()) / 2;
  return new Date(now.getTime() + Math.max(0, Math.min(COLLECTING_MS, Math.floor(half))));
}

/** Adds a text to the turns. A text that exists stays its first sender's. */
export function withText<State extends Turns>(
  state: State,
  { owner, textHash, isFinal }: { readonly owner: string; readonly textHash: Hex; readonly isFinal: boolean },
): State {
  const isThere = state.texts.some((text) => text.textHash === textHash);
  const texts: readonly HandedIn[] = isThere
    ? state.texts
    : [...state.texts, { textHash, submittedBy: owner, finalBy: [] }];
  return {
    ...state,
    texts: texts.map((text) =>
      isFinal && text.textHash === textHash ? { ...text, finalBy: [...text.finalBy, owner] } : text,
    ),
  };
}

/** Owners of the two sides of a job, which may be one account; empty without a job. */
function sidesOf({ isBound, clientAddr, providerAddr }: Turns): readonly string[] {
  return isBound ? [walletOf(clientAddr), walletOf(providerAddr)] : [];
}

function hasSpoken({ texts }: Turns, side: string): boolean {
  return texts.some(({ submittedBy }) => submittedBy === side);
}

function walletOf(address: Address): string {
  return `wallet:${address}`;
}

/** A stored evidence text. */
type HandedIn = {
  /** keccak256 of its UTF-8 bytes. */
  readonly textHash: Hex;
  /** key:ID or wallet:ADDRESS. */
  readonly submittedBy: string;
  /** Owners who marked it as their last text. */
  readonly finalBy: readonly string[];
};

/** Facts that decide if a verdict accepts evidence; addresses in lower case. */
type EvidenceState = {
  readonly status: VerdictStatus;
  readonly finalVerdict: "ALLOW" | "HOLD" | "REJECT" | null;
  /** key:ID or wallet:ADDRESS. */
  readonly owner: string;
  readonly clientAddr: Address;
  readonly providerAddr: Address;
  /** Cause of the due or running run, otherwise of the last one. */
  readonly cause: RunCause;
  /** Time when that run is due. */
  readonly notBefore: Date;
  /** True if that run was tried before: it has read the texts of that time. */
  readonly isTried: boolean;
  /** Causes of all decisions so far. */
  readonly decidedBy: readonly RunCause[];
  readonly texts: readonly HandedIn[];
  /** True if it decides about a job. */
  readonly isBound: boolean;
  /** Review deadline and expiry of its job; null without a running clock. */
  readonly clock: { readonly reviewBy: Date; readonly expiresAt: Date } | null;
  readonly isReplaced: boolean;
  /** True if the texts for a run are still stored. */
  readonly hasTexts: boolean;
};

type StandingRow = {
  readonly status: VerdictStatus;
  readonly final_verdict: EvidenceState["finalVerdict"];
  readonly owner: string;
  readonly client_addr: Address;
  readonly provider_addr: Address;
  readonly cause: RunCause;
  readonly due_at: string;
  readonly is_tried: boolean;
  readonly decided_by: readonly RunCause[];
  readonly texts: EvidenceState["texts"];
  readonly is_bound: boolean;
  readonly review_by: string | null;
  readonly expires_at: string | null;
  readonly is_replaced: boolean;
  readonly has_texts: boolean;
};

/** Locks a verdict until the database transaction ends and reads its facts; null without one. */
async function takeForEvidence(tx: NodePgDatabase, verdictId: string): Promise<EvidenceState | null> {
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

function clockOf({ review_by, expires_at }: StandingRow): EvidenceState["clock"] {
  if (review_by === null || expires_at === null) return null;
  return { reviewBy: new Date(review_by), expiresAt: new Date(expires_at) };
}

/** A new evidence text after a HOLD. */
type NewEvidence = {
  readonly id: string;
  readonly verdictId: string;
  /** key:ID or wallet:ADDRESS. */
  readonly submittedBy: string;
  readonly text: string;
  readonly textHash: Hex;
  readonly createdAt: Date;
};

/** Stores a text; an existing one stays as it is. */
export async function insertEvidence(tx: NodePgDatabase, evidence: NewEvidence): Promise<void> {
  await tx.insert(heldEvidence).values(evidence).onConflictDoNothing();
}

/** Marks a stored text as its sender's last one. */
export async function noteFinal(
  tx: NodePgDatabase,
  of: Pick<NewEvidence, "verdictId" | "submittedBy" | "textHash">,
): Promise<void> {
  await tx.execute(sql`
    update ahs.held_evidence set final_by = array_append(array_remove(final_by, ${of.submittedBy}), ${of.submittedBy})
    where verdict_id = ${of.verdictId} and text_hash = ${of.textHash}`);
}

/** Makes a scheduled run due now, in the database transaction that locks the verdict. */
async function hastenRun(tx: NodePgDatabase, verdictId: string, now: Date): Promise<void> {
  await tx.execute(sql`
    update ahs.verdict set not_before = ${now}, updated_at = ${now}
    where id = ${verdictId} and status = 'pending'`);
  await wakeWorkers(tx);
}
