import type { ClientBase } from "pg";

/** Its schemas; each other one is made by a test, or by the index of one. */
const SCHEMAS = "'ahs', 'public', 'information_schema'";

/**
 * Deletes rows without their foreign keys being checked. Truncating takes longer where there are few rows, and changes the catalogue
 * besides, by which other changes are found.
 */
const EMPTY = `
  do $$
  declare found record;
  begin
    set local session_replication_role = replica;
    for found in
      select oid::regclass as name from pg_class
       where relnamespace = 'ahs'::regnamespace and relkind = 'r' and relname <> 'migration' and pg_relation_size(oid) > 0
    loop
      execute format('delete from %s', found.name);
    end loop;
    perform setval(oid, 1, false) from pg_class where relnamespace = 'ahs'::regnamespace and relkind = 'S';
    for found in
      select nspname as name from pg_namespace where nspname !~ '^pg_' and nspname not in (${SCHEMAS})
    loop
      execute format('drop schema %I cascade', found.name);
    end loop;
  end $$`;

/** How many rows a part of the catalogue has, and the newest transaction that wrote one. */
const NEWEST = "count(*), max(xmin::text::bigint)";
const OF_OURS = "relnamespace in ('ahs'::regnamespace, 'public'::regnamespace)";
const FINGERPRINT = `
  select concat_ws('/',
    (select concat_ws(' ', ${NEWEST}) from pg_class where ${OF_OURS}),
    (select concat_ws(' ', ${NEWEST}) from pg_attribute where attrelid in (select oid from pg_class where ${OF_OURS})),
    (select concat_ws(' ', ${NEWEST}) from pg_constraint where connamespace = 'ahs'::regnamespace),
    (select concat_ws(' ', ${NEWEST}) from pg_trigger where tgrelid in (select oid from pg_class where ${OF_OURS})),
    (select concat_ws(' ', ${NEWEST}) from pg_policy),
    (select concat_ws(' ', ${NEWEST}) from pg_proc where pronamespace in ('ahs'::regnamespace, 'public'::regnamespace)),
    (select concat_ws(' ', ${NEWEST}) from pg_namespace where nspname in (${SCHEMAS})),
    (select count(*) from pg_db_role_setting join pg_database on pg_database.oid = setdatabase
      where datname = current_database()),
    (select concat_ws(' ', ${NEWEST}) from ahs.migration)) as fingerprint`;

/** Leaves a database as it was once it had been migrated: without rows, without connections, without schemas of others. */
export async function emptyDatabase(client: ClientBase): Promise<void> {
  await client.query(
    `select pg_terminate_backend(pid, 10000) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`,
  );
  await client.query(EMPTY);
}

/** A text that migrated databases have in common as long as tests change their rows alone. */
export async function fingerprintOf(client: ClientBase): Promise<string> {
  const { rows } = await client.query<{ fingerprint: string }>(FINGERPRINT);
  return rows[0]?.fingerprint ?? "";
}
