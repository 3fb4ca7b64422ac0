import type { Pool, PoolClient } from "pg";
import { viewsSchemaOf } from "./index-builds.ts";
import { grantReading } from "./roles.ts";

export type ShownBuild = { readonly chainId: number; readonly schema: string };

/** How far an index has come: its newest block, and the newest one that is final. */
type IndexReach = { readonly newest: number; readonly finalized: number };

/** By how many blocks a build is ahead of what the views show, negative where it is behind. */
type Lead = { readonly newest: number; readonly finalized: number };

/** A build's lead, without end where the views show nothing yet; null until it is whole. */
export async function readLead(db: Pool | PoolClient, build: ShownBuild): Promise<Lead | null> {
  if (!(await isWhole(db, build.schema))) return null;
  const reach = await readReach(db, build.schema);
  if (reach === null) return null;
  const views = viewsSchemaOf(build.chainId);
  const { rows } = await db.query<{ there: boolean }>("select to_regclass($1) is not null as there", [
    `${views}._ponder_checkpoint`,
  ]);
  const shown = rows[0]?.there === true ? await readReach(db, views) : null;
  if (shown === null) return { newest: Infinity, finalized: Infinity };
  return { newest: reach.newest - shown.newest, finalized: reach.finalized - shown.finalized };
}

/** The transactions of this database that are under way, by their virtual ids. */
export async function readTransactions(db: Pool): Promise<readonly string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select l.virtualtransaction as id from pg_locks l join pg_stat_activity a on a.pid = l.pid
     where l.locktype = 'virtualxid' and l.granted and l.mode = 'ExclusiveLock'
       and a.datname = current_database() and l.pid <> pg_backend_pid()`,
  );
  return rows.map(({ id }) => id);
}

/**
 * Has the chain's views show a build from now on, for readers who come as for those under way, and lets whoever reads the
 * index read them; false, and nothing done, where it has fewer final blocks than they show now, or leads by fewer blocks
 * than `leastLead`. The names change all at once and take no lock of a table, so that nobody waits and nobody finds them
 * missing.
 */
export async function showBuild(db: Pool, build: ShownBuild, leastLead = 0): Promise<boolean> {
  const client = await db.connect();
  try {
    await client.query("begin");
    const isShown = await replaceViews(client, build, leastLead);
    await client.query(isShown ? "commit" : "rollback");
    return isShown;
  } catch (error) {
    await client.query("rollback");
    throw error;
  } finally {
    client.release();
  }
}

/** Drops replaced views that no session reads any more; true once all are gone. */
export async function dropReplacedViews(db: Pool, chainId: number): Promise<boolean> {
  const client = await db.connect();
  try {
    await client.query("begin");
    await client.query("set local lock_timeout = '200ms'");
    await client.query(`drop schema if exists ${replacedBy(viewsSchemaOf(chainId))} cascade`);
    await client.query("commit");
    return true;
  } catch (error) {
    await client.query("rollback");
    if (error instanceof Error && "code" in error && error.code === LOCK_NOT_AVAILABLE) return false;
    throw error;
  } finally {
    client.release();
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
  const { rows: found } = await db.query<{ there: boolean }>("select to_regclass($1) is not null as there", [
    meta,
  ]);
  if (found[0]?.there !== true) return false;
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

/** What readers see of a build: its tables, without what Ponder keeps to undo blocks. */
async function tablesOf(client: PoolClient, schema: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = $1 and c.relkind in ('r', 'p') and c.relname !~ '^_reorg__'`,
    [schema],
  );
  return rows.map(({ name }) => name);
}
