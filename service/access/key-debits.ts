import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { type Database, QUERY_DEADLINE } from "../db/database.ts";
import { loadInBatches } from "../db/load-in-batches.ts";
import type { BoughtAnswer, RepeatSlot } from "./access.ts";
import { keepAnswerStatement } from "./idempotent-answers.ts";

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

/**
 * Grants the smallest reservations first, so that a refused one could not have been paid besides the granted ones.
 * Locks keys in the order of ids, so that the balance is current and concurrent statements take turns.
 * Uses synchronous_commit = off, as KEEP does. A crash of the database loses at most three times wal_writer_delay (600
 * ms by default). A lost debit returns to its key, whose call was free. Statements that store an answer or more commit
 * synchronously, together with all debits before them.
 */
const HOLD = {
  name: "key_debit_hold",
  text: `
    with wanted as (
      select *, sum(units) over (partition by key_id order by units, debit_id) as total
      from unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::text[], $7::text[])
        as asked (key_id, debit_id, units, endpoint, repeat)
    ), locked as (
      select id, balance_units from ahs.api_key where id in (select key_id from wanted) order by id for update
    ), granted as (
      select wanted.* from wanted join locked on locked.id = wanted.key_id where wanted.total <= locked.balance_units
    ), taken as (
      select key_id, sum(units)::bigint as units from granted group by key_id
    ), debited as (
      update ahs.api_key set balance_units = balance_units - taken.units from taken where id = taken.key_id
    ), held as (
      insert into ahs.key_debit (id, key_id, endpoint, units, state, created_at, deadline, repeat)
      select debit_id, key_id, endpoint, units, 'held', $5::timestamptz, $6::timestamptz, repeat from granted
      returning id
    )
    select wanted.debit_id as "debitId", held.id is not null as held,
           (locked.balance_units - coalesce(taken.units, 0))::float8 as "balanceUnits",
           set_config('synchronous_commit', 'off', true)
    from wanted
    join locked on locked.id = wanted.key_id
    left join taken on taken.key_id = wanted.key_id
    left join held on held.id = wanted.debit_id`,
};

/**
 * Condition beside an id. Unlike `state = 'held'`, the planner cannot look it up in the index of states. While a
 * snapshot is open, that index holds an entry of every debit captured since.
 */
const IS_HELD = "(state = 'held') is true";

const KEEP = {
  name: "key_debit_keep",
  text: `
    with kept as (update ahs.key_debit set state = 'kept' where ${IS_HELD} and id = any($1))
    select set_config('synchronous_commit', 'off', true)`,
};

const RETURN = `
  with returned as (
    update ahs.key_debit set state = 'returned' where %condition%
    returning key_id, units
  ), owed as (
    select key_id, sum(units)::bigint as units, count(*) as debits from returned group by key_id
  ), locked as (
    select id from ahs.api_key where id in (select key_id from owed) order by id for update
  ), credited as (
    update ahs.api_key as key set balance_units = balance_units + owed.units
    from owed join locked on locked.id = owed.key_id where key.id = owed.key_id
  )
  select coalesce(sum(debits), 0) as debits from owed`;

const BATCH = { maxSize: 500, maxRunning: 2 };

/**
 * The money side of API keys, in ahs.api_key and ahs.key_debit: a price is reserved, then captured or released, each exactly once.
 * Each call is atomic; concurrent ones share a statement.
 */
export function createKeyDebits(deps: KeyDebitDeps) {
  const pool = deps.db.$client;
  const hold = loadInBatches((requests: readonly HoldRequest[]) => holdMany(requests, deps), BATCH);
  const keep = loadInBatches(async (ids: readonly string[]) => {
    await pool.query({ ...QUERY_DEADLINE, ...KEEP, values: [ids] });
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
      const { text, values } = keepAnswerStatement(slot, answer, deps.now());
      await pool.query({
        ...QUERY_DEADLINE,
        name: "key_debit_keep_answered",
        text: `with debited as (update ahs.key_debit set state = 'kept' where ${IS_HELD} and id = $7) ${text}`,
        values: [...values, debitId],
      });
    },
    /** Releases a reserved debit to its key; a debit in another state stays unchanged. */
    async giveBack(debitId: string): Promise<void> {
      await pool.query({
        ...QUERY_DEADLINE,
        name: "key_debit_give_back",
        text: RETURN.replace("%condition%", `${IS_HELD} and id = $1`),
        values: [debitId],
      });
    },
  };
}

/** The debit that captured the same purchase within a day; null if none did. */
async function findCaptured(
  keyId: string,
  repeat: string,
  { db, now }: KeyDebitDeps,
): Promise<HoldOutcome | null> {
  const { rows } = await db.$client.query<{
    readonly debitId: string;
    readonly balanceUnits: number | null;
  }>({
    ...QUERY_DEADLINE,
    name: "key_debit_kept_before",
    text: `select d.id as "debitId", k.balance_units::float8 as "balanceUnits"
           from ahs.key_debit d join ahs.api_key k on k.id = d.key_id
           where d.key_id = $1 and d.repeat = $2 and d.state = 'kept' and d.created_at > $3 limit 1`,
    values: [keyId, repeat, new Date(now().getTime() - REPEAT_SECONDS * 1000)],
  });
  const [row] = rows;
  return row === undefined ? null : { kind: "held", isRepeat: true, ...row };
}

/** Captures a debit in the transaction of what it buys; null for a purchase without one. Throws if it was released, so that it buys nothing. */
export async function keepDebit(tx: NodePgDatabase, debitId: string | null): Promise<void> {
  if (debitId === null) return;
  const { rowCount } = await tx.execute(
    sql`update ahs.key_debit set state = 'kept' where id = ${debitId} and state in ('held', 'kept')`,
  );
  if (rowCount !== 1) throw new Error(`debit ${debitId} was returned before it bought anything`);
}

async function holdMany(
  requests: readonly HoldRequest[],
  { db, now, randomUuid }: KeyDebitDeps,
): Promise<readonly HoldOutcome[]> {
  const asked = requests.map((request) => ({ ...request, debitId: randomUuid() }));
  const at = now();
  const { rows } = await db.$client.query<{ debitId: string; held: boolean; balanceUnits: number | null }>({
    ...QUERY_DEADLINE,
    ...HOLD,
    values: [
      asked.map(({ keyId }) => keyId),
      asked.map(({ debitId }) => debitId),
      asked.map(({ units }) => units),
      asked.map(({ endpoint }) => endpoint),
      at,
      new Date(at.getTime() + HOLD_SECONDS * 1000),
      asked.map(({ repeat }) => repeat ?? null),
    ],
  });
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
  const { rows } = await db.$client.query<{ readonly debits: string }>(
    RETURN.replace("%condition%", "state = 'held' and deadline < $1"),
    [now],
  );
  return Number(rows[0]?.debits);
}

/** Refunds a captured debit, in the transaction that cancels what it bought. Does nothing to a debit in another state. */
export async function returnDebit(tx: NodePgDatabase, debitId: string): Promise<void> {
  await tx.execute(sql`
    with returned as (
      update ahs.key_debit set state = 'returned' where id = ${debitId} and state = 'kept' returning key_id, units
    )
    update ahs.api_key as key set balance_units = balance_units + returned.units
    from returned where key.id = returned.key_id`);
}

/** taken: with the balance after it, null if unlimited. paid: the debit was never released. short: nothing changes. */
export type Retaken =
  | { readonly kind: "taken"; readonly units: number; readonly balanceUnits: number | null }
  | { readonly kind: "paid" }
  | { readonly kind: "short"; readonly balanceUnits: number };

/** Takes a released debit again, in the transaction of what it buys. */
export async function retakeDebit(tx: NodePgDatabase, debitId: string): Promise<Retaken> {
  // The debit before its key, as returning it does.
  const debits = await tx.execute<{ key_id: string; units: string }>(sql`
    select key_id, units from ahs.key_debit where id = ${debitId} and state = 'returned' for update`);
  const [debit] = debits.rows;
  if (debit === undefined) return { kind: "paid" };
  const taken = await tx.execute<{ balance_units: string | null }>(sql`
    update ahs.api_key set balance_units = balance_units - ${debit.units}::bigint
    where id = ${debit.key_id} and (balance_units is null or balance_units >= ${debit.units}::bigint)
    returning balance_units`);
  const [key] = taken.rows;
  if (key === undefined) {
    const { rows } = await tx.execute<{ balance_units: string }>(
      sql`select balance_units from ahs.api_key where id = ${debit.key_id}`,
    );
    return { kind: "short", balanceUnits: Number(rows[0]?.balance_units) };
  }
  await tx.execute(sql`update ahs.key_debit set state = 'kept' where id = ${debitId}`);
  const balanceUnits = key.balance_units === null ? null : Number(key.balance_units);
  return { kind: "taken", units: Number(debit.units), balanceUnits };
}
