import type { ClientBase, Pool, PoolClient } from "pg";
import { relationExists } from "./database.ts";
import { viewsSchemaOf } from "./index-tables.ts";
import { grantReading } from "./roles.ts";

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

/** Schema of the build that the views of a chain show; null without views. */
export async function readServedBuild(db: Pool | PoolClient, chainId: number): Promise<string | null> {
  const { rows } = await db.query<{ schema: string | null }>(`select (${SERVED_SQL}) as schema`, [
    viewsSchemaOf(chainId),
  ]);
  return rows[0]?.schema ?? null;
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

export type ShownBuild = { readonly chainId: number; readonly schema: string };

/** Block numbers of an index: its newest block and the newest one that is final; or how far it leads another by each. */
type IndexReach = { readonly newest: number; readonly finalized: number };

/** A build's lead, without end where the views show nothing yet; null until it is whole. */
export async function readLead(db: Pool | PoolClient, build: ShownBuild): Promise<IndexReach | null> {
  if (!(await isWhole(db, build.schema))) return null;
  const reach = await readReach(db, build.schema);
  if (reach === null) return null;
  const views = viewsSchemaOf(build.chainId);
  const shown = (await relationExists(db, `${views}._ponder_checkpoint`)) ? await readReach(db, views) : null;
  if (shown === null) return { newest: Infinity, finalized: Infinity };
  return { newest: reach.newest - shown.newest, finalized: reach.finalized - shown.finalized };
}

/** The transactions of users of this database that are under way, by their virtual ids; those of autovacuum read no view. */
export async function readTransactions(db: Pool): Promise<readonly string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select l.virtualtransaction as id from pg_locks l join pg_stat_activity a on a.pid = l.pid
     where l.locktype = 'virtualxid' and l.granted and l.mode = 'ExclusiveLock'
       and a.datname = current_database() and a.usesysid is not null and l.pid <> pg_backend_pid()`,
  );
  return rows.map(({ id }) => id);
}

/**
 * Points the chain's views to a build, for new readers and those under way, and grants them to the roles that read the index.
 * Returns false, and changes nothing, if the build has fewer final blocks than the views show, or leads by fewer blocks than
 * `leastLead`. The names change all at once without a lock of a table: readers never wait and never miss a view.
 */
export function showBuild(db: Pool, build: ShownBuild, leastLead = 0): Promise<boolean> {
  return whollyOrNot(db, (client) => replaceViews(client, build, leastLead));
}

/** Commits what the work did if it returns true. */
async function whollyOrNot(db: Pool, work: (client: PoolClient) => Promise<boolean>): Promise<boolean> {
  const client = await db.connect();
  try {
    await client.query("begin");
    const isDone = await work(client);
    await client.query(isDone ? "commit" : "rollback");
    return isDone;
  } catch (error) {
    await client.query("rollback");
    throw error;
  } finally {
    client.release();
  }
}

/** Drops replaced views that no session reads any more; true once all are gone. */
export async function dropReplacedViews(db: Pool, chainId: number): Promise<boolean> {
  try {
    return await whollyOrNot(db, async (client) => {
      await client.query("set local lock_timeout = '200ms'");
      await client.query(`drop schema if exists ${replacedBy(viewsSchemaOf(chainId))} cascade`);
      return true;
    });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === LOCK_NOT_AVAILABLE) return false;
    throw error;
  }
}

const LOCK_NOT_AVAILABLE = "55P03";

function replacedBy(views: string): string {
  return `${views}_replaced`;
}

async function replaceViews(client: PoolClient, build: ShownBuild, leastLead: number): Promise<boolean> {
  const { schema } = build;
  const views = viewsSchemaOf(build.chainId);
  await client.query("set local lock_timeout = '1s'");
  // Of two indexers that show their builds at once, the second waits and then reads what the first did.
  await client.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [`ahs-views:${views}`]);
  const next = `${views}_next`;
  await client.query(`drop schema if exists ${next} cascade`);
  await client.query(`create schema ${next}`);
  for (const table of await tablesOf(client, schema)) {
    const name = client.escapeIdentifier(table);
    const rows = table === "wallet" ? followedOnly(build.chainId) : "";
    await client.query(
      `create view ${next}.${name} as select * from ${client.escapeIdentifier(schema)}.${name} ${rows}`,
    );
  }
  await grantReading(client, next);
  // Last of all: both builds go on meanwhile, and readers are to see no block gone that they have seen.
  const lead = await readLead(client, build);
  if (lead === null || lead.finalized < 0 || lead.newest < leastLead) return false;
  const { rowCount } = await client.query("select 1 from pg_namespace where nspname = $1", [views]);
  if (rowCount !== 0) {
    await client.query(`drop schema if exists ${replacedBy(views)} cascade`);
    await client.query(`alter schema ${views} rename to ${replacedBy(views)}`);
  }
  await client.query(`alter schema ${next} rename to ${views}`);
  return true;
}

/** No reader sees a wallet that the operator does not want followed, as soon as that is said. */
function followedOnly(chainId: number): string {
  return `as followed where not exists (
    select from ahs.unfollowed u where u.chain_id = ${chainId} and u.address = followed.address)`;
}

/** Ponder notes it once what was there at its start is indexed, and takes it back when it starts again. */
async function isWhole(db: Pool | PoolClient, schema: string): Promise<boolean> {
  const meta = `"${schema}"._ponder_meta`;
  if (!(await relationExists(db, meta))) return false;
  const { rowCount } = await db.query(`select 1 from ${meta} where (value->>'is_ready')::int = 1`);
  return rowCount !== 0;
}

// A checkpoint has the block's number in digits 27 to 42.
async function readReach(db: Pool | PoolClient, schema: string): Promise<IndexReach | null> {
  const { rows } = await db.query<IndexReach>(
    `select b.newest::float8, substring(c.finalized_checkpoint from 27 for 16)::float8 as finalized
     from "${schema}"._ponder_checkpoint c cross join (select max(number) as newest from "${schema}".block) b
     where b.newest is not null`,
  );
  return rows[0] ?? null;
}

/** Returns the tables of a build that readers see, without those by which Ponder undoes blocks. */
async function tablesOf(client: PoolClient, schema: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = $1 and c.relkind in ('r', 'p') and c.relname !~ '^_reorg__'`,
    [schema],
  );
  return rows.map(({ name }) => name);
}
