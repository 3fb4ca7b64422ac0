import type { PoolClient } from "pg";

/**
 * Drops the triggers and indexes that a killed indexer left on its tables, each in a transaction of its own. Ponder drops them all
 * in one when it recovers, and holds what it has got while it waits for the rest: readers of several tables deadlock with it, and
 * it tries again for minutes without letting go, while nobody can read. What is gone already it passes by, and makes anew later.
 */
export async function dropLeftovers(client: PoolClient, schema: string): Promise<void> {
  const { rows } = await client.query<{ statement: string }>(
    `select format('drop trigger if exists %I on %I.%I', t.tgname, n.nspname, c.relname) as statement
     from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = $1 and not t.tgisinternal
     union all
     select format('drop index if exists %I.%I', n.nspname, i.relname)
     from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class c on c.oid = x.indrelid
     join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = $1 and not x.indisprimary and left(c.relname, 1) <> '_'
       and not exists (select from pg_constraint k where k.conindid = x.indexrelid)`,
    [schema],
  );
  for (const { statement } of rows) await client.query(statement);
}
