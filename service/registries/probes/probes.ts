import { and, eq, lte, ne, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { escapeIdentifier } from "pg";
import type { Address } from "viem";
import { holdChain } from "../../db/chain-fence.ts";
import type { Database } from "../../db/database.ts";
import { type EndpointKind, probe, probeSchedule } from "../../db/tables/infrastructure.ts";
import { registrableDomain } from "../../net/registrable-domain.ts";
import { agentAccount } from "../documents/agent-documents.ts";
import type { ProbeResult } from "./probe-endpoint.ts";

/**
 * An endpoint whose visit is due. `account` names whose turn the visit takes; `isProven`: it answered the last visit, as far as one
 * was made.
 */
export type DueEndpoint = Pick<
  typeof probeSchedule.$inferSelect,
  "endpoint" | "kind" | "account" | "failingSince" | "quarters"
> & { readonly isProven: boolean };

type ScheduleBounds = {
  /** Most endpoints of one registrable domain that are visited in a quarter of an hour. */
  readonly perDomain: number;
  /** How many of them keep their place as long as they answer; the others of the domain take turns in the rest. */
  readonly keptPerDomain: number;
  /** Most endpoints of one account, and of the chain. */
  readonly perAccount: number;
  readonly perChain: number;
};

/**
 * Four visits at once, of ten seconds at most, make 360 in a quarter of an hour: 256 places of a domain are served in time even
 * if all hang. 64 at once make 100,000 visits of half a second.
 */
const scheduleBounds: ScheduleBounds = {
  perDomain: 256,
  keptPerDomain: 192,
  perAccount: 1_024,
  perChain: 100_000,
};

/** The join of all documents may take longer than a request is allowed. */
const SYNC_TIMEOUT_MS = 120_000;
const PRUNE_BATCH = 10_000;
const DOMAIN_BATCH = 10_000;
const CROWDED_SHOWN = 5;

/**
 * Schedules the http(s) endpoints that agents of the index and of further registries declare, once for each declared kind; new ones for
 * `now`. Undeclared endpoints leave the schedule, the others keep their time. An endpoint of several accounts uses the turns of the account
 * with the fewest endpoints, so no account slows down another. Beyond the bounds, endpoints that have answered come first, then the first
 * endpoint of each account, then older ones; `leftOut` counts the others by the bound that they are beyond.
 */
export async function syncSchedule(
  db: Database,
  { chainId, registries }: { readonly chainId: number; readonly registries: readonly Address[] },
  now: Date,
  bounds: ScheduleBounds = scheduleBounds,
) {
  return db.transaction(async (tx) => {
    await holdChain(tx, chainId);
    await tx.execute(sql.raw(`set local statement_timeout = ${SYNC_TIMEOUT_MS}`));
    const { account, chain } = await scheduleDeclared(tx, { chainId, registries, now, bounds });
    await nameDomains(tx, chainId);
    await assignPlaces(tx, { chainId, now, bounds });
    const { visited, domain, crowdedDomains } = await countPlaces(tx, chainId);
    return { visited, leftOut: { domain, account, chain }, crowdedDomains };
  });
}

async function scheduleDeclared(
  tx: NodePgDatabase,
  {
    chainId,
    registries,
    now,
    bounds,
  }: {
    readonly chainId: number;
    readonly registries: readonly Address[];
    readonly now: Date;
    readonly bounds: ScheduleBounds;
  },
) {
  const agents = sql.raw(`${escapeIdentifier(`chain_${chainId}`)}.agent`);
  const { rows } = await tx.execute<{ account: number; chain: number }>(sql`
    with spoken as (
      select s.endpoint, d.agent_id, d.account,
             case when lower(s.name) in ('a2a', 'mcp', 'x402') then lower(s.name) else 'other' end as kind
      from (
        select d.agent_id, d.services, ${sql.raw(agentAccount(chainId))} as account from ahs.agent_document d
        join ${agents} a on a.agent_id = d.agent_id where d.chain_id = ${chainId}
        union all
        select agent_id, services, wallet from ahs.registry_agent
        where chain_id = ${chainId} and registry = any(${sql.param(registries)}::text[]) and wallet is not null
      ) d
      cross join lateral jsonb_to_recordset(d.services) as s (name text, endpoint text)
      where s.endpoint ~* '^https?:'
    ), crowd as (
      select account, count(distinct endpoint) as size from spoken group by account
    ), declared as (
      select endpoint, kind, (array_agg(account order by size, account))[1] as account, min(agent_id) as agent_id
      from spoken join crowd using (account) group by endpoint, kind
    ), turns as (
      select d.*, p.answered is true as answered, row_number() over (
        partition by d.account order by p.answered is true desc, p.declared_at nulls last, d.agent_id, endpoint, kind
      ) as turn
      from declared d left join (
        select endpoint, kind, answered, declared_at from ahs.probe_schedule where chain_id = ${chainId}
      ) p using (endpoint, kind)
    ), ranks as (
      select *, row_number() over (order by answered desc, turn, agent_id, endpoint, kind) as rank
      from turns where turn <= ${bounds.perAccount}
    ), chosen as materialized (
      select * from ranks where rank <= ${bounds.perChain}
    ), dropped as (
      delete from ahs.probe_schedule p
      where p.chain_id = ${chainId} and not exists (
        select from chosen where chosen.endpoint = p.endpoint and chosen.kind = p.kind)
    ), added as (
      insert into ahs.probe_schedule (chain_id, endpoint, kind, account, next_at, declared_at)
      select ${chainId}::integer, endpoint, kind, account, ${now}::timestamptz, ${now}::timestamptz from chosen
      on conflict (chain_id, endpoint, kind) do update set account = excluded.account
        where probe_schedule.account <> excluded.account
    )
    select (select count(*) from turns where turn > ${bounds.perAccount})::int as account,
      (select count(*) from ranks where rank > ${bounds.perChain})::int as chain`);
  return { account: Number(rows[0]?.account), chain: Number(rows[0]?.chain) };
}

/** The list of public suffixes is no matter of SQL. */
async function nameDomains(tx: NodePgDatabase, chainId: number): Promise<void> {
  for (;;) {
    const { rows } = await tx.execute<{ endpoint: string }>(sql`
      select distinct endpoint from ahs.probe_schedule
      where chain_id = ${chainId} and domain is null limit ${DOMAIN_BATCH}`);
    if (rows.length === 0) return;
    const named = rows.map(({ endpoint }) => ({ endpoint, domain: registrableDomain(endpoint) }));
    await tx.execute(sql`
      update ahs.probe_schedule p set domain = r.domain
      from jsonb_to_recordset(${JSON.stringify(named)}::jsonb) as r (endpoint text, domain text)
      where p.chain_id = ${chainId} and p.endpoint = r.endpoint`);
  }
}

/**
 * In a domain with too many endpoints, the oldest answering ones have fixed places; an endpoint that failed for a week
 * has none.
 * The others draw lots for the remaining places, the first of each account first, again at each round until the visit.
 * A place is then taken for a quarter of an hour, so there are no more visits than places.
 */
async function assignPlaces(
  tx: NodePgDatabase,
  { chainId, now, bounds }: Omit<Parameters<typeof scheduleDeclared>[1], "registries">,
): Promise<void> {
  const at = sql`${now.toISOString()}::timestamptz`;
  await tx.execute(sql`
    with crowded as (
      select domain, count(*) as size from ahs.probe_schedule where chain_id = ${chainId}
      group by domain having count(*) > ${bounds.perDomain} or bool_or(place <> 'kept')
    ), known as (
      select *, answered and coalesce(failing_since > ${at} - interval '7 days', true) as answers,
        next_at > ${at} + (quarters - 1) * interval '15 minutes' as is_taken
      from ahs.probe_schedule join crowded using (domain) where chain_id = ${chainId}
    ), ranks as (
      select *, size <= ${bounds.perDomain} or answers and row_number() over (
        partition by domain, answers order by declared_at, endpoint, kind) <= ${bounds.keptPerDomain} as is_kept
      from known
    ), turns as (
      select *, row_number() over (
        partition by domain, account order by is_kept desc, is_taken desc, next_at, endpoint, kind) as turn
      from ranks
    ), lots as (
      select *, row_number() over (
        partition by domain order by is_kept desc, is_taken desc, next_at <= ${at} desc, turn, random()) as lot
      from turns
    ), places as (
      select endpoint, kind, case when is_kept then 'kept'
        when lot <= ${bounds.perDomain} and next_at <= ${at} then 'turn' else 'none' end as place
      from lots
    )
    update ahs.probe_schedule p set place = places.place from places
    where p.chain_id = ${chainId} and p.endpoint = places.endpoint and p.kind = places.kind
      and p.place <> places.place`);
}

async function countPlaces(tx: NodePgDatabase, chainId: number) {
  const { rows } = await tx.execute<{ domain: string; visited: number; leftOut: number }>(sql`
    select domain, count(*) filter (where place <> 'none')::int as visited,
      count(*) filter (where place = 'none')::int as "leftOut"
    from ahs.probe_schedule where chain_id = ${chainId} group by domain`);
  const crowded = rows.filter(({ leftOut }) => leftOut > 0).toSorted((a, b) => b.leftOut - a.leftOut);
  return {
    visited: rows.reduce((sum, { visited }) => sum + visited, 0),
    domain: crowded.reduce((sum, { leftOut }) => sum + leftOut, 0),
    crowdedDomains: crowded.slice(0, CROWDED_SHOWN).map(({ domain }) => domain),
  };
}

/**
 * Returns due endpoints: the most overdue of each account before the second of any, likewise of each domain, with a
 * bound for each. Accounts that are due come in random order, since the largest are the most overdue.
 * Endpoints that failed last or never answered have a bound as well, which leaves room for the others.
 */
export async function readDueEndpoints(
  db: Database,
  query: {
    readonly chainId: number;
    readonly now: Date;
    readonly perAccount: number;
    readonly perDomain: number;
    readonly unproven: number;
    readonly limit: number;
  },
): Promise<readonly DueEndpoint[]> {
  const { chainId, now, perAccount, perDomain, unproven, limit } = query;
  const { rows } = await db.$client.query<DueEndpoint>(
    `with turns as (
       select endpoint, kind, account, domain, failing_since, quarters, random() as lot,
              answered and failing_since is null as proven,
              row_number() over (partition by account order by next_at, endpoint) as turn
       from ahs.probe_schedule where chain_id = $1 and next_at <= $2 and place <> 'none'
     ), places as (
       select *, row_number() over (partition by domain order by turn, lot) as place
       from turns where turn <= $3
     ), ranks as (
       select *, row_number() over (partition by proven order by greatest(turn, place), lot) as rank
       from places where place <= $4
     )
     select endpoint, kind, account, failing_since as "failingSince", proven as "isProven", quarters
     from ranks where proven or rank <= $5 order by greatest(turn, place), lot limit $6`,
    [chainId, now, perAccount, perDomain, unproven, limit],
  );
  return rows;
}

/** Seconds that the most overdue endpoint with a place waits; zero while none is due. */
export async function readProbeLag(db: Database, chainId: number, now: Date): Promise<number> {
  const rows = await db
    .select({ seconds: sql<number | null>`extract(epoch from ${now}::timestamptz - min(next_at))::float8` })
    .from(probeSchedule)
    .where(
      and(
        eq(probeSchedule.chainId, chainId),
        lte(probeSchedule.nextAt, now),
        ne(probeSchedule.place, "none"),
      ),
    );
  // No row is due.
  return rows[0]?.seconds ?? 0;
}

/** Stores a visit and when the next one is, and ends its turn, together; an endpoint that left the schedule meanwhile stays out of it. */
export async function storeProbe(
  db: Database,
  {
    next,
    ...visit
  }: ProbeResult & {
    readonly chainId: number;
    readonly endpoint: string;
    readonly kind: EndpointKind;
    readonly at: Date;
    /** Quarter hours that the visit counts for. */
    readonly quarters: number;
    readonly next: Pick<typeof probeSchedule.$inferSelect, "nextAt" | "failingSince" | "quarters">;
  },
): Promise<void> {
  const { chainId, endpoint, kind } = visit;
  const answered = visit.outcome === "ok" ? { answered: true } : {};
  await db.transaction(async (tx) => {
    await holdChain(tx, chainId);
    await tx.insert(probe).values(visit);
    await tx
      .update(probeSchedule)
      .set({ ...next, ...answered, place: sql`case place when 'turn' then 'none' else place end` })
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
    // Rows are numbered in the order of their time, but for those that ran at once: the oldest come first in the key.
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
