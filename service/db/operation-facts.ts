import type { Pool } from "pg";
import { knownMigrations, readApplied } from "./database.ts";
import { ROLES, type RoleName, TABLE_RIGHTS } from "./role-rights.ts";

/** A connection for operators' questions, in statements that change nothing. */
type Asked = Pick<Pool, "query">;

export type ServerFacts = Awaited<ReturnType<typeof readServerFacts>>;

/** Who answers, its version as 180000, and how far the schema `ahs` is. */
export async function readServerFacts(client: Asked) {
  const { rows } = await client.query<{ version: number; user: string }>(
    `select current_setting('server_version_num')::int as version, current_user as user`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error("the database answers nothing");
  const applied = await readApplied(client);
  return { ...row, migrations: { applied: applied.length, known: knownMigrations() } };
}

/** Size and connections of the database, and its folder where the user may know it. */
export type DatabaseUse = {
  readonly bytes: number;
  readonly connections: number;
  readonly maxConnections: number;
  readonly folder: string | null;
};

export async function readDatabaseUse(client: Asked): Promise<DatabaseUse> {
  const { rows } = await client.query<DatabaseUse>(
    `select pg_database_size(current_database())::float8 as bytes,
       (select sum(numbackends)::int from pg_stat_database) as connections,
       current_setting('max_connections')::int as "maxConnections",
       (select setting from pg_settings where name = 'data_directory') as folder`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error("the database answers nothing");
  return row;
}

/** Callers by key or wallet whose last call of the last minute was counted, and those of them that were refused it for their rate. */
export async function countCallers(
  client: Asked,
): Promise<{ readonly active: number; readonly limited: number }> {
  const { rows } = await client.query<{ active: number; limited: number }>(
    `select count(*)::int as active, count(*) filter (where granted = 0)::int as limited from ahs.rate_bucket
     where updated_at > clock_timestamp() - interval '1 minute'
       and (starts_with(identity, 'key:') or starts_with(identity, 'wallet:'))`,
  );
  return rows[0] ?? { active: 0, limited: 0 };
}

export type RoleFacts = {
  /** Which of our roles the cluster has, and which of them the user may act as. */
  readonly roles: readonly {
    readonly role: RoleName;
    readonly exists: boolean;
    readonly isMember: boolean;
  }[];
  /** Tables of which a role that exists lacks a right that it should have, as `role: table`. */
  readonly lacking: readonly string[];
  /** Roles that may store large objects, and so fill the disk. */
  readonly largeObjects: readonly string[];
  /** Whether the user may change every row: a superuser, or the owner of the tables. */
  readonly ownsAll: boolean;
};

/** Reads the rights of the processes' roles; the schema `ahs` must exist. */
export async function readRoleFacts(client: Asked): Promise<RoleFacts> {
  const { rows: roles } = await client.query<{ role: RoleName; exists: boolean; isMember: boolean }>(
    `select wanted.role, r.oid is not null as exists,
       coalesce(pg_has_role(current_user, r.oid, 'member'), false) as "isMember"
     from unnest($1::text[]) as wanted(role) left join pg_roles r on r.rolname = wanted.role`,
    [[...ROLES]],
  );
  const wanted = roles.filter(({ exists }) => exists).flatMap(({ role }) => rightsOf(role));
  const { rows: lacking } = await client.query<{ role: string; table: string }>(
    `select distinct role, "table" from unnest($1::text[], $2::text[], $3::text[]) as w(role, "table", wanted)
     where not case
       when to_regclass('ahs.' || "table") is null then false
       when wanted in ('select', 'insert', 'update') then has_any_column_privilege(role, 'ahs.' || "table", wanted)
       else has_table_privilege(role, 'ahs.' || "table", wanted) end
     order by role, "table"`,
    [wanted.map(({ role }) => role), wanted.map(({ table }) => table), wanted.map(({ right }) => right)],
  );
  const { rows: largeObjects } = await client.query<{ role: string }>(
    `select role from unnest($1::text[]) as w(role)
     where has_function_privilege(role, 'pg_catalog.lo_from_bytea(oid, bytea)', 'execute') order by role`,
    [roles.filter(({ exists }) => exists).map(({ role }) => role)],
  );
  const { rows: owner } = await client.query<{ owns: boolean }>(
    `select bool_and(pg_has_role(current_user, tableowner, 'usage')) as owns from pg_tables where schemaname = 'ahs'`,
  );
  return {
    roles,
    lacking: lacking.map(({ role, table }) => `${role}: ${table}`),
    largeObjects: largeObjects.map(({ role }) => role),
    ownsAll: owner[0]?.owns === true,
  };
}

/** `select (a, b), delete` as select and delete: of columns, one of them is enough here. */
function rightsOf(role: RoleName): { role: RoleName; table: string; right: string }[] {
  return Object.entries(TABLE_RIGHTS).flatMap(([table, rights]) => {
    const granted = rights[role] ?? "";
    const names = granted.replace(/\([^)]*\)/g, "").split(",");
    return names.flatMap((name) => (name.trim() === "" ? [] : [{ role, table, right: name.trim() }]));
  });
}

/** Work that waits: how much, and for how many seconds the longest due of it has been. */
export type QueueAge = { readonly waiting: number; readonly overdueSeconds: number };

/**
 * Counts, at a moment, the publications that the sender does not have yet, and the transactions that are in no block yet. A
 * postponed publication is not due before its time.
 */
export async function readChainQueues(
  client: Asked,
  { chainId, now }: { readonly chainId: number; readonly now: Date },
): Promise<{ readonly publish: QueueAge; readonly sender: QueueAge }> {
  const { rows } = await client.query<{ name: string; waiting: number; overdue: number }>(
    `select name, count(*)::int as waiting,
       greatest(0, coalesce(extract(epoch from $2::timestamptz - min(due)), 0))::float8 as overdue
     from (
       select 'publish' as name, greatest(created_at, not_before) as due from ahs.publish_intent
       where chain_id = $1 and state = 'pending'
       union all
       select 'sender', greatest(created_at, not_before) from ahs.sender_transaction
       where chain_id = $1 and state in ('queued', 'prepared', 'broadcast')
     ) waiting group by name`,
    [chainId, now],
  );
  const ageOf = (name: string): QueueAge => {
    const row = rows.find((one) => one.name === name);
    return { waiting: row?.waiting ?? 0, overdueSeconds: row?.overdue ?? 0 };
  };
  return { publish: ageOf("publish"), sender: ageOf("sender") };
}

/** A night, and the longest that a scan may take. */
const POSTPONED_AFTER_SECONDS = 30 * 3_600;

/**
 * How old the current scores of a chain are at a moment, in seconds since the block that they are as of; null without one.
 * `cut` counts wallets whose score covers their newest calls alone, see `WALLET_BOUNDS`; `postponed` followed ones with too little
 * history that the last night's scan left out.
 */
export async function readScoreAges(
  client: Asked,
  { chainId, now }: { readonly chainId: number; readonly now: Date },
) {
  const { rows } = await client.query<{
    wallets: number;
    median: number | null;
    oldest: number | null;
    cut: number;
    postponed: number;
  }>(
    `select count(*)::int as wallets, max(age)::float8 as oldest,
       percentile_cont(0.5) within group (order by age)::float8 as median,
       (select count(*)::int from ahs.current_score c join ahs.enrich_wallet using (chain_id, wallet)
        where chain_id = $1 and ahs_score is null and as_of_time < $2::timestamptz - make_interval(secs => $3)) as postponed,
       (select count(*)::int from ahs.score s join ahs.current_score c on c.score_id = s.id
        where s.chain_id = $1 and s.coverage ->> 'newestCallsOnly' = 'true') as cut
     from (
       select extract(epoch from $2::timestamptz - as_of_time) as age from ahs.current_score where chain_id = $1
     ) ages`,
    [chainId, now, POSTPONED_AFTER_SECONDS],
  );
  return rows[0] ?? { wallets: 0, median: null, oldest: null, cut: 0, postponed: 0 };
}

/** The last answer of a feed in US dollars; null where none is stored. */
export async function readFeedPrice(
  client: Asked,
  { chainId, feed }: { readonly chainId: number; readonly feed: string },
): Promise<number | null> {
  const { rows } = await client.query<{ usd: number }>(
    `select (answer / power(10::numeric, decimals))::float8 as usd from ahs.feed_price
     where chain_id = $1 and feed = lower($2) order by day desc limit 1`,
    [chainId, feed],
  );
  return rows[0]?.usd ?? null;
}
