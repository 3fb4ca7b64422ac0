import { type Database, openDatabase } from "../../../../service/db/database.ts";

/** When a process dies at a statement: before the server has it, or after the server has done it and before the process hears so. */
export type Death = "before" | "after";

type Query = (...args: unknown[]) => unknown;

/**
 * The same database as a process sees it that dies at a statement, counted from 1: that one and all later ones throw. `bury` ends its
 * connections, as the system does for the dead.
 */
export function mortalDatabase(
  of: Database,
  { statement, death }: { readonly statement: number; readonly death: Death },
) {
  const db = openDatabase({
    url: of.$client.options.connectionString ?? "",
    applicationName: "ahs-mortal",
    maxConnections: 4,
    statementTimeoutMs: 5_000,
    connectTimeoutMs: 5_000,
    onIdleError: () => undefined,
  });
  const ends: (() => Promise<void>)[] = [];
  let sent = 0;
  db.$client.on("connect", (client) => {
    const query: Query = client.query.bind(client) as Query;
    const dying = (...args: unknown[]) => {
      sent += 1;
      if (sent < statement) return query(...args);
      return sent > statement || death === "before" ? fail(args) : doneUnheard(query, args);
    };
    Object.assign(client, { query: dying });
    ends.push(() => client.end());
  });
  const bury = async () => {
    await Promise.all(ends.map((end) => end()));
  };
  return { db, bury, hasDied: () => sent >= statement };
}

const dead = () => new Error("the process is dead");

/** pg's pool passes a callback, and everybody else waits for a promise. */
function fail(args: unknown[]): unknown {
  const callback = args.at(-1);
  if (typeof callback !== "function") return Promise.reject(dead());
  setImmediate(() => callback(dead()));
  return undefined;
}

function doneUnheard(query: Query, args: unknown[]): unknown {
  const callback = args.at(-1);
  if (typeof callback === "function") return query(...args.slice(0, -1), () => callback(dead()));
  return Promise.resolve(query(...args)).then(() => Promise.reject(dead()));
}
