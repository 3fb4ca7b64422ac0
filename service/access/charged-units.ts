import { type Database, QUERY_DEADLINE } from "../db/database.ts";
import type { Owner } from "./access.ts";

/** Charges that are read, the newest. */
const MOST_CHARGES = 1_000;

/** Units (0.001 USD) that an owner was charged since a moment and did not get back, over its newest charges. */
export async function readChargedUnits(db: Database, owner: Owner, since: Date): Promise<number> {
  const { rows } = await db.$client.query<{ units: number }>({
    ...QUERY_DEADLINE,
    text: `select coalesce(sum(units), 0)::float8 as units from (${owner.kind === "key" ? DEBITS : PAYMENTS}) as charges`,
    values: [owner.kind === "key" ? owner.keyId : owner.address, since],
  });
  const [row] = rows;
  if (row === undefined) throw new Error("the charges of a caller were not read");
  return row.units;
}

const DEBITS = `select units from ahs.key_debit
  where key_id = $1 and state = 'kept' and created_at >= $2 order by created_at desc limit ${MOST_CHARGES}`;

/** A unit has a thousand of the smallest units of USDC. */
const PAYMENTS = `select coalesce(charged_amount, amount)::numeric / 1000 as units from ahs.payment
  where payer = $1 and created_at >= $2 and state in ('settled', 'answered')
    and coalesce(capture_state not in ('voiding', 'voided'), true) order by created_at desc limit ${MOST_CHARGES}`;
