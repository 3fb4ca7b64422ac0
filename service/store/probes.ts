import { and, eq, lte, sql } from "drizzle-orm";
import { escapeIdentifier } from "pg";
import { holdChain } from "./chain-fence.ts";
import type { Database } from "./database.ts";
import { type EndpointKind, type ProbeOutcome, probe, probeSchedule } from "./tables/infrastructure.ts";

/** An endpoint whose visit is due. */
export type DueEndpoint = { readonly endpoint: string; readonly kind: EndpointKind };

/** The join of all documents may take longer than a request is allowed. */
const SYNC_TIMEOUT_MS = 120_000;
const PRUNE_BATCH = 10_000;

/**
 * Schedules every http(s) endpoint that an agent of the index declares, each once, new ones for `now`; endpoints that none
 * declares any more leave the schedule, and the rest keep their time. Returns how many there are.
 */
export async function syncSchedule(db: Database, chainId: number, now: Date): Promise<number> {
  const agents = sql.raw(`${escapeIdentifier(`chain_${chainId}`)}.agent`);
  return db.transaction(async (tx) => {
    await holdChain(tx, chainId);
    await tx.execute(sql.raw(`set local statement_timeout = ${SYNC_TIMEOUT_MS}`));
    const { rows } = await tx.execute<{ scheduled: number }>(sql`
      with spoken as (
        select s.endpoint,
               case when lower(s.name) in ('a2a', 'mcp', 'x402') then lower(s.name) else 'other' end as kind
        from ahs.agent_document d
        join ${agents} a on a.agent_id = d.agent_id
        cross join lateral jsonb_to_recordset(d.services) as s (name text, endpoint text)
        where d.chain_id = ${chainId} and s.endpoint ~* '^https?:'
      ), declared as (
        select endpoint, case when count(distinct kind) = 1 then min(kind) else 'other' end as kind
        from spoken group by endpoint
      ), dropped as (
        delete from ahs.probe_schedule p
        where p.chain_id = ${chainId} and not exists (select from declared where declared.endpoint = p.endpoint)
      ), added as (
        insert into ahs.probe_schedule (chain_id, endpoint, kind, next_at)
        select ${chainId}::integer, endpoint, kind, ${now}::timestamptz from declared
        on conflict (chain_id, endpoint) do update set kind = excluded.kind
          where probe_schedule.kind <> excluded.kind
      )
      select count(*)::int as scheduled from declared`);
    return Number(rows[0]?.scheduled);
  });
}

/** Endpoints whose time has come: the most overdue of each host before the second of any, and at most so many of one. */
export async function readDueEndpoints(
  db: Database,
  query: {
    readonly chainId: number;
    readonly now: Date;
    readonly perHost: number;
    readonly limit: number;
  },
): Promise<readonly DueEndpoint[]> {
  const { rows } = await db.$client.query<DueEndpoint>(
    `select endpoint, kind from (
       select endpoint, kind, next_at, row_number() over (
         partition by lower(substring(endpoint from '://([^/?#]*)')) order by next_at, endpoint
       ) as place
       from ahs.probe_schedule where chain_id = $1 and next_at <= $2
     ) as due where place <= $3 order by place, next_at, endpoint limit $4`,
    [query.chainId, query.now, query.perHost, query.limit],
  );
  return rows;
}

/** Seconds that the most overdue endpoint waits; zero while none is due. */
export async function readProbeLag(db: Database, chainId: number, now: Date): Promise<number> {
  const rows = await db
    .select({ seconds: sql<number | null>`extract(epoch from ${now}::timestamptz - min(next_at))::float8` })
    .from(probeSchedule)
    .where(and(eq(probeSchedule.chainId, chainId), lte(probeSchedule.nextAt, now)));
  // No row is due: nobody waits.
  return rows[0]?.seconds ?? 0;
}

export type ProbeWrite = {
  readonly chainId: number;
  readonly endpoint: string;
  readonly at: Date;
  readonly outcome: ProbeOutcome;
  readonly status: number | null;
  readonly latencyMs: number | null;
  readonly valid: boolean | null;
  readonly detail: string | null;
  readonly nextAt: Date;
};

/** Stores a visit and when the next one is, together; an endpoint that left the schedule meanwhile stays out of it. */
export async function storeProbe(db: Database, { nextAt, ...visit }: ProbeWrite): Promise<void> {
  const { chainId, endpoint } = visit;
  await db.transaction(async (tx) => {
    await holdChain(tx, chainId);
    await tx.insert(probe).values(visit);
    await tx
      .update(probeSchedule)
      .set({ nextAt })
      .where(and(eq(probeSchedule.chainId, chainId), eq(probeSchedule.endpoint, endpoint)));
  });
}

/** Deletes the visits before a moment, oldest first and a batch at a time; returns how many. */
export async function pruneProbes(db: Database, chainId: number, before: Date): Promise<number> {
  let pruned = 0;
  for (;;) {
    // Rows are numbered in the order of their time, but for those that ran at once: the oldest stand first in the key.
    const { rowCount } = await db.$client.query(
      `delete from ahs.probe where id in (
         select id from (select id, at from ahs.probe where chain_id = $1 order by id limit $3) as oldest
         where at < $2
       )`,
      [chainId, before, PRUNE_BATCH],
    );
    pruned += rowCount ?? 0;
    if (rowCount !== PRUNE_BATCH) return pruned;
  }
}
