import type { Database } from "./database.ts";
import { QUERY_DEADLINE } from "./query-deadline.ts";
import type { VerdictStatus } from "./tables/verdict.ts";

/** After so many retries an output that is posted again takes the place of its failed verdict. */
export const MAX_RETRIES = 3;

/** Who holds a slot. */
export type SlotHolder = {
  readonly verdictId: string;
  readonly status: VerdictStatus;
  readonly runs: number;
  readonly retries: number;
  readonly leaseUntil: Date | null;
  readonly hasEndpoint: boolean;
};

type HolderRow = {
  readonly id: string;
  readonly status: VerdictStatus;
  readonly runs: number;
  readonly retries: number;
  readonly lease_until: Date | null;
  readonly has_endpoint: boolean;
};

const HOLDER = "select id, status, runs, retries, lease_until, endpoint_id is not null as has_endpoint";

/** The verdict that holds a slot now; null where none does. */
export async function readSlot(db: Database, slot: string): Promise<SlotHolder | null> {
  const { rows } = await db.$client.query<HolderRow>({
    ...QUERY_DEADLINE,
    name: "verdict_slot",
    text: `${HOLDER} from ahs.verdict where slot = $1 and replaced_at is null`,
    values: [slot],
  });
  return rows[0] === undefined ? null : holderOf(rows[0]);
}

/** A verdict as far as its slot goes; null where there is none. */
export async function readVerdict(db: Database, id: string): Promise<SlotHolder | null> {
  const { rows } = await db.$client.query<HolderRow>({
    ...QUERY_DEADLINE,
    text: `${HOLDER} from ahs.verdict where id = $1`,
    values: [id],
  });
  return rows[0] === undefined ? null : holderOf(rows[0]);
}

/** The verdict that a debit or a payment was noted for before, so that it buys no second one; null where there is none. */
export async function readPurchase(
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

function holderOf(row: HolderRow): SlotHolder {
  return {
    verdictId: row.id,
    status: row.status,
    runs: row.runs,
    retries: row.retries,
    leaseUntil: row.lease_until,
    hasEndpoint: row.has_endpoint,
  };
}
