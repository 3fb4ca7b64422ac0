import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address } from "viem";
import { insertRows } from "../../db/insert-rows.ts";
import type { accountFact } from "../../db/tables/enrich.ts";
import { takeOffPending } from "./pending-facts.ts";

/**
 * Stores facts of contracts that own calls created, all of one chain, whatever a source had told of them before; answers how
 * many were told anew.
 */
export async function storeCreations(
  tx: NodePgDatabase,
  creations: readonly (typeof accountFact.$inferInsert)[],
): Promise<number> {
  const [first] = creations;
  if (first === undefined) return 0;
  const { count } = await insertRows(tx, {
    table: "account_fact",
    rows: creations,
    end: sql`on conflict (chain_id, address) do update set
      has_code = true, creator = excluded.creator,
      existed_block = least(account_fact.existed_block, excluded.existed_block),
      existed_at = least(account_fact.existed_at, excluded.existed_at),
      source = excluded.source, read_block = greatest(account_fact.read_block, excluded.read_block)
      where account_fact.has_code is not true or account_fact.creator is distinct from excluded.creator`,
  });
  const known = creations.map(({ address }) => address as Address);
  await takeOffPending(tx, first.chainId, known);
  return count;
}
