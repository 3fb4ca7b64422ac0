import { type Database, QUERY_DEADLINE } from "../../db/database.ts";
import type { VerdictStatus } from "../../db/tables/verdict.ts";

/** After so many retries an output that its submitter posts again takes the place of its failed verdict. */
export const MAX_RETRIES = 3;

/** Who holds a slot. */
export type SlotHolder = {
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
export function isReplaceable({ status, retries, isOfJob, owner }: SlotHolder, by: string): boolean {
  return status === "failed" && (retries >= MAX_RETRIES || (isOfJob && owner !== by));
}

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

/** The verdict that a debit or a payment was noted for before, whatever output that is of; null where there is none. */
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

/** Whether a key holds a price, since that moment or later, for an output that is not noted yet. */
export async function holdsForOutput(db: Database, keyId: string, since: Date): Promise<boolean> {
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
