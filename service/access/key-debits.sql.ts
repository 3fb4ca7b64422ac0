import { type SQL, sql } from "drizzle-orm";
import { prepared } from "../db/statement.ts";
import { KEEP_ANSWER, type StoredAnswer } from "./idempotent-answers.sql.ts";

// The row "read: cost of debit, held and kept" of bench/results.md measures these.

/**
 * Grants the smallest reservations first, so that a refused one could not have been paid besides the granted ones.
 * Locks keys in the order of ids, so that the balance is current and concurrent statements take turns.
 * Uses synchronous_commit = off, as `keepDebits` does. A crash of the database loses at most three times wal_writer_delay (600
 * ms by default). A lost debit returns to its key, whose call was free. Statements that store an answer or more commit
 * synchronously, together with all debits before them.
 */
export const holdDebits = prepared<{
  readonly keyIds: readonly string[];
  readonly debitIds: readonly string[];
  readonly units: readonly number[];
  readonly endpoints: readonly string[];
  readonly repeats: readonly (string | null)[];
  readonly at: Date;
  readonly deadline: Date;
}>(
  "key_debit_hold",
  sql`
    with wanted as (
      select *, sum(units) over (partition by key_id order by units, debit_id) as total
      from unnest(${sql.placeholder("keyIds")}::uuid[], ${sql.placeholder("debitIds")}::uuid[], ${sql.placeholder("units")}::bigint[],
        ${sql.placeholder("endpoints")}::text[], ${sql.placeholder("repeats")}::text[])
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
      select debit_id, key_id, endpoint, units, 'held', ${sql.placeholder("at")}::timestamptz, ${sql.placeholder("deadline")}::timestamptz, repeat from granted
      returning id
    )
    select wanted.debit_id as "debitId", held.id is not null as held,
           (locked.balance_units - coalesce(taken.units, 0))::float8 as "balanceUnits",
           set_config('synchronous_commit', 'off', true)
    from wanted
    join locked on locked.id = wanted.key_id
    left join taken on taken.key_id = wanted.key_id
    left join held on held.id = wanted.debit_id`,
);

/**
 * Condition beside an id. Unlike `state = 'held'`, the planner cannot look it up in the index of states. While a
 * snapshot is open, that index holds an entry of every debit captured since.
 */
const IS_HELD = sql`(state = 'held') is true`;

export const keepDebits = prepared<{ readonly ids: readonly string[] }>(
  "key_debit_keep",
  sql`
    with kept as (update ahs.key_debit set state = 'kept' where ${IS_HELD} and id = any(${sql.placeholder("ids")}))
    select set_config('synchronous_commit', 'off', true)`,
);

export const keepAnswered = prepared<StoredAnswer & { readonly debitId: string | null }>(
  "key_debit_keep_answered",
  sql`
    with debited as (
      update ahs.key_debit set state = 'kept' where ${IS_HELD} and id = ${sql.placeholder("debitId")}
    ) ${KEEP_ANSWER}`,
);

const returned = (condition: SQL) => sql`
  with returned as (
    update ahs.key_debit set state = 'returned' where ${condition}
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

export const giveBackDebit = prepared<{ readonly debitId: string }>(
  "key_debit_give_back",
  returned(sql`${IS_HELD} and id = ${sql.placeholder("debitId")}`),
);

export const returnOverdue = prepared<{ readonly now: Date }>(
  "key_debit_return_overdue",
  returned(sql`state = 'held' and deadline < ${sql.placeholder("now")}`),
);

/** The debit that captured the same purchase since a moment. */
export const capturedBefore = prepared<{
  readonly keyId: string;
  readonly repeat: string;
  readonly since: Date;
}>(
  "key_debit_captured_before",
  sql`
    select d.id as "debitId", k.balance_units::float8 as "balanceUnits"
    from ahs.key_debit d join ahs.api_key k on k.id = d.key_id
    where d.key_id = ${sql.placeholder("keyId")} and d.repeat = ${sql.placeholder("repeat")} and d.state = 'kept'
      and d.created_at > ${sql.placeholder("since")} limit 1`,
);
