import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";

/** Where the events of a verdict go. */
export type VerdictEndpoint = {
  readonly id: string;
  /** It was given up: nothing is delivered to it any more. */
  readonly isDisabled: boolean;
};

/**
 * The endpoint of a verdict; null where its output came without one. Other writers of the endpoint and its events wait until the
 * transaction ends.
 */
export async function takeVerdictEndpoint(
  tx: NodePgDatabase,
  verdictId: string,
): Promise<VerdictEndpoint | null> {
  const { rows } = await tx.execute<{ id: string; disabled: boolean }>(sql`
    select w.id, w.disabled_at is not null as disabled
    from ahs.verdict v join ahs.webhook_endpoint w on w.id = v.endpoint_id
    where v.id = ${verdictId} for no key update of w`);
  const [row] = rows;
  return row === undefined ? null : { id: row.id, isDisabled: row.disabled };
}
