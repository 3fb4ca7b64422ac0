import { sql } from "drizzle-orm";
import type { Database } from "../../db/database.ts";

/** Rows of one statement, so that none runs into its time limit. */
const BATCH = 5_000;

/** Deletes some transfers that are kept no longer, as of a moment in Unix seconds of chain time; answers how many, and whether more are due. */
export async function dropClaimedTransfers(
  db: Database,
  { chainId, now }: { readonly chainId: number; readonly now: number },
): Promise<{ readonly dropped: number; readonly more: boolean }> {
  const { rowCount } = await db.execute(sql`
    delete from ahs.enrich_transfer where (chain_id, block, log_index, item) in (
      select chain_id, block, log_index, item from ahs.enrich_transfer
      where chain_id = ${chainId} and kept_until < ${now} order by kept_until limit ${BATCH})`);
  const dropped = rowCount ?? 0;
  return { dropped, more: dropped === BATCH };
}
