import { and, eq, inArray, lte, ne, or, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Logger } from "pino";
import { type Database, underDeadline } from "../../db/database.ts";
import { type AppealState, type Appellant, appeal } from "../../db/tables/appeal.ts";
import { settlement, settlementCheck } from "../../db/tables/settlement.ts";
import { jobSpec, verdict, verdictRun } from "../../db/tables/verdict.ts";
import { UNDER_APPEAL } from "../escrow/decide-signing.ts";
import { queueDecision } from "../escrow/settlements.ts";
import type { Decision } from "../panel/types.ts";
import { lockVerdict } from "./lock-verdict.ts";
import { fateOf, keepPrice, lockPrice, type Price, returnPrice } from "./purchase-price.ts";
import { notifyOfVerdict } from "./verdict-events.ts";
import { wakeWorkers } from "./verdict-queue.ts";

/** A caller who appeals: `owner` is key:ID or wallet:ADDRESS, `wallets` are those that it speaks for, in lower case. */
export type AppealCaller = { readonly owner: string; readonly wallets: readonly string[] };

/** An appeal as its buyer sees it. */
export type AppealReceipt = {
  readonly state: Exclude<AppealState, "window" | "unsettled">;
  readonly decideBy: Date;
};

export type AppealRefusal =
  | { readonly kind: "unknown" }
  /** Its reason is a sentence. */
  | { readonly kind: "closed"; readonly reason: string }
  /** By another caller. */
  | { readonly kind: "appealed" }
  | { readonly kind: "stranger" }
  /** Another appeal of the verdict is being paid. */
  | { readonly kind: "busy" };

/** open: it may be appealed now, by this party. there: the caller has appealed it. */
export type AppealOffer =
  | { readonly kind: "open"; readonly appellant: Appellant; readonly units: number }
  | ({ readonly kind: "there" } & AppealReceipt)
  | AppealRefusal;

/** Longer than any request. After that, others decide about its appeal. */
const LEASE_MS = 120_000;

/** Says if a caller may appeal a verdict now. A caller of null is any party. */
export async function offerAppeal(
  db: Database,
  { verdictId, caller, now }: { verdictId: string; caller: AppealCaller | null; now: Date },
): Promise<AppealOffer> {
  const facts = await readFacts(underDeadline(db), verdictId);
  return facts === null ? { kind: "unknown" } : decideOffer(facts, { caller, now });
}

/** Decides if a verdict may be appealed. */
function decideOffer(
  facts: AppealFacts,
  { caller, now }: { caller: AppealCaller | null; now: Date },
): AppealOffer {
  const appellant = caller === null ? "submitter" : appellantOf(facts, caller);
  if (appellant === null) return { kind: "stranger" };
  const { appeal: term, finalVerdict, cause, isBound, isSigned } = facts;
  if (!isBound) return closed("It decides on no job, so that nothing is settled by it.");
  if (finalVerdict === null) return closed("It has no decision yet.");
  if (term === null && cause === "review") return closed("A reviewer decided it.");
  if (term === null && finalVerdict === "HOLD")
    return closed("It is HOLD, which moves no money: submit evidence instead, for free.");
  if (term === null)
    return closed(
      isSigned ? "Its decision is signed already." : "Its decision is not ready to be settled yet.",
    );
  switch (term.state) {
    case "window":
      if (isSigned || now >= term.appealBy)
        return closed(`It could be appealed until ${term.appealBy.toISOString()}.`);
      return { kind: "open", appellant, units: term.units };
    case "unsettled":
      // A repeat of a dead request is the same purchase, or is refused when it is stored.
      return caller?.owner === term.owner ? { kind: "open", appellant, units: term.units } : { kind: "busy" };
    case "open":
    case "upheld":
    case "overturned":
    case "held":
    case "failed":
      return caller?.owner === term.owner
        ? { kind: "there", state: term.state, decideBy: term.decideBy }
        : { kind: "appealed" };
  }
}

function closed(reason: string): AppealOffer {
  return { kind: "closed", reason };
}

/** The side that a caller speaks for; null for a third party. */
function appellantOf(
  { owner, clientAddr, providerAddr }: AppealFacts,
  caller: AppealCaller,
): Appellant | null {
  if (caller.wallets.includes(clientAddr)) return "client";
  if (caller.wallets.includes(providerAddr)) return "provider";
  return caller.owner === owner ? "submitter" : null;
}

/**
 * Stores an appeal after its price is reserved, and before money moves: its decision is not signed while the price is open. A debit or a
 * payment of a dead request finds its own appeal again.
 */
export function noteAppeal(
  db: Database,
  {
    verdictId,
    caller,
    debitId,
    paymentId,
    now,
  }: Price & {
    verdictId: string;
    caller: AppealCaller;
    now: Date;
  },
): Promise<{ kind: "noted" } | AppealRefusal> {
  return db.transaction(async (tx) => {
    await lockVerdict(tx, verdictId);
    const facts = await readFacts(tx, verdictId);
    if (facts === null) return { kind: "unknown" };
    if (facts.appeal !== null && isBoughtBy(facts.appeal, { owner: caller.owner, debitId, paymentId }))
      return { kind: "noted" };
    const offer = decideOffer(facts, { caller, now });
    if (offer.kind === "there") return { kind: "appealed" };
    if (offer.kind !== "open") return offer;
    if (facts.appeal?.state !== "window") return { kind: "busy" };
    await tx
      .update(appeal)
      .set({
        state: "unsettled",
        appellant: offer.appellant,
        owner: caller.owner,
        debitId,
        paymentId,
        leaseUntil: new Date(now.getTime() + LEASE_MS),
        updatedAt: now,
      })
      .where(eq(appeal.verdictId, verdictId));
    return { kind: "noted" };
  });
}

function isBoughtBy(
  term: NonNullable<AppealFacts["appeal"]>,
  { owner, debitId, paymentId }: Price & { owner: string },
): boolean {
  if (term.state === "window" || term.owner !== owner) return false;
  return term.debitId === debitId && term.paymentId === paymentId;
}

/**
 * Opens a stored appeal after its payment: queues the second panel and captures the price in one database transaction. One that is open
 * stays as it is. A paid one that came too late fails, and its price goes back. Throws, and changes nothing, if the price was given back.
 */
export async function openAppeal(
  { db, now }: { db: Database; now: () => Date },
  verdictId: string,
): Promise<AppealReceipt> {
  return db.transaction(async (tx) => {
    const found = await takeUnsettled(tx, verdictId);
    if (found !== null) await activate(tx, found, now());
    const { state, decideBy } = (await readTerm(tx, verdictId)) ?? {};
    if (state === undefined || decideBy === undefined || state === "window" || state === "unsettled")
      throw new Error(`the appeal of verdict ${verdictId} is gone: its price was given back`);
    return { state, decideBy };
  });
}

/** Has the sweep decide about a stored appeal at once, after its price was given back. Never throws, since the sweep does it later otherwise. */
export async function withdrawAppeal(
  { db, now, logger }: { db: Database; now: () => Date; logger: Logger },
  verdictId: string,
): Promise<void> {
  try {
    await db
      .update(appeal)
      .set({ leaseUntil: now() })
      .where(and(eq(appeal.verdictId, verdictId), eq(appeal.state, "unsettled")));
  } catch (error) {
    logger.error({ err: error, verdict: verdictId }, "unsettled appeal not withdrawn: left to the sweep");
  }
}

const BATCH = 100;
/** Payments are compared with the chain every few seconds. */
const RECHECK_MS = 5_000;

/**
 * Decides about unsettled appeals whose request is overdue, and ends open ones without a decision in time. A failure is logged and retried
 * later.
 */
export async function sweepAppeals({
  db,
  logger,
  now,
}: {
  db: Database;
  logger: Logger;
  now: () => Date;
}): Promise<void> {
  const due = await db
    .select({ verdictId: appeal.verdictId, state: appeal.state })
    .from(appeal)
    .where(
      or(
        and(eq(appeal.state, "unsettled"), lte(appeal.leaseUntil, now())),
        and(eq(appeal.state, "open"), lte(appeal.decideBy, now())),
      ),
    )
    .limit(BATCH);
  for (const { verdictId, state } of due) {
    try {
      if (state === "open") await endOverdue(db, verdictId, now());
      else await settleAppeal(db, verdictId, now());
      logger.info({ verdict: verdictId, state }, "overdue appeal processed");
    } catch (error) {
      logger.error({ err: error, verdict: verdictId }, "overdue appeal not processed: trying again");
    }
  }
}

/** Decides about an unsettled appeal by the state of its price. */
async function settleAppeal(db: Database, verdictId: string, now: Date): Promise<void> {
  await db.transaction(async (tx) => {
    const found = await takeUnsettled(tx, verdictId);
    if (found === null || (found.leaseUntil !== null && found.leaseUntil > now)) return;
    switch (fateOf(found)) {
      case "activate":
        return activate(tx, found, now);
      case "drop":
        return forget(tx, found, now);
      case "wait":
        await tx
          .update(appeal)
          .set({ leaseUntil: new Date(now.getTime() + RECHECK_MS) })
          .where(eq(appeal.verdictId, verdictId));
    }
  });
}

type Unsettled = NonNullable<Awaited<ReturnType<typeof takeUnsettled>>>;

/** Locks an unsettled appeal with its verdict and its price until the database transaction ends; null if it is not unsettled any more. */
async function takeUnsettled(tx: NodePgDatabase, verdictId: string) {
  await lockVerdict(tx, verdictId);
  const [row] = await tx
    .select()
    .from(appeal)
    .where(and(eq(appeal.verdictId, verdictId), eq(appeal.state, "unsettled")))
    .for("update");
  return row === undefined ? null : { ...row, ...(await lockPrice(tx, row)) };
}

async function activate(tx: NodePgDatabase, found: Unsettled, at: Date): Promise<void> {
  const { verdictId, run, decideBy, appellant, paymentId } = found;
  const facts = await readFacts(tx, verdictId);
  if (facts === null || facts.finalVerdict === null || appellant === null)
    throw new Error(`verdict ${verdictId} is appealed without a decision or a party`);
  const isLate = facts.isSigned || facts.runs !== run || at >= decideBy;
  // The request of a key gives its debit back itself.
  if (isLate && paymentId === null) throw new Error(`the appeal of verdict ${verdictId} came too late`);
  const answer = answerOf({ verdictId, state: isLate ? "failed" : "open", decideBy });
  await keepPrice(tx, found, { answer, bought: `an appeal of verdict ${verdictId}`, at });
  await tx
    .update(appeal)
    .set({ state: "open", openedAt: at, leaseUntil: null, updatedAt: at })
    .where(eq(appeal.verdictId, verdictId));
  if (isLate) return failAppeal(tx, verdictId, { message: "It was paid too late.", at });
  await tx
    .update(verdict)
    .set({ status: "pending", cause: "appeal", triedAt: null, notBefore: at, errorMessage: null })
    .where(eq(verdict.id, verdictId));
  await tx
    .update(settlementCheck)
    .set({ status: "appealed", reason: UNDER_APPEAL })
    .where(and(eq(settlementCheck.verdictId, verdictId), eq(settlementCheck.run, run)));
  await wakeWorkers(tx);
  const news = { kind: "appealed", run, decision: facts.finalVerdict, appellant, decideBy } as const;
  await notifyOfVerdict(tx, news, { verdictId, at });
}

/** The appeal was never paid: another one may follow. The time in which it was open is added to the time to appeal, until `decideBy`. */
async function forget(
  tx: NodePgDatabase,
  { verdictId, run, appealBy, decideBy, updatedAt: notedAt }: Unsettled,
  at: Date,
): Promise<void> {
  const shifted = appealBy.getTime() + Math.max(0, at.getTime() - notedAt.getTime());
  await tx
    .update(appeal)
    .set({
      state: "window",
      appellant: null,
      owner: null,
      debitId: null,
      paymentId: null,
      leaseUntil: null,
      updatedAt: at,
      appealBy: new Date(Math.min(shifted, decideBy.getTime())),
    })
    .where(eq(appeal.verdictId, verdictId));
  await queueDecision(tx, { verdictId, run }, at);
}

/** Answer of a bought appeal. */
export function answerOf({ verdictId, state, decideBy }: AppealReceipt & { readonly verdictId: string }) {
  return { verdict_id: verdictId, status: state, decide_by: decideBy.toISOString() };
}

async function endOverdue(db: Database, verdictId: string, now: Date): Promise<void> {
  await db.transaction(async (tx) => {
    await lockVerdict(tx, verdictId);
    const term = await readTerm(tx, verdictId);
    if (term?.state !== "open" || term.decideBy > now) return;
    const message = `The second panel made no decision until ${term.decideBy.toISOString()}.`;
    await tx
      .update(verdict)
      .set({ status: "completed", leaseUntil: null, errorMessage: message, updatedAt: now })
      .where(
        and(
          eq(verdict.id, verdictId),
          eq(verdict.cause, "appeal"),
          inArray(verdict.status, ["pending", "processing"]),
        ),
      );
    await failAppeal(tx, verdictId, { message, at: now });
  });
}

/**
 * Ends an open appeal without a decision, in the database transaction that locks its verdict: the price goes back, and the first decision
 * is settled.
 */
export async function failAppeal(
  tx: NodePgDatabase,
  verdictId: string,
  { message, at }: { message: string; at: Date },
): Promise<void> {
  const [ended] = await tx
    .update(appeal)
    .set({ state: "failed", endedAt: at, updatedAt: at })
    .where(and(eq(appeal.verdictId, verdictId), eq(appeal.state, "open")))
    .returning();
  if (ended === undefined) throw new Error(`verdict ${verdictId} has no open appeal`);
  const { run } = ended;
  await returnPrice(tx, ended, at);
  await queueDecision(tx, { verdictId, run }, at);
  await notifyOfVerdict(tx, { kind: "appeal_failed", run, message }, { verdictId, at });
}

/**
 * Ends an open appeal by the second panel's decision, in the database transaction that stores it, and returns the appealed run. An appeal
 * that overturns the first decision gets its price back.
 */
export async function endAppeal(
  tx: NodePgDatabase,
  { verdictId, decision, at }: { verdictId: string; decision: Decision; at: Date },
): Promise<{ appealedRun: number }> {
  const first = sql`(select r.final_verdict from ${verdictRun} r where r.verdict_id = ${appeal.verdictId} and r.run = ${appeal.run})`;
  const [ended] = await tx
    .update(appeal)
    .set({
      state: sql`case when ${decision} = 'HOLD' then 'held' when ${first} = ${decision} then 'upheld' else 'overturned' end`,
      endedAt: at,
      updatedAt: at,
    })
    .where(and(eq(appeal.verdictId, verdictId), eq(appeal.state, "open")))
    .returning();
  if (ended === undefined) throw new Error(`verdict ${verdictId} has no open appeal`);
  if (ended.state === "overturned") await returnPrice(tx, ended, at);
  return { appealedRun: ended.run };
}

async function readTerm(tx: NodePgDatabase, verdictId: string) {
  const [row] = await tx.select().from(appeal).where(eq(appeal.verdictId, verdictId));
  return row ?? null;
}

/** Facts that decide if a verdict may be appealed. isSigned: its newest decision is signed. */
type AppealFacts = NonNullable<Awaited<ReturnType<typeof readFacts>>>;

async function readFacts(db: NodePgDatabase, verdictId: string) {
  const { run, state, appealBy, decideBy, units, owner, debitId, paymentId } = appeal;
  const [row] = await db
    .select({
      owner: verdict.owner,
      clientAddr: jobSpec.clientAddr,
      providerAddr: verdict.providerAddr,
      runs: verdict.runs,
      cause: verdict.cause,
      finalVerdict: verdict.finalVerdict,
      isBound: sql<boolean>`${verdict.jobId} is not null`,
      isSigned: sql<boolean>`exists (
        select from ${settlement} t where t.verdict_id = ${verdict.id} and t.run = ${verdict.runs})`,
      appeal: { run, state, appealBy, decideBy, units, owner, debitId, paymentId },
    })
    .from(verdict)
    .innerJoin(jobSpec, eq(jobSpec.id, verdict.specId))
    .leftJoin(appeal, eq(appeal.verdictId, verdict.id))
    .where(and(eq(verdict.id, verdictId), ne(verdict.status, "unsettled")));
  return row ?? null;
}
