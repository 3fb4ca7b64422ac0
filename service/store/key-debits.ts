import type { Database } from "./database.ts";
import { loadInBatches } from "./load-in-batches.ts";

export type HoldRequest = {
  readonly keyId: string;
  readonly units: number;
  /** Method and path template, for the operator's eyes. */
  readonly endpoint: string;
};

/** Whether a price could be taken from a key's balance; `unlimited` takes nothing. */
export type HoldOutcome =
  | { readonly kind: "held"; readonly debitId: string }
  | { readonly kind: "unlimited" }
  | { readonly kind: "insufficient"; readonly balanceUnits: number };

/** The money side of API keys: every price is first held, then kept or given back, each exactly once. */
export type KeyDebits = {
  hold(request: HoldRequest): Promise<HoldOutcome>;
  /** Keeps a held debit; one that was returned meanwhile stays returned. */
  keep(debitId: string): Promise<void>;
  /** Returns a held debit to its key; one that was kept or returned stays as it is. */
  giveBack(debitId: string): Promise<void>;
};

export type KeyDebitDeps = {
  readonly db: Database;
  readonly now: () => Date;
  readonly randomUuid: () => string;
};

/** Seconds after which a hold counts as abandoned: beyond the deadline of every request that the service answers. */
const HOLD_SECONDS = 120;

const HOLD = {
  name: "key_debit_hold",
  text: `
    with debited as (
      update ahs.api_key set balance_units = balance_units - $2
      where id = $1 and balance_units >= $2
      returning id
    ), held as (
      insert into ahs.key_debit (id, key_id, endpoint, units, state, created_at, deadline)
      select $3::uuid, id, $4, $2, 'held', $5::timestamptz, $6::timestamptz from debited
      returning id
    )
    select (select count(*) from held) as held, balance_units from ahs.api_key where id = $1`,
};

/** int8 arrives as text. */
type HoldRow = { readonly held: string; readonly balance_units: string | null };

const RETURN = `
  with returned as (
    update ahs.key_debit set state = 'returned' where state = 'held' and %condition%
    returning key_id, units
  ), owed as (
    select key_id, sum(units)::bigint as units, count(*) as debits from returned group by key_id
  ), credited as (
    update ahs.api_key set balance_units = balance_units + owed.units from owed where id = owed.key_id
  )
  select coalesce(sum(debits), 0) as debits from owed`;

/** Debits on ahs.api_key and ahs.key_debit; each operation is one atomic statement. */
export function createKeyDebits({ db, now, randomUuid }: KeyDebitDeps): KeyDebits {
  const pool = db.$client;
  const keepMany = loadInBatches(
    async (ids: readonly string[]) => {
      await pool.query({
        name: "key_debit_keep",
        text: "update ahs.key_debit set state = 'kept' where state = 'held' and id = any($1)",
        values: [ids],
      });
      return ids;
    },
    { maxSize: 500, maxRunning: 2 },
  );
  return {
    async hold({ keyId, units, endpoint }) {
      const at = now();
      const debitId = randomUuid();
      const deadline = new Date(at.getTime() + HOLD_SECONDS * 1000);
      const { rows } = await pool.query<HoldRow>({
        ...HOLD,
        values: [keyId, units, debitId, endpoint, at, deadline],
      });
      const row = rows[0];
      if (row === undefined) throw new Error(`no API key ${keyId} to debit`);
      if (row.held === "1") return { kind: "held", debitId };
      if (row.balance_units === null) return { kind: "unlimited" };
      return { kind: "insufficient", balanceUnits: Number(row.balance_units) };
    },
    async keep(debitId) {
      await keepMany(debitId);
    },
    async giveBack(debitId) {
      await pool.query({
        name: "key_debit_give_back",
        text: RETURN.replace("%condition%", "id = $1"),
        values: [debitId],
      });
    },
  };
}

/** Returns every hold past its deadline, left by a request that died; answers how many. */
export async function returnExpiredHolds(db: Database, now: Date): Promise<number> {
  const { rows } = await db.$client.query<{ readonly debits: string }>(
    RETURN.replace("%condition%", "deadline < $1"),
    [now],
  );
  return Number(rows[0]?.debits);
}
