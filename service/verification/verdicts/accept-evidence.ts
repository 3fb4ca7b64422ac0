import { and, eq, ne, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Hex } from "viem";
import type { Database } from "../../db/database.ts";
import { holdClock } from "../../db/tables/settlement.ts";
import { heldEvidence, jobSpec, type RunCause, verdict } from "../../db/tables/verdict.ts";
import { hashText } from "../panel/hashes.ts";
import { lockVerdict } from "./lock-verdict.ts";
import { askRerun } from "./rerun-verdict.ts";
import { placeOf } from "./sealed-texts.ts";
import { wakeWorkers } from "./verdict-queue.ts";

/** An evidence text for a verdict on HOLD. `owner` is its sender, key:ID or wallet:ADDRESS, who sends no further text if it is final. */
export type EvidenceOffer = {
  readonly verdictId: string;
  readonly owner: string;
  readonly text: string;
  readonly isFinal: boolean;
};

/** kept: the text is stored, and the re-run is due at rerunAt. Every other outcome changed nothing. */
export type EvidenceOutcome =
  | { readonly kind: "kept"; readonly textHash: Hex; readonly count: number; readonly rerunAt: Date }
  | { readonly kind: "unknown" }
  | { readonly kind: "stranger" }
  | { readonly kind: "not-held"; readonly status: string }
  /** Another re-run is due or running; its decision comes first. */
  | { readonly kind: "busy" }
  | { readonly kind: "used-up" }
  /** The remaining places are reserved for the job's client and provider. */
  | { readonly kind: "reserved" }
  | { readonly kind: "texts-dropped" };

/**
 * Stores a text for a verdict on HOLD and schedules one re-run: at once when no more texts are expected, else at the end of the collecting
 * time. A text sent twice counts once.
 */
export function acceptEvidence(
  { db, now, randomUuid }: { db: Database; now: () => Date; randomUuid: () => string },
  { verdictId, owner, text, isFinal }: EvidenceOffer,
): Promise<EvidenceOutcome> {
  const textHash = hashText(text);
  return db.transaction(async (tx) => {
    const at = now();
    const state = await takeForEvidence(tx, verdictId);
    if (state === null) return { kind: "unknown" };
    const refusal = refusalOf(state, { owner, textHash, now: at });
    if (refusal !== null) return refusal;
    const id = randomUuid();
    const sealed = db.texts.seal(text, placeOf("held_evidence.text", id));
    const evidence = { id, verdictId, submittedBy: owner, text: sealed, textHash, createdAt: at };
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
  offer: { owner: string; textHash: Hex; now: Date },
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
  const { texts } = turns;
  const hasSpoken = (side: string) => texts.some(({ submittedBy }) => submittedBy === side);
  const unheard = sidesOf(turns).filter((side) => side !== owner && !hasSpoken(side));
  return texts.length + unheard.length < MAX_TEXTS;
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
  { owner, textHash, isFinal }: Pick<EvidenceOffer, "owner" | "isFinal"> & { textHash: Hex },
): State {
  const isThere = state.texts.some((text) => text.textHash === textHash);
  const texts: Turns["texts"] = isThere
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
  return isBound ? [`wallet:${clientAddr}`, `wallet:${providerAddr}`] : [];
}

/** Facts that decide if a verdict accepts evidence. */
type EvidenceState = NonNullable<Awaited<ReturnType<typeof takeForEvidence>>>;

/**
 * Locks a verdict until the database transaction ends and reads its facts; null without one. `cause` and `notBefore` are of the due or
 * running run; a tried run has read the texts of that time. `clock` is null without a running clock.
 */
async function takeForEvidence(tx: NodePgDatabase, verdictId: string) {
  await lockVerdict(tx, verdictId);
  const [state] = await tx
    .select({
      status: verdict.status,
      finalVerdict: verdict.finalVerdict,
      owner: verdict.owner,
      clientAddr: jobSpec.clientAddr,
      providerAddr: verdict.providerAddr,
      cause: verdict.cause,
      notBefore: verdict.notBefore,
      isTried: sql<boolean>`${verdict.triedAt} is not null`,
      isReplaced: sql<boolean>`${verdict.replacedAt} is not null`,
      isBound: sql<boolean>`${verdict.jobId} is not null`,
      hasTexts: sql<boolean>`${jobSpec.specText} is not null
        and exists (select from ahs.output_text o where o.verdict_id = ${verdict.id})`,
      decidedBy: sql<readonly RunCause[]>`array(
        select r.cause from ahs.verdict_run r where r.verdict_id = ${verdict.id})`,
      texts: sql<readonly { textHash: Hex; submittedBy: string; finalBy: readonly string[] }[]>`coalesce((
        select json_agg(json_build_object('textHash', e.text_hash, 'submittedBy', e.submitted_by, 'finalBy', e.final_by)
          order by e.created_at, e.id)
        from ahs.held_evidence e where e.verdict_id = ${verdict.id}), '[]'::json)`,
      clock: { reviewBy: holdClock.reviewBy, expiresAt: holdClock.expiresAt },
    })
    .from(verdict)
    .innerJoin(jobSpec, eq(jobSpec.id, verdict.specId))
    .leftJoin(holdClock, eq(holdClock.verdictId, verdict.id))
    .where(and(eq(verdict.id, verdictId), ne(verdict.status, "unsettled")));
  return state ?? null;
}

/** Stores an encrypted text; an existing one stays as it is. */
export async function insertEvidence(
  tx: NodePgDatabase,
  evidence: typeof heldEvidence.$inferInsert,
): Promise<void> {
  await tx.insert(heldEvidence).values(evidence).onConflictDoNothing();
}

/** Marks a stored text as its sender's last one. */
export async function noteFinal(
  tx: NodePgDatabase,
  {
    verdictId,
    submittedBy,
    textHash,
  }: Pick<typeof heldEvidence.$inferInsert, "verdictId" | "submittedBy" | "textHash">,
): Promise<void> {
  const others = sql`array_remove(${heldEvidence.finalBy}, ${submittedBy})`;
  await tx
    .update(heldEvidence)
    .set({ finalBy: sql`array_append(${others}, ${submittedBy})` })
    .where(and(eq(heldEvidence.verdictId, verdictId), eq(heldEvidence.textHash, textHash)));
}

/** Makes a scheduled run due now, in the database transaction that locks the verdict. */
async function hastenRun(tx: NodePgDatabase, verdictId: string, now: Date): Promise<void> {
  await tx
    .update(verdict)
    .set({ notBefore: now, updatedAt: now })
    .where(and(eq(verdict.id, verdictId), eq(verdict.status, "pending")));
  await wakeWorkers(tx);
}
