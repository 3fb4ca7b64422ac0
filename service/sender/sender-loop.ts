import { drizzle } from "drizzle-orm/node-postgres";
import { Client } from "pg";
import type { Address, Hex } from "viem";
import { withOwnNames } from "../db/database.ts";
import { pauseFor, runLoop } from "../db/run-loop.ts";
import { SignerFailure } from "./remote-signer.ts";
import type { SenderContext } from "./send-pass.ts";
import { classifySendFailure, isRpcError } from "./send-rpc.ts";
import { sendPass } from "./sender.ts";
import { SENDER_CHANNEL } from "./sender-transactions.ts";

type SenderDeps = Omit<SenderContext, "db"> & { readonly databaseUrl: string };

/** Deadline of one statement of the sender. */
const STATEMENT_TIMEOUT_MS = 10_000;
/** Pause between two tries to become the sender, and between two reads of an idle queue. */
const IDLE_MS = 1_000;
const BALANCE_EVERY_MS = 15_000;

/**
 * Sends what is queued for one key on one chain until the signal fires: waits for the key's lock, and when the lock is
 * lost, starts over. Never throws: failures of node or database are logged, counted and retried after a pause.
 */
export async function runSender(deps: SenderDeps, signal: AbortSignal): Promise<void> {
  const { account, logger, policy } = deps;
  await runLoop({
    logger,
    what: "sending",
    signal,
    pauseMs: 0,
    retryMs: policy.retryMs,
    onFailure: (error) => {
      logger.error({ err: error, sender: account.address }, "sender interrupted");
      return 0;
    },
    pass: (onProgress) => sendUnderLock(deps, signal, onProgress),
  });
}

async function sendUnderLock(deps: SenderDeps, signal: AbortSignal, onProgress: () => void): Promise<void> {
  const { chainId, databaseUrl, account, metrics } = deps;
  const options = {
    databaseUrl,
    chainId,
    sender: account.address,
    retryMs: IDLE_MS,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  };
  const session = await openSenderSession(options, signal);
  metrics.lockHeld.set({ sender: account.address }, 1);
  try {
    await sendWhileHeld(deps, session, { signal, onProgress });
  } finally {
    metrics.lockHeld.set({ sender: account.address }, 0);
    // The next sender reports the balance.
    metrics.balanceWei.remove({ sender: account.address });
    await session.release();
  }
}

async function sendWhileHeld(
  deps: SenderDeps,
  session: SenderSession,
  run: { signal: AbortSignal; onProgress: () => void },
): Promise<void> {
  const context: SenderContext = { ...deps, db: session.db };
  let head: Hex | null = null;
  let balanceDue = 0;
  await runLoop({
    logger: deps.logger,
    what: "sending",
    signal: run.signal,
    pauseMs: (isBusy) => (isBusy ? deps.policy.pollMs : IDLE_MS),
    retryMs: deps.policy.retryMs,
    wait: session.waitForWork,
    onFailure: (error) => {
      if (!isRpcError(error) && !(error instanceof SignerFailure)) throw error;
      reportTrouble(context, error);
      return 0;
    },
    pass: async () => {
      session.lost.throwIfAborted();
      const result = await sendPass(context, head);
      head = result.headHash;
      if (deps.now().getTime() >= balanceDue) {
        await reportBalance(context);
        balanceDue = deps.now().getTime() + BALANCE_EVERY_MS;
      }
      run.onProgress();
      return result.busy;
    },
  });
}

/** Counts and logs a node or a signer that gives no usable answer. */
function reportTrouble({ metrics, logger, account }: SenderContext, error: unknown): void {
  if (error instanceof SignerFailure) {
    metrics.failures.inc({ kind: "unsigned" });
    const details = { sender: account.address, reason: error.reason };
    logger.warn({ ...details, err: error }, "the signer of this key gives no usable signature");
  } else {
    const failure = classifySendFailure(error);
    metrics.failures.inc({ kind: failure.kind });
    logger.warn({ failure }, "the node gives no usable answer");
  }
}

async function reportBalance(context: SenderContext): Promise<void> {
  const { address } = context.account;
  context.metrics.balanceWei.set({ sender: address }, Number(await context.rpc.balance(address)));
}

/** A dead host must not keep the lock: the server gives its connection up after some 25 seconds. */
const KEEPALIVE = "-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3";

type SenderSessionOptions = {
  readonly databaseUrl: string;
  readonly chainId: number;
  readonly sender: Address;
  /** Pause between two tries to get the lock. */
  readonly retryMs: number;
  /** Deadline of every statement, on the server and here. */
  readonly statementTimeoutMs: number;
};

/** The right to send for one key: it ends with the connection that holds the lock, and so do all writes made under it. */
type SenderSession = NonNullable<Awaited<ReturnType<typeof openSession>>>;

/**
 * Waits until no other connection sends for this key on this chain, and takes the lock. Throws the signal's reason when
 * it fires first, and a pg error when the database cannot be reached.
 */
async function openSenderSession(options: SenderSessionOptions, signal: AbortSignal): Promise<SenderSession> {
  const session = await openSession(options, (client) => takeLock(client, options, signal));
  if (session === null) throw new Error("the sender's lock was waited for and not taken");
  return session;
}

/** Opens a session if no other connection sends for this key; else returns null. */
export async function tryOpenSenderSession(options: SenderSessionOptions): Promise<SenderSession | null> {
  return openSession(options, (client) => tryLock(client, options));
}

async function openSession(options: SenderSessionOptions, lock: (client: Client) => Promise<boolean>) {
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
    /** Fires when the connection is gone, and the lock with it. */
    lost: lost.signal,
    /** Resolves after the given milliseconds, or sooner when a transaction is queued or a signal fires. */
    waitForWork: (ms: number, stop: AbortSignal) => waitForWork(client, ms, stop),
    release: () => client.end(),
  };
}

async function takeLock(client: Client, options: SenderSessionOptions, signal: AbortSignal): Promise<true> {
  while (!(await tryLock(client, options))) {
    await waitForWork(client, options.retryMs, signal);
    signal.throwIfAborted();
  }
  return true;
}

async function tryLock(client: Client, { chainId, sender }: SenderSessionOptions): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>(
    "select pg_try_advisory_lock(hashtextextended($1, 0)) as taken",
    [`ahs-sender:${chainId}:${sender.toLowerCase()}`],
  );
  return rows[0]?.taken === true;
}

async function waitForWork(client: Client, ms: number, signal: AbortSignal): Promise<void> {
  const woken = new AbortController();
  const wake = () => woken.abort();
  client.on("notification", wake).on("end", wake);
  await pauseFor(ms, AbortSignal.any([signal, woken.signal]));
  client.off("notification", wake).off("end", wake);
}
