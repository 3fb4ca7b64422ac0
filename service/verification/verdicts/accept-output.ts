import { and, eq, gte, isNull, notExists, type SQL, sql } from "drizzle-orm";
import type { Logger } from "pino";
import type { Database } from "../../db/database.ts";
import { underDeadline } from "../../db/database.ts";
import { pauseFor } from "../../db/run-loop.ts";
import { keyDebit } from "../../db/tables/api-key.ts";
import { type VerdictStatus, verdict } from "../../db/tables/verdict.ts";
import {
  activate,
  dropIntake,
  insertIntake,
  MAX_RETRIES,
  type NewIntake,
  settleOverdue,
  takeUnsettled,
  withdrawIntake,
} from "./settle-intake.ts";

/** The purchaser (key:ID or wallet:ADDRESS) with the price, as a debit of a key or a payment. */
export type Purchaser = Pick<NewIntake, "owner" | "units" | "debitId" | "paymentId">;

/** A delivered output with its place. */
export type OutputDraft = Omit<
  NewIntake,
  keyof Purchaser | "verdictId" | "endpoint" | "at" | "leaseUntil"
> & {
  /** URL for its events, already allowed by the URL guard; null without one. */
  webhookUrl: string | null;
};

/** A verdict as the response of a submission shows it. */
export type AcceptedVerdict = {
  readonly verdictId: string;
  readonly status: Exclude<VerdictStatus, "unsettled">;
};

/** there: it was accepted before. busy: another submission of it is still being paid. */
type SlotTaken = { kind: "there"; accepted: AcceptedVerdict } | { kind: "busy" };

/** It is stored and waits for its payment. */
type Noted = { kind: "noted"; verdictId: string; webhookSecret: string | null };

type IntakeDeps = {
  db: Database;
  logger: Logger;
  now: () => Date;
  randomBytes: (size: number) => Uint8Array;
  randomUuid: () => string;
  /** Longest wait for the submission that holds the slot; 10 s by default. */
  waitMs?: number;
};

/** Longer than any request. After that, others decide about its output. */
const LEASE_MS = 120_000;
const WAIT_MS = 10_000;
const POLL_MS = 250;
/** Longest time between reserving a price and storing its output. A dead request delays others no longer than this. */
const NOTING_MS = 2_000;
const NOTE_POLL_MS = 50;
const SECRET_BYTES = 32;

/**
 * Returns the accepted verdict of a slot for its submitter (key:ID or wallet:ADDRESS); null if the slot is free, unsettled, or held by a
 * failed verdict that this submission may replace.
 */
export async function findAccepted(
  db: Database,
  { slot, owner }: { slot: string; owner: string },
): Promise<AcceptedVerdict | null> {
  const holder = await readSlot(db, slot);
  return holder === null || isReplaceable(holder, owner) ? null : acceptedOf(holder);
}

/**
 * Stores an output after its price is reserved: unsettled, with its text and endpoint, in one database transaction. A slot has one verdict:
 * an accepted one is returned instead, an unsettled one is waited for until it is accepted or gone. A debit or payment of a dead request
 * for the same output gets its own verdict back. If it was for another output, that stored output is void and dropped.
 */
export async function acceptOutput(
  deps: IntakeDeps,
  draft: OutputDraft,
  { signal, ...purchaser }: Purchaser & { signal: AbortSignal },
): Promise<Noted | SlotTaken> {
  const own = await readPurchase(deps.db, purchaser);
  if (own !== null && own.specId === draft.specId && own.outputHash === draft.outputHash)
    return { kind: "noted", verdictId: own.verdictId, webhookSecret: null };
  if (own !== null) await dropVoid(deps.db, own.verdictId);
  const place = { slot: draft.slot, owner: purchaser.owner };
  const wait = { signal, until: deps.now().getTime() + (deps.waitMs ?? WAIT_MS) };
  for (;;) {
    const taken = (await awaitSlot(deps, place, wait)) ?? (await note(deps, draft, purchaser));
    if (taken !== null) return taken;
  }
}

/**
 * Returns the accepted verdict of a slot for a key without enough balance. It waits for an unsettled one like acceptOutput, and for one
 * that the same key is paying for, which is stored shortly after its price is reserved. Null without one, or if the key's submission may
 * replace it.
 */
export async function awaitAccepted(
  deps: Pick<IntakeDeps, "db" | "now" | "waitMs">,
  { slot, keyId }: { slot: string; keyId: string },
  signal: AbortSignal,
): Promise<SlotTaken | null> {
  const place = { slot, owner: `key:${keyId}` };
  const until = deps.now().getTime() + (deps.waitMs ?? WAIT_MS);
  for (;;) {
    // Read first: an output stored after this is found by the next round.
    const mayCome = await holdsForOutput(deps.db, keyId, new Date(deps.now().getTime() - NOTING_MS));
    const taken = await awaitSlot(deps, place, { signal, until });
    if (taken !== null || !mayCome || signal.aborted || deps.now().getTime() >= until) return taken;
    await pauseFor(NOTE_POLL_MS, signal);
  }
}

/** Returns the holder of a slot after waiting for an unsettled one; null if the slot is free for that owner. */
async function awaitSlot(
  deps: Pick<IntakeDeps, "db" | "now">,
  { slot, owner }: { slot: string; owner: string },
  { signal, until }: { signal: AbortSignal; until: number },
): Promise<SlotTaken | null> {
  for (;;) {
    const holder = await readSlot(deps.db, slot);
    if (holder === null || isReplaceable(holder, owner)) return null;
    const accepted = acceptedOf(holder);
    if (accepted !== null) return { kind: "there", accepted };
    if (await settlesNow(deps, holder)) continue;
    if (signal.aborted || deps.now().getTime() >= until) return { kind: "busy" };
    await pauseFor(POLL_MS, signal);
  }
}

/** Null if another submission took the slot meanwhile. */
async function note(
  { db, now, randomBytes, randomUuid }: IntakeDeps,
  { webhookUrl, ...draft }: OutputDraft,
  purchaser: Purchaser,
): Promise<Noted | null> {
  const at = now();
  const verdictId = randomUuid();
  const secret = `whsec_${Buffer.from(randomBytes(SECRET_BYTES)).toString("base64")}`;
  const endpoint = webhookUrl === null ? null : { id: randomUuid(), url: new URL(webhookUrl).href, secret };
  const leaseUntil = new Date(at.getTime() + LEASE_MS);
  const intake = { ...draft, ...purchaser, verdictId, endpoint, at, leaseUntil };
  if (!(await insertIntake(db, intake))) return null;
  return { kind: "noted", verdictId, webhookSecret: endpoint === null ? null : secret };
}

/** True if an overdue holder has been decided now. */
async function settlesNow(
  { db, now }: Pick<IntakeDeps, "db" | "now">,
  { verdictId, leaseUntil }: SlotHolder,
): Promise<boolean> {
  if (leaseUntil === null || leaseUntil > now()) return false;
  return (await settleOverdue(db, verdictId, now())) !== "wait";
}

/**
 * Activates a stored output after its payment: queues it, captures its debit and answers its payment in one database transaction. An active
 * one stays as it is. Throws, and changes nothing, if the price was given back or the output is gone.
 */
export async function activateOutput(
  { db, now }: Pick<IntakeDeps, "db" | "now">,
  verdictId: string,
): Promise<AcceptedVerdict> {
  await db.transaction(async (tx) => {
    const found = await takeUnsettled(tx, verdictId);
    if (found !== null) await activate(tx, found, now());
  });
  const holder = await readVerdict(db, verdictId);
  const accepted = holder === null ? null : acceptedOf(holder);
  if (accepted === null) throw new Error(`verdict ${verdictId} is gone: its price was given back`);
  return accepted;
}

/** Withdraws a stored output after its price was given back. Never throws, since the sweep does it otherwise. */
export async function withdrawOutput(
  { db, now, logger }: Pick<IntakeDeps, "db" | "now" | "logger">,
  verdictId: string,
): Promise<void> {
  await withdrawIntake(db, verdictId, now()).catch((error: unknown) => {
    logger.error({ err: error, verdict: verdictId }, "unsettled output not withdrawn: left to the sweep");
  });
}

/** The reservation was released, so the price would pay for two outputs. Throws if it has bought the other one already. */
async function dropVoid(db: Database, verdictId: string): Promise<void> {
  await db.transaction((tx) => dropIntake(tx, verdictId));
  if ((await readVerdict(db, verdictId)) !== null)
    throw new Error(`verdict ${verdictId} of another output was bought by what is to pay for this one`);
}

/** Null for an unsettled one, which is not visible. */
function acceptedOf({ verdictId, status, runs }: SlotHolder): AcceptedVerdict | null {
  if (status === "unsettled") return null;
  // A re-run of a decided verdict does not change its visible status.
  return { verdictId, status: runs > 0 ? "completed" : status };
}

/**
 * True if a verdict gives its slot to a new submission by this owner (key:ID or wallet:ADDRESS): it failed after its last retry, or it is a
 * job's, failed, and another owner posts, since a job's money must not depend on who was faster. The statement of insertIntake has the same
 * condition.
 */
function isReplaceable({ status, retries, isOfJob, isReturned, owner }: SlotHolder, by: string): boolean {
  return status === "failed" && (retries >= MAX_RETRIES || isReturned || (isOfJob && owner !== by));
}

/** A verdict as the holder of its slot. */
type SlotHolder = NonNullable<Awaited<ReturnType<typeof readHolder>>>;

async function readHolder(db: Database, where: SQL | undefined) {
  const holder = {
    verdictId: verdict.id,
    specId: verdict.specId,
    outputHash: verdict.outputHash,
    owner: verdict.owner,
    isOfJob: sql<boolean>`${verdict.jobId} is not null`,
    isReturned: sql<boolean>`exists (select from ahs.payment p where p.id = ${verdict.paymentId} and p.capture_state in ('voiding', 'voided'))`,
    status: verdict.status,
    runs: verdict.runs,
    retries: verdict.retries,
    leaseUntil: verdict.leaseUntil,
  };
  const [row] = await underDeadline(db).select(holder).from(verdict).where(where).limit(1);
  return row ?? null;
}

function readSlot(db: Database, slot: string): Promise<SlotHolder | null> {
  return readHolder(db, and(eq(verdict.slot, slot), isNull(verdict.replacedAt)));
}

function readVerdict(db: Database, id: string): Promise<SlotHolder | null> {
  return readHolder(db, eq(verdict.id, id));
}

/** Reads the verdict that was stored for a debit or a payment, whatever its output; null without one. */
async function readPurchase(
  db: Database,
  { debitId, paymentId }: Pick<Purchaser, "debitId" | "paymentId">,
): Promise<SlotHolder | null> {
  if (paymentId !== null) return readHolder(db, eq(verdict.paymentId, paymentId));
  return debitId === null ? null : readHolder(db, eq(verdict.debitId, debitId));
}

/** True if a key has reserved a price since that moment for an output that is not stored yet. */
async function holdsForOutput(db: Database, keyId: string, since: Date): Promise<boolean> {
  const reads = underDeadline(db);
  const outputs = reads.select().from(verdict).where(eq(verdict.debitId, keyDebit.id));
  const [held] = await reads
    .select({ id: keyDebit.id })
    .from(keyDebit)
    .where(
      and(
        eq(keyDebit.keyId, keyId),
        eq(keyDebit.state, "held"),
        eq(keyDebit.endpoint, "POST /v1/outputs"),
        gte(keyDebit.createdAt, since),
        notExists(outputs),
      ),
    )
    .limit(1);
  return held !== undefined;
}
