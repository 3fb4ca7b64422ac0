import type { ClientBase } from "pg";
import { putPolicies } from "./role-policies.ts";
import { ROLES, type RoleName, TABLE_RIGHTS } from "./role-rights.ts";

/** duplicate_object and unique_violation: somebody else made the role of the cluster meanwhile, from another database. */
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

/** A user who logs in for a role, and is nobody but that role once logged in. */
type Login = { readonly name: string; readonly role: RoleName; readonly password: string };

/** Makes the user, or gives it the password; needs CREATEROLE. */
export async function putLogin(client: ClientBase, { name, role, password }: Login): Promise<void> {
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
  await putPolicies(client);
  await handOverIndex(client);
  await grantViews(client);
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

/** Lets whoever reads the index read its views, of which there may be none yet. */
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
