import { setTimeout as sleep } from "node:timers/promises";
import { type DestinationStream, type Logger, pino, stdSerializers } from "pino";
import { type Account, createPublicClient, createWalletClient, type PublicClient } from "viem";
import { type NodeOptions, nodeTransport } from "../service/chain/node/json-rpc.ts";
import { type Database, openDatabase, requireMigrated } from "../service/db/database.ts";
import {
  type DatabaseClock,
  followDatabaseClock,
  type MachineClock,
  openDatabaseClock,
} from "../service/db/database-clock.ts";
import { databaseFailure } from "../service/db/database-failure.ts";
import type { Config } from "./config.ts";
import { limitLines } from "./limit-lines.ts";
import { createScrub } from "./secrets/scrub.ts";

const CONNECT_TIMEOUT_MS = 3_000;
const STATEMENT_TIMEOUT_MS = 10_000;
const DATABASE_RETRY_MS = 1_000;
const MAX_CONNECTIONS = 20;
const RPC_TIMEOUT_MS = 10_000;
const RPC_RETRIES = 2;

/** JSON lines with the name of the process, those of one kind limited, without secrets and without texts that the database repeats. Default: standard output. */
export function createLogger(
  { logLevel, secrets = [] }: Pick<Config, "logLevel"> & Partial<Pick<Config, "secrets">>,
  name: string,
  destination: DestinationStream = pino.destination(1),
): Logger {
  const serializers = { err: loggedError };
  const scrub = createScrub(secrets);
  // Last step of a line, so that no secret of any logger passes it.
  const limited = { write: limitLines((line) => destination.write(scrub(line))) };
  return pino({ name: `ahs-${name}`, level: logLevel, serializers }, limited);
}

/** The process's pool; throws when no database is configured. */
export function openProcessDatabase(
  config: Pick<Config, "databaseUrl"> & Partial<Pick<Config, "textKeys">>,
  applicationName: string,
  logger: Logger,
): Database {
  if (config.databaseUrl === null) throw new Error("missing settings: DATABASE_URL (or --database-url)");
  return openDatabase({
    url: config.databaseUrl,
    applicationName,
    ...(config.textKeys && { textKeys: config.textKeys }),
    maxConnections: MAX_CONNECTIONS,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    onIdleError: (error) => logger.warn({ err: error }, "a database connection was lost"),
  });
}

/** This machine's date, for what concerns this machine alone. Everything else takes the time of its database. */
export const machineDate = () => new Date();

export const MACHINE_CLOCK: MachineClock = {
  monotonicMs: () => performance.now(),
  dateMs: () => machineDate().getTime(),
};

/**
 * The process's pool, once the database answers and has the newest schema, with its clock, which is followed until the
 * signal fires. Waits for as long as the database does not answer. Throws if it is configured wrongly or not migrated.
 */
export async function openMigratedDatabase(
  config: Config,
  applicationName: string,
  { logger, signal }: { readonly logger: Logger; readonly signal: AbortSignal },
): Promise<{ readonly db: Database; readonly clock: DatabaseClock }> {
  const db = openProcessDatabase(config, applicationName, logger);
  for (;;) {
    try {
      await requireMigrated(db);
      const clock = await openDatabaseClock(db, MACHINE_CLOCK);
      // It never rejects.
      void followDatabaseClock(clock, { logger, signal });
      return { db, clock };
    } catch (error) {
      if (databaseFailure(error) !== "database") throw error;
      logger.warn({ err: error }, "the database does not answer: trying again");
      await sleep(DATABASE_RETRY_MS);
    }
  }
}

/** Logs a warning where stored texts of clients and providers are not encrypted. */
export function warnOfPlainTexts({ textKeys }: Pick<Config, "textKeys">, logger: Logger): void {
  if (textKeys.current === null)
    logger.warn("orders, outputs and evidence are stored as plain texts: set TEXT_ENCRYPTION_KEY");
}

const PATIENT = { timeoutMs: RPC_TIMEOUT_MS, retries: RPC_RETRIES };

/** A viem client of a node. ERC-3668 is off: any called contract could otherwise name URLs that this process then fetches. */
export function openChainClient(
  url: string,
  patience: Pick<NodeOptions, "timeoutMs" | "retries"> = PATIENT,
): PublicClient {
  return createPublicClient({ transport: nodeTransport({ url, ...patience }), ccipRead: false });
}

export function openWallet(url: string, account: Account) {
  return createWalletClient({ account, transport: nodeTransport({ url, ...PATIENT }) });
}

/** Fires at SIGINT or SIGTERM, and when the process that started this one is gone. */
export function shutdownSignal(): AbortSignal {
  const controller = new AbortController();
  const abort = () => controller.abort();
  // Under npm a Ctrl-C arrives twice: the second must not end the process while it stops.
  process.on("SIGINT", abort);
  process.on("SIGTERM", abort);
  process.once("disconnect", abort);
  return controller.signal;
}

/** Members of errors of PostgreSQL and its clients that hold rows, values and statements: texts of specifications and outputs among them. */
const HIDDEN: ReadonlySet<string> = new Set([
  "detail",
  "where",
  "internalQuery",
  "query",
  "params",
  "parameters",
  "values",
]);
const REDACTED = "[Redacted]";
/** Class of "data exception": alone of PostgreSQL's messages, these repeat values. */
const DATA_EXCEPTION = /^22/;
const MAX_CAUSES = 20;

/**
 * An error as a log line may hold it: without what the database says of rows and values, in itself, its causes, and the errors that it
 * holds. Its code, constraint, table and column stay. Other values stay as they are.
 */
function loggedError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  return hide(stdSerializers.err(error), quotingMessages(error));
}

/** Messages of the error and its causes that repeat values. */
function quotingMessages(error: unknown): readonly string[] {
  const messages: string[] = [];
  let cause = error;
  for (let depth = 0; cause instanceof Error && depth < MAX_CAUSES; depth += 1) {
    if (isDatabaseError(cause) && DATA_EXCEPTION.test(String(cause.code))) messages.push(cause.message);
    cause = cause.cause;
  }
  return messages;
}

/** PostgreSQL gives every error of its own a severity, and nothing else does. */
function isDatabaseError(error: Error): error is Error & { readonly code: unknown } {
  return "severity" in error && "code" in error;
}

function hide(shown: object, quoting: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(shown).map(([key, value]) => [key, hideMember(key, value, quoting)]),
  );
}

function hideMember(key: string, value: unknown, quoting: readonly string[]): unknown {
  if (HIDDEN.has(key) && value !== undefined) return REDACTED;
  if (key === "message" || key === "stack") return withoutQuotes(String(value), quoting);
  if (Array.isArray(value)) return value.map((each) => hideMember("", each, quoting));
  const isError = typeof value === "object" && value !== null && "stack" in value;
  return isError ? hide(value, [...quoting, ...quotingMessages(rawOf(value))]) : value;
}

/** pino keeps the error that it described beside its description. */
function rawOf(shown: object): unknown {
  return "raw" in shown ? shown.raw : null;
}

function withoutQuotes(text: string, quoting: readonly string[]): string {
  return quoting.reduce(
    (so, message) => so.replaceAll(message, () => message.replace(/".*/s, `"${REDACTED}"`)),
    text,
  );
}

/** sysexits.h EX_TEMPFAIL: what runs us should start us again. */
export const EXIT_RESTART = 75;
