import { setTimeout as sleep } from "node:timers/promises";
import type { PoolClient } from "pg";
import type { Logger } from "pino";
import type { Database } from "../../service/db/database.ts";
import {
  dropReplacedViews,
  type IndexBuild,
  readBuilds,
  readLead,
  readServedBuild,
  readTransactions,
  type ShownBuild,
  showBuild,
} from "../../service/db/index-builds.ts";
import { runLoop } from "../../service/db/run-loop.ts";

const WAITING_PAUSE_MS = 250;
const SERVED_PAUSE_MS = 2_000;
/** A build whose indexer is gone for less is being started again. */
const ABANDONED_AFTER_MS = 60_000;
/**
 * Longest wait for transactions that began before a build had caught up, since a backup may take hours and reads no views;
 * and for the very newest block, since on a chain of many blocks a second a build may always be one behind.
 */
const PATIENCE_MS = 60_000;

/**
 * Whether a build may take the place of another: of one that was first indexed earlier, or that no process has indexed for a
 * while. So a new build is shown while the old one still runs, and an old one again once the new one was stopped for good.
 */
export function maySucceed(
  build: Pick<IndexBuild, "startedAt">,
  served: Pick<IndexBuild, "startedAt">,
  abandonedMs: number,
): boolean {
  if ((build.startedAt ?? "") > (served.startedAt ?? "")) return true;
  return abandonedMs >= ABANDONED_AFTER_MS;
}

/**
 * Has the chain's views show this build as soon as it may take over and has caught up with what they show, for as long as
 * the process lives. Readers whose snapshot is older than that end first: they would find the new tables half filled.
 */
export async function takeOver(
  options: ShownBuild & { db: Database; logger: Logger; monotonicMs: () => number },
): Promise<void> {
  const state: State = { abandonedAt: null, readers: null };
  await runLoop({
    logger: options.logger,
    what: "showing this build",
    signal: new AbortController().signal,
    pauseMs: (isServed) => (isServed ? SERVED_PAUSE_MS : WAITING_PAUSE_MS),
    retryMs: { first: WAITING_PAUSE_MS, longest: WAITING_PAUSE_MS },
    // Does not keep the process alive.
    wait: (ms) => sleep(ms, undefined, { ref: false }),
    pass: () => step(options, state),
  });
}

type State = {
  /** Since when no process indexes the served build, as this process saw it; null while one does. */
  abandonedAt: number | null;
  /** Those under way when this build had caught up; null before. */
  readers: { readonly ids: readonly string[]; readonly since: number } | null;
};

/** Resolves to whether the views show this build. */
async function step(options: Parameters<typeof takeOver>[0], state: State): Promise<boolean> {
  const { db, chainId, schema, logger } = options;
  const served = await readServedBuild(db.$client, chainId);
  if (served === schema) {
    state.readers = null;
    await dropReplacedViews(db.$client, chainId);
    return true;
  }
  const lead = await readLead(db.$client, options);
  if (lead === null || lead.finalized < 0 || (lead.newest < 0 && state.readers === null)) {
    state.readers = null;
    return false;
  }
  if (served !== null && !(await mayShow(options, state))) return false;
  const isPatient = state.readers === null || options.monotonicMs() - state.readers.since < PATIENCE_MS;
  if (!(await showBuild(db.$client, options, isPatient ? 0 : -Infinity))) return false;
  logger.info({ schema, before: served }, "readers of the index are served from this build");
  return true;
}

async function mayShow(options: Parameters<typeof takeOver>[0], state: State): Promise<boolean> {
  const { db, chainId, schema } = options;
  const builds = await readBuilds(db.$client, chainId);
  const mine = builds.find((build) => build.schema === schema);
  const served = builds.find(({ isServed }) => isServed);
  if (mine === undefined || served === undefined) return true;
  const now = options.monotonicMs();
  state.abandonedAt = served.isRunning ? null : (state.abandonedAt ?? now);
  if (!maySucceed(mine, served, state.abandonedAt === null ? 0 : now - state.abandonedAt)) return false;
  const underWay = await readTransactions(db.$client);
  const readers = state.readers ?? { ids: underWay, since: now };
  state.readers = readers;
  if (now - readers.since >= PATIENCE_MS) return true;
  return !underWay.some((id) => readers.ids.includes(id));
}

/**
 * Drops the triggers and indexes that a killed indexer left on its tables, each in its own transaction. Ponder drops all of them
 * in one transaction when it recovers. That deadlocks with readers of several tables and blocks reads for minutes. Ponder skips
 * what is already gone, and makes it anew later.
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
