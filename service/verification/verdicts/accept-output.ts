import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Address, Hex } from "viem";
import type { Database } from "../../db/database.ts";
import { QUERY_DEADLINE } from "../../db/database.ts";
import type { VerdictStatus } from "../../db/tables/verdict.ts";
import type { JobName } from "../escrow/types.ts";
import {
  activate,
  dropIntake,
  insertIntake,
  MAX_RETRIES,
  settleOverdue,
  takeUnsettled,
  withdrawIntake,
} from "./settle-intake.ts";

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

/** there: it was accepted before. busy: another submission of it is being paid. */
type SlotTaken = { readonly kind: "there"; readonly standing: VerdictStanding } | { readonly kind: "busy" };

/** noted: it waits for its money. */
type Acceptance =
  | { readonly kind: "noted"; readonly verdictId: string; readonly webhookSecret: string | null }
  | SlotTaken;

type IntakeDeps = {
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
/** A price is held so long at most before its output is noted; a request that died in between holds up nobody for longer. */
const NOTING_MS = 2_000;
const NOTE_POLL_MS = 50;
const SECRET_BYTES = 32;

/**
 * The accepted verdict of a slot, for whoever posts its output (key:ID or wallet:ADDRESS); null where the slot is free, unsettled, or
 * held by a failed one that their submission may replace.
 */
export async function findAccepted(
  db: Database,
  { slot, owner }: { readonly slot: string; readonly owner: string },
): Promise<VerdictStanding | null> {
  const holder = await readSlot(db, slot);
  return holder === null || isReplaceable(holder, owner) ? null : standingOf(holder);
}

/**
 * Notes an output once its price is held: unsettled, with its text and endpoint, in one transaction. One verdict holds a slot: an
 * accepted one is answered instead, an unsettled one is waited for until it is accepted or gone. A debit or a payment that was
 * noted before for the same output, by a request that died, has its own verdict again; a note for another one is void by then.
 */
export async function acceptOutput(
  deps: IntakeDeps,
  draft: OutputDraft,
  { signal, ...purchaser }: Purchaser & { readonly signal: AbortSignal },
): Promise<Acceptance> {
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
 * The accepted verdict of a slot, for a key whose balance does not reach for its output; an unsettled one is waited for as in
 * acceptOutput, and so is one that the same key has just paid for, which is noted a moment after its price is held. Null where there
 * is none, or one that the key's submission may replace.
 */
export async function awaitAccepted(
  deps: Pick<IntakeDeps, "db" | "now" | "waitMs">,
  { slot, keyId }: { readonly slot: string; readonly keyId: string },
  signal: AbortSignal,
): Promise<SlotTaken | null> {
  const place = { slot, owner: `key:${keyId}` };
  const until = deps.now().getTime() + (deps.waitMs ?? WAIT_MS);
  for (;;) {
    // First: what is noted after this look is seen by the next one.
    const mayCome = await holdsForOutput(deps.db, keyId, new Date(deps.now().getTime() - NOTING_MS));
    const taken = await awaitSlot(deps, place, { signal, until });
    if (taken !== null || !mayCome || signal.aborted || deps.now().getTime() >= until) return taken;
    await sleep(NOTE_POLL_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** What holds a slot, an unsettled verdict waited for until it is accepted or gone; null where the slot is free for that owner. */
async function awaitSlot(
  deps: Pick<IntakeDeps, "db" | "now">,
  { slot, owner }: { readonly slot: string; readonly owner: string },
  { signal, until }: { readonly signal: AbortSignal; readonly until: number },
): Promise<SlotTaken | null> {
  for (;;) {
    const holder = await readSlot(deps.db, slot);
    if (holder === null || isReplaceable(holder, owner)) return null;
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
async function isDecided(
  { db, now }: Pick<IntakeDeps, "db" | "now">,
  { verdictId, leaseUntil }: SlotHolder,
): Promise<boolean> {
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

/** What held this price released it: the price would pay for two outputs. Throws where it has bought the other one already. */
async function dropVoid(db: Database, verdictId: string): Promise<void> {
  await db.transaction((tx) => dropIntake(tx, verdictId));
  if ((await readVerdict(db, verdictId)) !== null)
    throw new Error(`verdict ${verdictId} of another output was bought by what is to pay for this one`);
}

/** Null for one that is unsettled, which nobody is told of. */
function standingOf({ verdictId, status, runs }: SlotHolder): VerdictStanding | null {
  if (status === "unsettled") return null;
  // A decided verdict is run again behind its answer.
  return { verdictId, status: runs > 0 ? "completed" : status };
}

/** Who holds a slot. */
type SlotHolder = {
  readonly verdictId: string;
  readonly specId: string;
  readonly outputHash: string;
  /** key:ID or wallet:ADDRESS. */
  readonly owner: string;
  readonly isOfJob: boolean;
  readonly status: VerdictStatus;
  readonly runs: number;
  readonly retries: number;
  readonly leaseUntil: Date | null;
  readonly hasEndpoint: boolean;
};

type HolderRow = {
  readonly id: string;
  readonly spec_id: string;
  readonly output_hash: string;
  readonly owner: string;
  readonly is_of_job: boolean;
  readonly status: VerdictStatus;
  readonly runs: number;
  readonly retries: number;
  readonly lease_until: Date | null;
  readonly has_endpoint: boolean;
};

const HOLDER = `select id, spec_id, output_hash, owner, job_id is not null as is_of_job, status, runs, retries, lease_until,
  endpoint_id is not null as has_endpoint`;

/**
 * Whether a verdict gives its slot to an output that somebody (key:ID or wallet:ADDRESS) posts again: one that failed past its last
 * retry, and one of a job that failed where somebody else posts it, since a job's money must not hang on who was quicker. The
 * statement of insertIntake says the same.
 */
function isReplaceable({ status, retries, isOfJob, owner }: SlotHolder, by: string): boolean {
  return status === "failed" && (retries >= MAX_RETRIES || (isOfJob && owner !== by));
}

/** The verdict that holds a slot now; null where none does. */
async function readSlot(db: Database, slot: string): Promise<SlotHolder | null> {
  const { rows } = await db.$client.query<HolderRow>({
    ...QUERY_DEADLINE,
    name: "verdict_slot",
    text: `${HOLDER} from ahs.verdict where slot = $1 and replaced_at is null`,
    values: [slot],
  });
  return rows[0] === undefined ? null : holderOf(rows[0]);
}

/** A verdict as far as its slot goes; null where there is none. */
async function readVerdict(db: Database, id: string): Promise<SlotHolder | null> {
  const { rows } = await db.$client.query<HolderRow>({
    ...QUERY_DEADLINE,
    text: `${HOLDER} from ahs.verdict where id = $1`,
    values: [id],
  });
  return rows[0] === undefined ? null : holderOf(rows[0]);
}

/** The verdict that a debit or a payment was noted for before, whatever output that is of; null where there is none. */
async function readPurchase(
  db: Database,
  { debitId, paymentId }: { readonly debitId: string | null; readonly paymentId: string | null },
): Promise<SlotHolder | null> {
  if (debitId === null && paymentId === null) return null;
  const { rows } = await db.$client.query<HolderRow>({
    ...QUERY_DEADLINE,
    text: `${HOLDER} from ahs.verdict where ${paymentId === null ? "debit_id" : "payment_id"} = $1 limit 1`,
    values: [paymentId ?? debitId],
  });
  return rows[0] === undefined ? null : holderOf(rows[0]);
}

/** Whether a key holds a price, since that moment or later, for an output that is not noted yet. */
async function holdsForOutput(db: Database, keyId: string, since: Date): Promise<boolean> {
  const { rowCount } = await db.$client.query({
    ...QUERY_DEADLINE,
    text: `select from ahs.key_debit as debit
      where key_id = $1 and state = 'held' and endpoint = 'POST /v1/outputs' and created_at >= $2
        and not exists (select from ahs.verdict where debit_id = debit.id)`,
    values: [keyId, since],
  });
  return rowCount !== null && rowCount > 0;
}

function holderOf(row: HolderRow): SlotHolder {
  return {
    verdictId: row.id,
    specId: row.spec_id,
    outputHash: row.output_hash,
    owner: row.owner,
    isOfJob: row.is_of_job,
    status: row.status,
    runs: row.runs,
    retries: row.retries,
    leaseUntil: row.lease_until,
    hasEndpoint: row.has_endpoint,
  };
}
