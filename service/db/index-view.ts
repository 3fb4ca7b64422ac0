import { sql } from "drizzle-orm";

type IndexView = "block" | "job" | "oracle_score" | "oracle_root" | "sanctions_change" | "verdict_event";

/** A view of the index, qualified. */
export function viewOf(chainId: number, view: IndexView) {
  return sql`${sql.identifier(`chain_${chainId}`)}.${sql.identifier(view)}`;
}
