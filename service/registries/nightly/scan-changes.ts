import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Database } from "../../db/database.ts";
import type { GradeMove } from "../../db/tables/scan-report.ts";
import type { Grade } from "../../model/score/record.ts";
import { agentBatches } from "../documents/agent-documents.ts";

/** How many grades moved, and the first hundred of them by wallet. */
export type GradeMoves = { readonly count: number; readonly first: readonly GradeMove[] };

const MOVES_SHOWN = 100;

/**
 * Compares the grade of every wallet with the one that the scan before left here, and leaves the present ones for the next,
 * in one statement: whatever moves meanwhile is the next one's.
 */
export async function takeGradeMoves(tx: NodePgDatabase, chainId: number): Promise<GradeMoves> {
  const { rows } = await tx.execute<{
    wallet: string;
    before: Grade | null;
    after: Grade | null;
    count: number;
  }>(sql`
    with compared as (
      select wallet, g.grade as before, c.grade as after, g.wallet is null as is_new, c.wallet is null as is_gone
      from (select wallet, grade from ahs.current_score where chain_id = ${chainId}) c
      full join (select wallet, grade from ahs.scan_grade where chain_id = ${chainId}) g using (wallet)
      where g.wallet is null or c.wallet is null or c.grade is distinct from g.grade
    ), dropped as (
      delete from ahs.scan_grade s using compared m
      where m.is_gone and s.chain_id = ${chainId} and s.wallet = m.wallet
    ), kept as (
      insert into ahs.scan_grade (chain_id, wallet, grade)
      select ${chainId}, wallet, after from compared where not is_gone
      on conflict (chain_id, wallet) do update set grade = excluded.grade
    )
    select wallet, before, after, count(*) over ()::int as count from compared
    where before is distinct from after order by wallet limit ${MOVES_SHOWN}`);
  return {
    count: rows[0]?.count ?? 0,
    first: rows.map(({ wallet, before, after }) => ({ wallet, from: before, to: after })),
  };
}

/**
 * Has documents that no scan has found before be compared with what they say now, a batch of agents at a time. Throws the
 * signal's reason between two batches when it fires.
 */
export async function markNewDocuments(db: Database, chainId: number, signal: AbortSignal): Promise<void> {
  for await (const { above, upTo } of agentBatches(db, chainId, signal)) {
    await db.$client.query(
      `update ahs.agent_document set scanned_hash = content_hash
       where chain_id = $1 and agent_id > $2::numeric and agent_id <= $3::numeric
         and scanned_hash is null and content_hash is not null`,
      [chainId, above, upTo],
    );
  }
}

/**
 * How many documents have another content than at the scan before, and leaves the present ones for the next; one that was
 * never read before is none of them. `markNewDocuments` spares it the writing of those.
 */
export async function takeChangedDocuments(tx: NodePgDatabase, chainId: number): Promise<number> {
  const { rows } = await tx.execute<{ changed: number }>(sql`
    with compared as (
      select agent_id, content_hash, scanned_hash from ahs.agent_document
      where chain_id = ${chainId} and content_hash is not null and content_hash is distinct from scanned_hash
    ), kept as (
      update ahs.agent_document d set scanned_hash = c.content_hash
      from compared c where d.chain_id = ${chainId} and d.agent_id = c.agent_id
    )
    select count(*) filter (where scanned_hash is not null)::int as changed from compared`);
  return Number(rows[0]?.changed);
}
