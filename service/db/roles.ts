import type { ClientBase } from "pg";
import { LARGE_OBJECT_FUNCTIONS, ROLES, type RoleName, TABLE_RIGHTS } from "./role-rights.ts";

/** duplicate_object and unique_violation: another process made the role of the cluster meanwhile, from another database. */
const MADE_MEANWHILE = new Set(["42710", "23505"]);

/**
 * Makes the group roles that are missing, none of which can log in, and has the caller be a member of each, so that it can
 * hand over to them what it owns. Needs CREATEROLE; safe to run again, and while others run it from any database.
 */
export async function createRoles(client: ClientBase): Promise<void> {
  for (const role of ROLES) {
    await unlessMadeMeanwhile(async () => {
      if (!(await roleExists(client, role))) await client.query(`create role ${role} nologin`);
    });
    await unlessMadeMeanwhile(async () => {
      // A superuser is a member of every role as it is.
      const { rows } = await client.query("select pg_has_role(current_user, $1, 'usage') as is_member", [
        role,
      ]);
      if (rows[0]?.is_member !== true) await client.query(`grant ${role} to current_user`);
    });
  }
}

/**
 * Gives each role what role-rights.ts says, and nothing else, on the schema `ahs`, and hands schemas of the index over to
 * ahs_index. Nothing where the roles do not exist: then their owner alone has rights.
 */
export async function grantRights(client: ClientBase): Promise<void> {
  await client.query("begin");
  try {
    if (await haveAllRoles(client)) await grantToRoles(client);
    await client.query("commit");
  } catch (error) {
    await client.query("rollback");
    throw error;
  }
}

/** Makes the user that logs in for a role and has its rights alone, or gives it the password; needs CREATEROLE. */
export async function putLogin(
  client: ClientBase,
  { name, role, password }: { readonly name: string; readonly role: RoleName; readonly password: string },
): Promise<void> {
  const user = client.escapeIdentifier(name);
  if (!(await roleExists(client, name))) {
    await unlessMadeMeanwhile(() => client.query(`create role ${user} login`));
  }
  await client.query(`alter role ${user} with login password ${client.escapeLiteral(password)}`);
  await client.query(`grant ${role} to ${user}`);
  await client.query(`alter role ${user} set role = ${role}`);
  await client.query(`alter role ${user} set search_path = pg_catalog`);
}

/** Whether all of our roles exist in the cluster. */
async function haveAllRoles(client: ClientBase): Promise<boolean> {
  const { rowCount } = await client.query("select 1 from pg_roles where rolname = any($1)", [[...ROLES]]);
  return rowCount === ROLES.length;
}

async function roleExists(client: ClientBase, name: string): Promise<boolean> {
  const { rowCount } = await client.query("select 1 from pg_roles where rolname = $1", [name]);
  return rowCount !== 0;
}

async function unlessMadeMeanwhile(make: () => Promise<unknown>): Promise<void> {
  try {
    await make();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (!MADE_MEANWHILE.has(code)) throw error;
  }
}

async function grantToRoles(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ name: string }>("select current_database() as name");
  const database = client.escapeIdentifier(String(rows[0]?.name));
  const all = ROLES.join(", ");
  await client.query(`grant connect on database ${database} to ${all}`);
  // PostgreSQL lets every user fill temporary tables, until the disk is full.
  await client.query(`revoke temporary on database ${database} from public`);
  // The indexer makes a schema for each build; what Ponder's cache flushes goes through temporary tables.
  await client.query(`grant create, temporary on database ${database} to ahs_index`);
  await client.query(`grant usage on schema ahs to ${all}`);
  await client.query(`revoke all on all tables in schema ahs from ${all}`);
  for (const [table, rights] of Object.entries(TABLE_RIGHTS)) {
    for (const role of ROLES) {
      const granted = rights[role];
      if (granted !== undefined) await client.query(`grant ${granted} on ahs.${table} to ${role}`);
    }
  }
  await withholdLargeObjects(client);
  await putPolicies(client);
  await handOverIndex(client);
  await grantViews(client);
}

/** Takes the functions of large objects from every role. PostgreSQL lets only a superuser do that: docs/database.md. */
async function withholdLargeObjects(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ statement: string }>(
    `select format('revoke execute on function %s from public', oid::regprocedure) as statement from pg_proc
     where pronamespace = 'pg_catalog'::regnamespace and proname ~ $1
       and has_function_privilege('public', oid, 'execute') and pg_has_role(proowner, 'usage')`,
    [LARGE_OBJECT_FUNCTIONS],
  );
  for (const { statement } of rows) await client.query(statement);
}

const OF_INDEX = "(n.nspname = 'ponder_sync' or n.nspname ~ '^(index|chain)_[0-9]+(_|$)')";

/** Makes ahs_index the owner of the index's schemas and of all that is in them, where it is not. */
async function handOverIndex(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ statement: string }>(
    `select format('alter schema %I owner to ahs_index', n.nspname) as statement from pg_namespace n
     where ${OF_INDEX} and n.nspowner <> 'ahs_index'::regrole
     union all
     select format('alter %s %I.%I owner to ahs_index',
         case c.relkind when 'v' then 'view' when 'S' then 'sequence' else 'table' end, n.nspname, c.relname)
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where ${OF_INDEX} and c.relkind in ('r', 'p', 'v', 'S') and c.relowner <> 'ahs_index'::regrole
       -- A sequence of a column goes with its table.
       and not (c.relkind = 'S' and exists (select 1 from pg_depend d
         where d.objid = c.oid and d.classid = 'pg_class'::regclass and d.deptype in ('a', 'i')))
     union all
     select format('alter routine %s owner to ahs_index', p.oid::regprocedure)
     from pg_proc p join pg_namespace n on n.oid = p.pronamespace
     where ${OF_INDEX} and p.proowner <> 'ahs_index'::regrole`,
  );
  for (const { statement } of rows) await client.query(statement);
}

/** Lets readers of the index read its views, of which there may be none yet. */
async function grantViews(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    "select nspname as name from pg_namespace where nspname ~ '^chain_[0-9]+$'",
  );
  for (const { name } of rows) await grantReading(client, name);
}

/** Lets the roles that read the index read the views of a schema; nothing where the roles do not exist. */
export async function grantReading(client: ClientBase, viewsSchema: string): Promise<void> {
  if (!(await haveAllRoles(client))) return;
  const schema = client.escapeIdentifier(viewsSchema);
  await client.query(`grant usage on schema ${schema} to ahs_serve, ahs_work`);
  await client.query(`grant select on all tables in schema ${schema} to ahs_serve, ahs_work`);
}

/** Which rows of a table `ahs_serve` may write, where its right to the table would be too much. */
type RowPolicy = {
  /** A changed policy needs another name: what has its name is left as it is. */
  readonly name: string;
  readonly action: "insert" | "update" | "delete";
  /** As CREATE POLICY takes it after the role. */
  readonly rows: string;
};

/** Permits every use that the rights to the table allow; the policies above it restrict that. */
const EVERYONE = "everyone";

/** Policies by table of the schema `ahs`. The owner of the tables is bound by none. */
export const ROW_POLICIES: Readonly<Record<string, readonly RowPolicy[]>> = {
  // A server plans the publication of what it scores, and must keep no wallet from being scored.
  quarantine: [
    { name: "server_quarantines_publications", action: "insert", rows: "with check (kind = 'publish')" },
    { name: "server_extends_publications", action: "update", rows: "using (kind = 'publish')" },
    { name: "server_releases_publications", action: "delete", rows: "using (kind = 'publish')" },
  ],
  sender_transaction: [
    {
      name: "server_asks_for_transfers",
      action: "insert",
      rows: `with check (purpose = 'x402' and value = 0 and state = 'queued' and not final
        and nonce is null and raw is null and cardinality(hashes) = 0 and mined_hash is null)`,
    },
    {
      name: "server_asks_again",
      action: "update",
      rows: `using (purpose = 'x402' and state = 'failed' and nonce is null)
        with check (purpose = 'x402' and state = 'queued')`,
    },
  ],
  verdict: [
    {
      name: "server_takes_outputs",
      action: "insert",
      rows: "with check (status = 'unsettled' and runs = 0 and final_verdict is null)",
    },
    {
      name: "server_reviews_and_appeals",
      action: "update",
      rows: `using (true) with check (status <> 'processing'
        and (final_verdict is null or final_verdict = 'HOLD' or cause = 'review'
          or (cause = 'appeal' and status = 'pending')))`,
    },
    { name: "server_drops_unpaid", action: "delete", rows: "using (status = 'unsettled')" },
  ],
  verdict_run: [
    {
      name: "server_stores_reviews",
      action: "insert",
      rows: `with check (cause = 'review' and final_verdict in ('ALLOW', 'REJECT')
        and not exists (select from ahs.verdict_run earlier
          where earlier.verdict_id = verdict_run.verdict_id and earlier.final_verdict <> 'HOLD'))`,
    },
  ],
};

/**
 * Brings the row-level security of our tables in step with ROW_POLICIES, in the transaction that grants the rights. Tables that are in
 * step are not locked; others are, until it ends.
 */
async function putPolicies(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ table: string; secured: boolean; policies: string[] }>(
    `select c.relname as "table", c.relrowsecurity as secured,
       array(select p.polname::text from pg_policy p where p.polrelid = c.oid) as policies
     from pg_class c where c.oid = any($1::regclass[])`,
    [Object.keys(ROW_POLICIES).map((table) => `ahs.${table}`)],
  );
  for (const { table, secured, policies } of rows) {
    for (const statement of statementsFor(table, policies)) await client.query(statement);
    if (!secured) await client.query(`alter table ahs.${table} enable row level security`);
  }
}

function statementsFor(table: string, present: readonly string[]): readonly string[] {
  const wanted = new Map([
    [EVERYONE, "using (true)"],
    ...(ROW_POLICIES[table] ?? []).map(
      ({ name, action, rows }) => [name, `as restrictive for ${action} to ahs_serve ${rows}`] as const,
    ),
  ]);
  const stale = present.filter((name) => !wanted.has(name));
  const missing = [...wanted].filter(([name]) => !present.includes(name));
  return [
    ...stale.map((name) => `drop policy "${name}" on ahs.${table}`),
    ...missing.map(([name, rest]) => `create policy "${name}" on ahs.${table} ${rest}`),
  ];
}
