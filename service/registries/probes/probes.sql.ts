import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { alias } from "drizzle-orm/pg-core";
import type { Address } from "viem";
import type { Database } from "../../db/database.ts";
import { indexOf } from "../../db/index-tables.ts";
import { toQuery } from "../../db/statement.ts";
import type { probeSchedule } from "../../db/tables/infrastructure.ts";
import { agentAccount } from "../documents/due-agents.sql.ts";

// No bench row measures these; the builder has no lateral join of JSON and no writes in a CTE, and names each column
// again in each CTE.

export type ScheduleBounds = {
  /** Most endpoints of one registrable domain that are visited in a quarter of an hour. */
  readonly perDomain: number;
  /** How many of them keep their place as long as they answer; the others of the domain take turns in the rest. */
  readonly fixedPerDomain: number;
  /** Most endpoints of one account, and of the chain. */
  readonly perAccount: number;
  readonly perChain: number;
};

type Schedule = {
  readonly chainId: number;
  readonly now: Date;
  readonly bounds: ScheduleBounds;
};

/** Schedules what is declared, up to the bounds; returns how many endpoints are beyond each bound. */
export async function scheduleDeclared(
  tx: NodePgDatabase,
  { chainId, registries, now, bounds }: Schedule & { readonly registries: readonly Address[] },
) {
  const { agent } = indexOf(chainId);
  const a = alias(agent, "a");
  const { rows } = await tx.execute<{ account: number; chain: number }>(sql`
    with spoken as (
      select s.endpoint, d.agent_id, d.account,
             case when lower(s.name) in ('a2a', 'mcp', 'x402') then lower(s.name) else 'other' end as kind
      from (
        select d.agent_id, d.services, ${agentAccount(chainId)} as account from ahs.agent_document d
        join ${agent} ${a} on ${a.agentId} = d.agent_id where d.chain_id = ${chainId}
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

/** Stores the registrable domains of endpoints. */
export async function storeDomains(
  tx: NodePgDatabase,
  chainId: number,
  named: readonly { readonly endpoint: string; readonly domain: string }[],
): Promise<void> {
  await tx.execute(sql`
    update ahs.probe_schedule p set domain = r.domain
    from jsonb_to_recordset(${JSON.stringify(named)}::jsonb) as r (endpoint text, domain text)
    where p.chain_id = ${chainId} and p.endpoint = r.endpoint`);
}

/**
 * In a domain with too many endpoints, the oldest answering ones have fixed places; an endpoint that failed for a week
 * has none.
 * The others draw lots for the remaining places, the first of each account first, again at each round until the visit.
 * A place is then taken for a quarter of an hour, so there are no more visits than places.
 */
export async function assignPlaces(tx: NodePgDatabase, { chainId, now, bounds }: Schedule): Promise<void> {
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
        partition by domain, answers order by declared_at, endpoint, kind) <= ${bounds.fixedPerDomain} as is_kept
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

/**
 * An endpoint whose visit is due. `account` names whose turn the visit takes; `isProven`: it answered the last visit, as far as one
 * was made.
 */
export type DueEndpoint = Pick<
  typeof probeSchedule.$inferSelect,
  "endpoint" | "kind" | "account" | "failingSince" | "quarters"
> & { readonly isProven: boolean };

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
    toQuery(sql`with turns as (
       select endpoint, kind, account, domain, failing_since, quarters, random() as lot,
              answered and failing_since is null as proven,
              row_number() over (partition by account order by next_at, endpoint) as turn
       from ahs.probe_schedule where chain_id = ${chainId} and next_at <= ${now} and place <> 'none'
     ), places as (
       select *, row_number() over (partition by domain order by turn, lot) as place
       from turns where turn <= ${perAccount}
     ), ranks as (
       select *, row_number() over (partition by proven order by greatest(turn, place), lot) as rank
       from places where place <= ${perDomain}
     )
     select endpoint, kind, account, failing_since as "failingSince", proven as "isProven", quarters
     from ranks where proven or rank <= ${unproven} order by greatest(turn, place), lot limit ${limit}`),
  );
  return rows;
}
