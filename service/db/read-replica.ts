import { drizzle } from "drizzle-orm/node-postgres";
import type { Pool } from "pg";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { type Database, QUERY_DEADLINE } from "./database.ts";
import { databaseFailure, isOutage, isRolledBack } from "./database-failure.ts";
import { metricsOf } from "./metrics.ts";
import { runLoop } from "./run-loop.ts";

const CHECK_MS = 1_000;

/**
 * A database for reads alone: on a streaming replica while what it shows is at most `maxLagMs` old, else on the primary. A
 * statement that fails at the replica for the replica's sake is repeated at the primary. `watch` compares the two until the
 * signal fires; before its first comparison, reads go to the primary.
 */
export function createReads(options: {
  readonly primary: Database;
  readonly replica: Database;
  readonly maxLagMs: number;
  readonly registry: Registry;
  readonly logger: Logger;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
}): { readonly db: Database; readonly watch: (signal: AbortSignal) => Promise<void> } {
  const { primary, replica, maxLagMs, logger, monotonicMs } = options;
  const freshness = createFreshness();
  let [failed, reported]: [unknown, "primary" | "replica" | null] = [null, null];

  const lagMs = () => {
    const freshMs = freshness.freshMs();
    return freshMs === null ? null : monotonicMs() - freshMs;
  };
  const isUsed = (): boolean => {
    const lag = lagMs();
    const now = failed === null && lag !== null && lag <= maxLagMs ? "replica" : "primary";
    // Before the first comparison there is nothing to report.
    if (now !== reported && (failed !== null || lag !== null)) {
      const facts = {
        lagSeconds: lag === null ? null : lag / 1_000,
        ...(failed === null ? {} : { err: failed }),
      };
      if (now === "replica") logger.info(facts, "reads go to the replica");
      else logger.warn(facts, "reads go to the primary: the replica is down or behind");
      reported = now;
    }
    return now === "replica";
  };
  const fail = (error: unknown) => {
    if (databaseFailure(error) === "database" && isOutage(error)) failed = error;
    isUsed();
  };
  const metrics = metricsOf(options.registry);
  const used = metrics.gauge(
    "ahs_read_replica_used",
    "1 while reads go to the replica, 0 while they go to the primary",
  );
  const lag = metrics.gauge("ahs_read_replica_lag_seconds", "How old what the replica shows may be");
  // A new gauge would report 0, which is not known yet.
  lag.remove();
  const show = () => {
    used.set(isUsed() ? 1 : 0);
    const known = lagMs();
    if (known === null) lag.remove();
    else lag.set(known / 1_000);
  };

  const client = {
    async query(...asked: unknown[]) {
      if (!isUsed()) return ask(primary, asked);
      try {
        return await ask(replica, asked);
      } catch (error) {
        if (databaseFailure(error) !== "database" && !isRolledBack(error)) throw error;
        fail(error);
        return ask(primary, asked);
      }
    },
    async connect() {
      if (!isUsed()) return primary.$client.connect();
      try {
        return await replica.$client.connect();
      } catch (error) {
        fail(error);
        return primary.$client.connect();
      }
    },
  } as unknown as Pool;
  const transaction: Database["transaction"] = () => Promise.reject(new Error("a replica takes no writes"));
  return {
    db: Object.assign(drizzle(client, { casing: "snake_case" }), {
      $client: client,
      transaction,
      texts: primary.texts,
    }),
    watch: (signal) =>
      runLoop({
        logger,
        what: "comparing the replica with the primary",
        signal,
        pauseMs: CHECK_MS,
        retryMs: { first: CHECK_MS, longest: CHECK_MS },
        onFailure: (error) => {
          failed = error;
          show();
          return 0;
        },
        pass: async () => {
          const atMs = monotonicMs();
          // While the primary does not answer, what the replica shows grows old.
          const written = await readWritten(primary).catch(() => null);
          if (written !== null) freshness.note({ atMs, position: written.position });
          const replayed = await readReplayed(replica);
          if (written !== null && written.cluster !== replayed.cluster)
            throw new Error(`expected a replica of ${written.cluster}, got ${replayed.cluster}`);
          freshness.reach(replayed.position);
          failed = null;
          show();
        },
      }),
  };
}

/** A statement in any of the forms that a pool takes without a callback. */
function ask({ $client }: Database, asked: unknown[]): Promise<unknown> {
  return ($client.query as (...asked: unknown[]) => Promise<unknown>).apply($client, asked);
}

/** A position in the write-ahead log in bytes; `cluster` names the server's data and the database. */
type Position = { readonly position: bigint; readonly cluster: string };

const readWritten = (db: Database) => readPosition(db, "pg_current_wal_flush_lsn()");
const readReplayed = (db: Database) =>
  readPosition(db, "case when pg_is_in_recovery() then pg_last_wal_replay_lsn() end");

/** Throws where the server has no such position. */
async function readPosition(db: Database, expression: string): Promise<Position> {
  const { rows } = await db.$client.query<{ position: string | null; cluster: string }>({
    ...QUERY_DEADLINE,
    text: `select (${expression} - '0/0'::pg_lsn)::text as position, system_identifier || ' ' || d.oid as cluster
           from pg_control_system(), pg_database d where d.datname = current_database()`,
  });
  const [row] = rows;
  if (row === undefined || row.position === null)
    throw new Error("expected a replica that replays the write-ahead log, got a server that does not");
  return { position: BigInt(row.position), cluster: row.cluster };
}

/** Marks kept: a replica that is further behind is not used anyway. */
const MOST_MARKS = 1_000;

/**
 * Returns how new the rows of a replica are, by positions that the primary had written at some moments. Compares positions and no clocks of
 * two hosts, and a primary that writes nothing makes no lag.
 */
export function createFreshness() {
  let marks: { readonly atMs: number; readonly position: bigint }[] = [];
  let freshMs: number | null = null;
  return {
    /** By that moment, the primary had written up to this position or less. */
    note(mark: { readonly atMs: number; readonly position: bigint }): void {
      marks = [...marks.slice(-MOST_MARKS + 1), mark];
    },
    /** The replica shows everything up to this position. */
    reach(position: bigint): void {
      const reached = marks.findLastIndex((mark) => mark.position <= position);
      if (reached < 0) return;
      freshMs = marks[reached]?.atMs ?? freshMs;
      marks = marks.slice(reached + 1);
    },
    /** The replica shows everything that was there at this moment; null before the first is known. */
    freshMs: (): number | null => freshMs,
  };
}
