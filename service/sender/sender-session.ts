import { drizzle, type NodePgDatabase } from "drizzle-orm/node-postgres";
import { Client } from "pg";
import type { Address } from "viem";
import { withOwnNames } from "../db/own-names.ts";

/** Channel on which a queued transaction wakes the sender. */
export const SENDER_CHANNEL = "ahs_sender";

/** A dead host must not keep the lock: the server gives its connection up after some 25 seconds. */
const KEEPALIVE = "-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3";

export type SenderSessionOptions = {
  readonly databaseUrl: string;
  readonly chainId: number;
  readonly sender: Address;
  /** Pause between two tries to get the lock. */
  readonly retryMs: number;
  /** Deadline of every statement, on the server and here. */
  readonly statementTimeoutMs: number;
};

/** The right to send for one key: it ends with the connection that holds the lock, and so do all writes made under it. */
export type SenderSession = {
  readonly db: NodePgDatabase;
  /** Fires when the connection is gone, and the lock with it. */
  readonly lost: AbortSignal;
  /** Resolves after the given milliseconds, or sooner when a transaction is queued or a signal fires. */
  readonly waitForWork: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly release: () => Promise<void>;
};

/**
 * Waits until no other connection sends for this key on this chain, and takes the lock. Throws the signal's reason when
 * it fires first, and a pg error when the database cannot be reached.
 */
export async function openSenderSession(
  options: SenderSessionOptions,
  signal: AbortSignal,
): Promise<SenderSession> {
  const session = await openSession(options, (client) => takeLock(client, options, signal));
  if (session === null) throw new Error("the sender's lock was waited for and not taken");
  return session;
}

/** The same where nobody sends for this key just now; null where somebody does. */
export async function tryOpenSenderSession(options: SenderSessionOptions): Promise<SenderSession | null> {
  return openSession(options, (client) => tryLock(client, options));
}

async function openSession(
  options: SenderSessionOptions,
  lock: (client: Client) => Promise<boolean>,
): Promise<SenderSession | null> {
  const client = new Client({
    connectionString: withOwnNames(options.databaseUrl, KEEPALIVE),
    application_name: "ahs-sender",
    connectionTimeoutMillis: options.statementTimeoutMs,
    statement_timeout: options.statementTimeoutMs,
    // The server may be out of reach rather than slow: then its own timeout never arrives.
    query_timeout: options.statementTimeoutMs + 2_000,
    keepAlive: true,
  });
  const lost = new AbortController();
  client.on("error", (error) => lost.abort(error));
  client.on("end", () => lost.abort(new Error("the connection that held the sender's lock has ended")));
  try {
    await client.connect();
    if (!(await lock(client))) {
      await client.end();
      return null;
    }
    await client.query(`listen ${SENDER_CHANNEL}`);
  } catch (error) {
    await client.end();
    throw error;
  }
  return {
    db: drizzle(client, { casing: "snake_case" }),
    lost: lost.signal,
    waitForWork: (ms, stop) => waitForWork(client, ms, stop),
    release: () => client.end(),
  };
}

async function takeLock(client: Client, options: SenderSessionOptions, signal: AbortSignal): Promise<true> {
  for (;;) {
    signal.throwIfAborted();
    if (await tryLock(client, options)) return true;
    await waitForWork(client, options.retryMs, signal);
  }
}

async function tryLock(client: Client, { chainId, sender }: SenderSessionOptions): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>(
    "select pg_try_advisory_lock(hashtextextended($1, 0)) as taken",
    [`ahs-sender:${chainId}:${sender.toLowerCase()}`],
  );
  return rows[0]?.taken === true;
}

function waitForWork(client: Client, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      client.off("notification", finish);
      client.off("end", finish);
      signal.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    client.on("notification", finish);
    client.on("end", finish);
    signal.addEventListener("abort", finish);
    if (signal.aborted) finish();
  });
}
