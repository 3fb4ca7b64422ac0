import { and, eq, lte, sql } from "drizzle-orm";
import { escapeIdentifier } from "pg";
import { agentAccount } from "./agent-account.ts";
import { holdChain } from "./chain-fence.ts";
import type { Database } from "./database.ts";
import { type EndpointKind, type ProbeOutcome, probe, probeSchedule } from "./tables/infrastructure.ts";

/** An endpoint whose visit is due. */
export type DueEndpoint = {
  readonly endpoint: string;
  readonly kind: EndpointKind;
  /** Whose turn the visit takes. */
  readonly account: string;
  /** First of the failed visits in a row; null where the last one was answered, or none was made. */
  readonly failingSince: Date | null;
  /** Whether it answered the last visit, as far as one was made. */
  readonly isProven: boolean;
  /** Quarter hours between the last visit and this one. */
  readonly quarters: number;
};

/** The join of all documents may take longer than a request is allowed. */
const SYNC_TIMEOUT_MS = 120_000;
const PRUNE_BATCH = 10_000;

/**
 * Schedules every http(s) endpoint that an agent of the index declares, once for each kind that it is declared as, new ones for `now`; endpoints that none
 * declares any more leave the schedule, and the rest keep their time. One that several accounts declare takes the turns of
 * the account with the fewest endpoints: nobody slows another's down by declaring it too. Returns how many there are.
 */
export async function syncSchedule(db: Database, chainId: number, now: Date): Promise<number> {
  const agents = sql.raw(`${escapeIdentifier(`chain_${chainId}`)}.agent`);
  const account = sql.raw(agentAccount(chainId));
  return db.transaction(async (tx) => {
    await holdChain(tx, chainId);
    await tx.execute(sql.raw(`set local statement_timeout = ${SYNC_TIMEOUT_MS}`));
    const { rows } = await tx.execute<{ scheduled: number }>(sql`
      with spoken as (
        select s.endpoint, ${account} as account,
               case when lower(s.name) in ('a2a', 'mcp', 'x402') then lower(s.name) else 'other' end as kind
        from ahs.agent_document d
        join ${agents} a on a.agent_id = d.agent_id
        cross join lateral jsonb_to_recordset(d.services) as s (name text, endpoint text)
        where d.chain_id = ${chainId} and s.endpoint ~* '^https?:'
      ), crowd as (
        select account, count(distinct endpoint) as size from spoken group by account
      ), declared as (
        select endpoint, kind, (array_agg(account order by size, account))[1] as account
        from spoken join crowd using (account) group by endpoint, kind
      ), dropped as (
        delete from ahs.probe_schedule p
        where p.chain_id = ${chainId} and not exists (
          select from declared where declared.endpoint = p.endpoint and declared.kind = p.kind)
      ), added as (
        insert into ahs.probe_schedule (chain_id, endpoint, kind, account, next_at)
        select ${chainId}::integer, endpoint, kind, account, ${now}::timestamptz from declared
        on conflict (chain_id, endpoint, kind) do update set account = excluded.account
          where probe_schedule.account <> excluded.account
      )
      select count(*)::int as scheduled from declared`);
    return Number(rows[0]?.scheduled);
  });
}

/**
 * Endpoints whose time has come: the most overdue of each account before the second of any, likewise of each host, and at
 * most so many of one. Accounts whose turn it is stand in any order, since the most overdue are those with too many. Of those that
 * failed last, or never answered, there are at most so many: a crowd of them leaves room for the others.
 */
export async function readDueEndpoints(
  db: Database,
  query: {
    readonly chainId: number;
    readonly now: Date;
    readonly perAccount: number;
    readonly perHost: number;
    readonly unproven: number;
    readonly limit: number;
  },
): Promise<readonly DueEndpoint[]> {
  const { chainId, now, perAccount, perHost, unproven, limit } = query;
  const { rows } = await db.$client.query<DueEndpoint>(
    `with turns as (
       select endpoint, kind, account, failing_since, quarters, random() as lot,
              answered and failing_since is null as proven,
              row_number() over (partition by account order by next_at, endpoint) as turn
       from ahs.probe_schedule where chain_id = $1 and next_at <= $2
     ), places as (
       select *, row_number() over (
         partition by lower(substring(endpoint from '://([^/?#]*)')) order by turn, lot
       ) as place
       from turns where turn <= $3
     ), ranks as (
       select *, row_number() over (partition by proven order by greatest(turn, place), lot) as rank
       from places where place <= $4
     )
     select endpoint, kind, account, failing_since as "failingSince", proven as "isProven", quarters
     from ranks where proven or rank <= $5 order by greatest(turn, place), lot limit $6`,
    [chainId, now, perAccount, perHost, unproven, limit],
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
  readonly kind: EndpointKind;
  readonly at: Date;
  readonly outcome: ProbeOutcome;
  readonly status: number | null;
  readonly latencyMs: number | null;
  readonly valid: boolean | null;
  readonly detail: string | null;
  /** Quarter hours that the visit stands for. */
  readonly quarters: number;
  readonly next: {
    readonly nextAt: Date;
    readonly failingSince: Date | null;
    readonly quarters: number;
  };
};

/** Stores a visit and when the next one is, together; an endpoint that left the schedule meanwhile stays out of it. */
export async function storeProbe(db: Database, { next, ...visit }: ProbeWrite): Promise<void> {
  const { chainId, endpoint, kind } = visit;
  const answered = visit.outcome === "ok" ? { answered: true } : {};
  await db.transaction(async (tx) => {
    await holdChain(tx, chainId);
    await tx.insert(probe).values(visit);
    await tx
      .update(probeSchedule)
      .set({ ...next, ...answered })
      .where(
        and(
          eq(probeSchedule.chainId, chainId),
          eq(probeSchedule.endpoint, endpoint),
          eq(probeSchedule.kind, kind),
        ),
      );
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
