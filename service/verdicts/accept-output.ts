import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Address, Hex } from "viem";
import type { JobName } from "../escrow/types.ts";
import type { Database } from "../store/database.ts";
import { insertIntake, takeUnsettled } from "../store/verdict-intake.ts";
import { MAX_RETRIES, readPurchase, readSlot, readVerdict, type SlotHolder } from "../store/verdict-slots.ts";
import { activate, settleOverdue, withdrawIntake } from "./settle-intake.ts";

/** A delivered output and where it belongs; addresses in lower case. */
export type OutputDraft = {
  readonly specId: string;
  readonly slot: string;
  readonly outputHash: Hex;
  readonly outputText: string;
  readonly submittedBy: "client" | "agent" | "protocol";
  readonly submitterAddr: Address;
  readonly providerAddr: Address;
  /** Null where its specification is not bound. */
  readonly job: JobName | null;
  /** Where its events are to go, found to be no target that the guard refuses; null where nowhere. */
  readonly webhookUrl: string | null;
};

/** Who pays for it, with what. */
export type Purchaser = {
  /** key:ID or wallet:ADDRESS. */
  readonly owner: string;
  readonly units: number;
  readonly debitId: string | null;
  readonly paymentId: string | null;
};

/** A verdict as its submission answers it. */
export type VerdictStanding = {
  readonly verdictId: string;
  readonly status: "pending" | "processing" | "completed" | "failed";
};

/** noted: it waits for its money. there: it was accepted before. busy: another submission of it is being paid. */
export type Acceptance =
  | { readonly kind: "noted"; readonly verdictId: string; readonly webhookSecret: string | null }
  | { readonly kind: "there"; readonly standing: VerdictStanding }
  | { readonly kind: "busy" };

export type IntakeDeps = {
  readonly db: Database;
  readonly logger: Logger;
  readonly now: () => Date;
  readonly randomBytes: (size: number) => Uint8Array;
  readonly randomUuid: () => string;
  /** How long a submission waits for the one that holds its slot; 10 s unless told. */
  readonly waitMs?: number;
};

/** Beyond the time of every request: what it holds is decided by others after that. */
const LEASE_MS = 120_000;
const WAIT_MS = 10_000;
const POLL_MS = 250;
const SECRET_BYTES = 32;

/** The accepted verdict of a slot; null where the slot is free, unsettled, or held by one that failed past its last retry. */
export async function findAccepted(db: Database, slot: string): Promise<VerdictStanding | null> {
  const holder = await readSlot(db, slot);
  return holder === null || isGivenUp(holder) ? null : standingOf(holder);
}

/**
 * Notes an output once its price is held: unsettled, with its text and endpoint, in one transaction. One verdict holds a slot: an
 * accepted one is answered instead, an unsettled one is waited for until it is accepted or gone. A debit or a payment that was
 * noted before, by a request that died, has its own verdict again.
 */
export async function acceptOutput(
  deps: IntakeDeps,
  draft: OutputDraft,
  { signal, ...purchaser }: Purchaser & { readonly signal: AbortSignal },
): Promise<Acceptance> {
  const own = await readPurchase(deps.db, purchaser);
  if (own !== null) return { kind: "noted", verdictId: own.verdictId, webhookSecret: null };
  const until = deps.now().getTime() + (deps.waitMs ?? WAIT_MS);
  for (;;) {
    const holder = await readSlot(deps.db, draft.slot);
    if (holder === null || isGivenUp(holder)) {
      const noted = await note(deps, draft, purchaser);
      if (noted !== null) return noted;
      continue;
    }
    const standing = standingOf(holder);
    if (standing !== null) return { kind: "there", standing };
    if (await isDecided(deps, holder)) continue;
    if (signal.aborted || deps.now().getTime() >= until) return { kind: "busy" };
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** Null where another submission has taken the slot just now. */
async function note(
  { db, now, randomBytes, randomUuid }: IntakeDeps,
  { webhookUrl, ...draft }: OutputDraft,
  purchaser: Purchaser,
): Promise<Acceptance | null> {
  const at = now();
  const verdictId = randomUuid();
  const secret = `whsec_${Buffer.from(randomBytes(SECRET_BYTES)).toString("base64")}`;
  const endpoint = webhookUrl === null ? null : { id: randomUuid(), url: new URL(webhookUrl).href, secret };
  const leaseUntil = new Date(at.getTime() + LEASE_MS);
  const intake = { ...draft, ...purchaser, verdictId, endpoint, at, leaseUntil };
  if (!(await insertIntake(db, intake))) return null;
  return { kind: "noted", verdictId, webhookSecret: endpoint === null ? null : secret };
}

/** Whether a holder whose request is over has been decided about just now. */
async function isDecided({ db, now }: IntakeDeps, { verdictId, leaseUntil }: SlotHolder): Promise<boolean> {
  if (leaseUntil === null || leaseUntil > now()) return false;
  return (await settleOverdue(db, verdictId, now())) !== "wait";
}

/**
 * Makes a noted output count, now that its money has moved: queues it, keeps its debit and answers its payment in one transaction;
 * one that counts already stays as it is. Throws, and changes nothing, where the price was given back or the note is gone.
 */
export async function activateOutput(
  { db, now }: Pick<IntakeDeps, "db" | "now">,
  verdictId: string,
): Promise<VerdictStanding> {
  await db.transaction(async (tx) => {
    const found = await takeUnsettled(tx, verdictId);
    if (found !== null) await activate(tx, found, now());
  });
  const holder = await readVerdict(db, verdictId);
  const standing = holder === null ? null : standingOf(holder);
  if (standing === null) throw new Error(`verdict ${verdictId} is gone: its price was given back`);
  return standing;
}

/** Takes a note back whose price was given back; never throws, since the sweep does it otherwise. */
export async function withdrawOutput(
  { db, now, logger }: Pick<IntakeDeps, "db" | "now" | "logger">,
  verdictId: string,
): Promise<void> {
  await withdrawIntake(db, verdictId, now()).catch((error: unknown) => {
    logger.error({ err: error, verdict: verdictId }, "unsettled output not withdrawn: left to the sweep");
  });
}

/** Posting the output again replaces it. */
function isGivenUp({ status, retries }: SlotHolder): boolean {
  return status === "failed" && retries >= MAX_RETRIES;
}

/** Null for one that is unsettled, which nobody is told of. */
function standingOf({ verdictId, status, runs }: SlotHolder): VerdictStanding | null {
  if (status === "unsettled") return null;
  // A decided verdict is run again behind its answer.
  return { verdictId, status: runs > 0 ? "completed" : status };
}
