import type { ClientBase, Pool, PoolClient } from "pg";

/** One build of the index: a schema `index_CHAIN_HASH` that an indexer of these sources and this deployment writes. */
export type IndexBuild = {
  readonly schema: string;
  /** ISO time at which it was first indexed; null for one made before this was noted. */
  readonly startedAt: string | null;
  /** Whether an indexer of it runs. */
  readonly isRunning: boolean;
  /** Whether the views show it. */
  readonly isServed: boolean;
};

/** Notes when a build is first indexed, making its schema; a build that is there keeps its time. */
export async function beginBuild(client: ClientBase, schema: string, now: Date): Promise<void> {
  const { rowCount } = await client.query("select 1 from pg_namespace where nspname = $1", [schema]);
  if (rowCount !== 0) return;
  const name = client.escapeIdentifier(schema);
  await client.query(`create schema if not exists ${name}`);
  await client.query(`comment on schema ${name} is ${client.escapeLiteral(now.toISOString())}`);
}

/** Every build of a chain's index, the newest first. */
export async function readBuilds(db: Pool, chainId: number): Promise<readonly IndexBuild[]> {
  const { rows } = await db.query<IndexBuild>(
    `select n.nspname as schema, obj_description(n.oid, 'pg_namespace') as "startedAt",
       n.nspname = (${SERVED_SQL}) as "isServed",
       exists (select 1 from pg_locks l join pg_database d on d.oid = l.database
         where l.locktype = 'advisory' and l.granted and d.datname = current_database() and l.objsubid = 1
           and (l.classid::bigint << 32 | l.objid::bigint) = hashtext(n.nspname)::bigint) as "isRunning"
     from pg_namespace n where n.nspname ~ $2 order by obj_description(n.oid, 'pg_namespace') desc nulls last`,
    [viewsSchemaOf(chainId), `^index_${chainId}_[0-9a-f]+$`],
  );
  return rows.map((row) => ({ ...row, isServed: row.isServed === true }));
}

/** Schema of the build that the views of a chain show; null where there are none. */
export async function readServedBuild(db: Pool | PoolClient, chainId: number): Promise<string | null> {
  const { rows } = await db.query<{ schema: string | null }>(`select (${SERVED_SQL}) as schema`, [
    viewsSchemaOf(chainId),
  ]);
  return rows[0]?.schema ?? null;
}

/** Views that readers of a chain's index use, whichever build they show. */
export function viewsSchemaOf(chainId: number): string {
  return `chain_${chainId}`;
}

const SERVED_SQL = `select substring(v.definition from 'index_[0-9]+_[0-9a-f]+') from pg_views v
  where v.schemaname = $1 and v.viewname = '_ponder_checkpoint'`;

/**
 * Drops a build, unless readers are served from it or an indexer runs on it; false where it is kept. The indexer's lock is
 * held meanwhile, so that none starts on what is going.
 */
export async function dropBuild(
  db: Pool,
  { chainId, schema }: { readonly chainId: number; readonly schema: string },
): Promise<boolean> {
  const client = await db.connect();
  try {
    await client.query("set statement_timeout = 0");
    const { rows } = await client.query("select pg_try_advisory_lock(hashtext($1)) as taken", [schema]);
    if (rows[0]?.taken !== true || (await readServedBuild(client, chainId)) === schema) return false;
    await client.query(`drop schema ${client.escapeIdentifier(schema)} cascade`);
    return true;
  } finally {
    // Closing the connection frees the lock.
    client.release(true);
  }
}
