import { and, eq, gte, inArray, isNull, or, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { type Database, rowsInTime } from "../db/database.ts";
import { loadInBatches } from "../db/load-in-batches.ts";
import { apiKey, keyDebit } from "../db/tables/api-key.ts";
import type { BoughtAnswer, RepeatSlot } from "./access.ts";
import { storedAnswer } from "./idempotent-answers.ts";
import {
  capturedBefore,
  giveBackDebit,
  holdDebits,
  keepAnswered,
  keepDebits,
  returnOverdue,
} from "./key-debits.sql.ts";

type HoldRequest = {
  readonly keyId: string;
  readonly units: number;
  /** Method and path template, for the operator's eyes. */
  readonly endpoint: string;
  /** Names a purchase with lasting effects by request and Idempotency-Key; within a day it is charged once. */
  readonly repeat?: string;
};

/** unlimited: takes nothing. */
type HoldOutcome =
  | {
      readonly kind: "held";
      readonly debitId: string;
      /** After the reservation. */
      readonly balanceUnits: number | null;
      /** Whether the same repeat was captured before. */
      readonly isRepeat: boolean;
    }
  | { readonly kind: "unlimited" }
  | { readonly kind: "insufficient"; readonly balanceUnits: number };

type KeyDebitDeps = {
  readonly db: Database;
  readonly now: () => Date;
  readonly randomUuid: () => string;
};

/** Lifetime of an Idempotency-Key. */
const REPEAT_SECONDS = 86_400;

/** Seconds after which a reservation counts as abandoned: longer than the deadline of every request. */
const HOLD_SECONDS = 120;

const BATCH = { maxSize: 500, maxRunning: 2 };

/**
 * The money side of API keys, in ahs.api_key and ahs.key_debit: a price is reserved, then captured or released, each exactly once.
 * Each call is atomic; concurrent ones share a statement.
 */
export function createKeyDebits(deps: KeyDebitDeps) {
  const { db } = deps;
  const hold = loadInBatches((requests: readonly HoldRequest[]) => holdMany(requests, deps), BATCH);
  const keep = loadInBatches(async (ids: readonly string[]) => {
    await rowsInTime(db, keepDebits({ ids }));
    return ids;
  }, BATCH);
  return {
    async hold(request: HoldRequest): Promise<HoldOutcome> {
      const captured =
        request.repeat === undefined ? null : await findCaptured(request.keyId, request.repeat, deps);
      return captured ?? hold(request);
    },
    /** Captures a reserved debit; a released one stays released. */
    async keep(debitId: string): Promise<void> {
      await keep(debitId);
    },
    /** Captures a reserved debit (or none for null) and stores the answer for repeats, in one transaction. */
    async keepAnswered(debitId: string | null, slot: RepeatSlot, answer: BoughtAnswer): Promise<void> {
      await rowsInTime(db, keepAnswered({ ...storedAnswer(slot, answer, deps.now()), debitId }));
    },
    /** Releases a reserved debit to its key; a debit in another state stays unchanged. */
    async giveBack(debitId: string): Promise<void> {
      await rowsInTime(db, giveBackDebit({ debitId }));
    },
  };
}

/** The debit that captured the same purchase within a day; null if none did. */
async function findCaptured(
  keyId: string,
  repeat: string,
  { db, now }: KeyDebitDeps,
): Promise<HoldOutcome | null> {
  const since = new Date(now().getTime() - REPEAT_SECONDS * 1000);
  const [row] = await rowsInTime<{ readonly debitId: string; readonly balanceUnits: number | null }>(
    db,
    capturedBefore({ keyId, repeat, since }),
  );
  return row === undefined ? null : { kind: "held", isRepeat: true, ...row };
}

/** Captures a debit in the transaction of what it buys; null for a purchase without one. Throws if it was released, so that it buys nothing. */
export async function keepDebit(tx: NodePgDatabase, debitId: string | null): Promise<void> {
  if (debitId === null) return;
  const { rowCount } = await tx
    .update(keyDebit)
    .set({ state: "kept" })
    .where(and(eq(keyDebit.id, debitId), inArray(keyDebit.state, ["held", "kept"])));
  if (rowCount !== 1) throw new Error(`debit ${debitId} was returned before it bought anything`);
}

async function holdMany(
  requests: readonly HoldRequest[],
  { db, now, randomUuid }: KeyDebitDeps,
): Promise<readonly HoldOutcome[]> {
  const asked = requests.map((request) => ({ ...request, debitId: randomUuid() }));
  const at = now();
  const rows = await rowsInTime<{ debitId: string; held: boolean; balanceUnits: number | null }>(
    db,
    holdDebits({
      keyIds: asked.map(({ keyId }) => keyId),
      debitIds: asked.map(({ debitId }) => debitId),
      units: asked.map(({ units }) => units),
      endpoints: asked.map(({ endpoint }) => endpoint),
      repeats: asked.map(({ repeat }) => repeat ?? null),
      at,
      deadline: new Date(at.getTime() + HOLD_SECONDS * 1000),
    }),
  );
  const outcomes = new Map(rows.map((row) => [row.debitId, row]));
  return asked.map(({ keyId, debitId }) => {
    const row = outcomes.get(debitId);
    if (row === undefined) throw new Error(`no API key ${keyId} to debit`);
    const { held, balanceUnits } = row;
    if (held) return { kind: "held", debitId, balanceUnits, isRepeat: false };
    return balanceUnits === null ? { kind: "unlimited" } : { kind: "insufficient", balanceUnits };
  });
}

/** Releases every reservation past its deadline, left by a request that died. Returns the number of debits. */
export async function returnExpiredHolds(db: Database, now: Date): Promise<number> {
  const { rows } = await db.$client.query<{ readonly debits: string }>(returnOverdue({ now }));
  return Number(rows[0]?.debits);
}

/** Refunds a captured debit, in the transaction that cancels what it bought. Does nothing to a debit in another state. */
export async function returnDebit(tx: NodePgDatabase, debitId: string): Promise<void> {
  const [returned] = await tx
    .update(keyDebit)
    .set({ state: "returned" })
    .where(and(eq(keyDebit.id, debitId), eq(keyDebit.state, "kept")))
    .returning({ keyId: keyDebit.keyId, units: keyDebit.units });
  if (returned === undefined) return;
  await tx
    .update(apiKey)
    .set({ balanceUnits: sql`${apiKey.balanceUnits} + ${returned.units}::bigint` })
    .where(eq(apiKey.id, returned.keyId));
}

/** taken: with the balance after it, null if unlimited. paid: the debit was never released. short: nothing changes. */
export type Retaken =
  | { readonly kind: "taken"; readonly units: number; readonly balanceUnits: number | null }
  | { readonly kind: "paid" }
  | { readonly kind: "short"; readonly balanceUnits: number };

/** Takes a released debit again, in the transaction of what it buys. */
export async function retakeDebit(tx: NodePgDatabase, debitId: string): Promise<Retaken> {
  // The debit before its key, as returning it does.
  const [debit] = await tx
    .select({ keyId: keyDebit.keyId, units: keyDebit.units })
    .from(keyDebit)
    .where(and(eq(keyDebit.id, debitId), eq(keyDebit.state, "returned")))
    .for("update");
  if (debit === undefined) return { kind: "paid" };
  const { keyId, units } = debit;
  const isKey = eq(apiKey.id, keyId);
  const [key] = await tx
    .update(apiKey)
    .set({ balanceUnits: sql`${apiKey.balanceUnits} - ${units}::bigint` })
    .where(and(isKey, or(isNull(apiKey.balanceUnits), gte(apiKey.balanceUnits, units))))
    .returning({ balanceUnits: apiKey.balanceUnits });
  if (key === undefined) {
    const [short] = await tx.select({ balanceUnits: apiKey.balanceUnits }).from(apiKey).where(isKey);
    return { kind: "short", balanceUnits: Number(short?.balanceUnits) };
  }
  await tx.update(keyDebit).set({ state: "kept" }).where(eq(keyDebit.id, debitId));
  return { kind: "taken", units, balanceUnits: key.balanceUnits };
}
