import { existsSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { type Check, concern, fault, fine, type Verdict } from "../check.ts";
import type { Database } from "./database.ts";
import { clockFault, type DatabaseClock } from "./database-clock.ts";
import { freshnessOf, type IndexHead } from "./index-head.ts";
import { fromIndex, readIndexHead } from "./index-snapshot.ts";
import {
  type DatabaseUse,
  type QueueAge,
  type RoleFacts,
  readChainQueues,
  readDatabaseUse,
  readRoleFacts,
  readServerFacts,
  type ServerFacts,
} from "./operation-facts.ts";
import { type QuarantineFacts, readQuarantineFacts } from "./quarantine.ts";

/** Checks of the server and of the schema. The first one connects: the others have nothing to say without a connection. */
export function serverChecks(
  { db, connect }: { readonly db: Database; readonly connect: () => Promise<DatabaseClock> },
  { databaseUrl, isLocal }: { readonly databaseUrl: string; readonly isLocal: boolean },
): readonly Check[] {
  return [
    {
      name: "database",
      run: async () => {
        await connect();
        return judgeVersion(await readServerFacts(db.$client));
      },
    },
    {
      name: "migrations",
      run: async () => judgeMigrations((await readServerFacts(db.$client)).migrations),
    },
    { name: "rights", run: async () => judgeRoles(await readRoleFacts(db.$client), isLocal) },
    { name: "clock", run: async () => judgeClock((await connect()).aheadSeconds()) },
    { name: "database use", run: async () => judgeUse(await readDatabaseUse(db.$client)) },
    {
      name: "database disk",
      run: async () => checkDatabaseDisk(databaseUrl, await readDatabaseUse(db.$client)),
    },
  ];
}

/** Checks of a chain's rows: its index, its quarantined items, and what waits to be sent. */
export function chainRowChecks(
  { db, now }: { readonly db: Database; readonly now: () => Promise<Date> },
  { chainId, maxIndexAgeSeconds }: { readonly chainId: number; readonly maxIndexAgeSeconds: number },
): readonly Check[] {
  return [
    {
      name: "index",
      run: async () => {
        const head = await fromIndex(readIndexHead(db, chainId));
        return judgeIndex(head, { now: await now(), maxAgeSeconds: maxIndexAgeSeconds });
      },
    },
    {
      name: "quarantine",
      run: async () => judgeQuarantine(await readQuarantineFacts(db.$client, chainId)),
    },
    {
      name: "queues",
      run: async () => {
        const { publish, sender } = await readChainQueues(db.$client, { chainId, now: await now() });
        return [judgeQueue("publications", publish), judgeQueue("transactions", sender)];
      },
    },
  ];
}

/** Whether the index follows the chain, by its newest block; null where it holds none. */
export function judgeIndex(head: IndexHead | null, bound: Parameters<typeof freshnessOf>[1]): Verdict {
  if (head === null)
    return fault("the index holds no block", 'start "ahs index", or wait for its first pass');
  const { ok, detail } = freshnessOf(head, bound);
  return ok ? fine(detail) : fault(detail, 'see that "ahs index" runs, and its log');
}

const GB = 1_000_000_000;

/** Whether the disk of a folder has room. */
export function judgeDisk(
  folder: string,
  { freeBytes, totalBytes }: { freeBytes: number; totalBytes: number },
): Verdict {
  const detail = `${folder}: ${(freeBytes / GB).toFixed(1)} of ${(totalBytes / GB).toFixed(1)} GB free`;
  if (freeBytes < GB) return fault(detail, "make room: PostgreSQL stops when its disk is full");
  return freeBytes < 5 * GB ? concern(detail, "make room, or move the folder") : fine(detail);
}

/** Measures the disk that a folder is on, or would be on. */
export async function checkDisk(wanted: string): Promise<Verdict> {
  let folder = wanted;
  while (!existsSync(folder)) folder = dirname(folder);
  const { bavail, blocks, bsize } = await statfs(folder);
  return judgeDisk(folder, { freeBytes: bavail * bsize, totalBytes: blocks * bsize });
}

const LOCAL_HOSTS: ReadonlySet<string> = new Set(["", "localhost", "127.0.0.1", "[::1]"]);

/** Measures the disk of the database, which is known for one on this machine whose user may see its folder. */
export async function checkDatabaseDisk(
  databaseUrl: string,
  { folder }: Pick<DatabaseUse, "folder">,
): Promise<Verdict> {
  const isHere = LOCAL_HOSTS.has(new URL(databaseUrl).hostname);
  if (isHere && folder !== null && existsSync(folder)) return checkDisk(folder);
  const detail = "not known: the folder of the database cannot be seen from here";
  return { level: "skip", detail, advice: "watch its volume: AhsDatabaseDiskLow in docs/operate.md" };
}

/** Share of PostgreSQL's connections from which new processes may find none. */
const CROWDED = 0.8;

/** Whether PostgreSQL has connections left. */
export function judgeUse({ bytes, connections, maxConnections }: Omit<DatabaseUse, "folder">): Verdict {
  const detail = `${(bytes / GB).toFixed(1)} GB, ${connections} of ${maxConnections} connections`;
  return connections > CROWDED * maxConnections
    ? concern(detail, "raise max_connections, or run fewer processes: each opens up to 20")
    : fine(detail);
}

/** Versions that the tests run on, and those that the statements need. */
const [BEST_MAJOR, LEAST_MAJOR] = [18, 14];

/** Whether PostgreSQL is one that our statements are made for. */
export function judgeVersion({ version, user }: Pick<ServerFacts, "version" | "user">): Verdict {
  const major = Math.floor(version / 10_000);
  const detail = `PostgreSQL ${major}, as ${user}`;
  if (major < LEAST_MAJOR) return fault(detail, `move to PostgreSQL ${BEST_MAJOR}`);
  if (major < BEST_MAJOR)
    return concern(detail, `tested on ${BEST_MAJOR}: plan the move before you rely on it`);
  return fine(detail);
}

/** Whether this code and the database's schema are of one version. */
export function judgeMigrations({ applied, known }: ServerFacts["migrations"]): Verdict {
  const detail = `${applied} of ${known} migrations`;
  if (applied < known) return fault(detail, 'run "ahs migrate" as the owner of the schema ahs');
  if (applied > known)
    return concern(detail, "the database is newer than this code: bring the processes to its version");
  return fine(detail);
}

/** Whether processes run with no more rights than they need, and have those. */
export function judgeRoles(facts: RoleFacts, isLocal: boolean): Verdict {
  const missing = facts.roles.filter(({ exists }) => !exists).map(({ role }) => role);
  if (missing.length > 0) {
    const detail = `no role ${missing.join(", ")}: every process may do everything`;
    return isLocal ? fine(detail) : concern(detail, 'run "ahs migrate --roles" and read docs/database.md');
  }
  if (facts.lacking.length > 0) {
    const [first, ...more] = facts.lacking;
    const others = more.length === 0 ? "" : ` and ${more.length} more`;
    return fault(
      `rights are missing of ${first}${others}`,
      'run "ahs migrate" as the owner of the schema ahs',
    );
  }
  if (facts.largeObjects.length > 0)
    return concern(
      `${facts.largeObjects.join(", ")} can fill the disk with large objects`,
      'run "ahs migrate" as a superuser, or the statement of docs/database.md',
    );
  const own = facts.roles.filter(({ isMember }) => isMember).map(({ role }) => role);
  if (facts.ownsAll) return fine("every role has its rights; this user owns the tables, as operators do");
  if (own.length === 0)
    return fault("this user is a member of no role", "grant it ahs_index, ahs_serve or ahs_work");
  return fine(`every role has its rights; this user is of ${own.join(", ")}`);
}

/** Seconds that work may be overdue before a warning, and before no worker seems to do it. */
const [LATE, STUCK] = [300, 3_600];

/** Whether a worker takes the waiting items of a queue. */
export function judgeQueue(name: string, { waiting, overdueSeconds }: QueueAge): Verdict {
  const age = Math.round(overdueSeconds);
  const detail =
    waiting === 0 ? `${name}: empty` : `${name}: ${waiting} waiting, the longest due for ${age} s`;
  const advice = `see that "ahs work" runs, and what its log says of ${name}`;
  if (overdueSeconds > STUCK) return fault(detail, advice);
  return overdueSeconds > LATE ? concern(detail, advice) : fine(detail);
}

/** Whether any work is being left out for its errors, a verdict for each kind of work. */
export function judgeQuarantine(facts: readonly QuarantineFacts[]): readonly Verdict[] {
  if (facts.length === 0) return [fine("no item is quarantined")];
  return facts.map(({ kind, count, oldest }) =>
    concern(
      `${kind}: ${count} quarantined, the oldest ${oldest.subject} since ${oldest.since.toISOString()}, ${oldest.failures} failures: ${oldest.error}`,
      `all others are worked on; correct the cause, then "ahs quarantine retry ${kind}" has them tried at once`,
    ),
  );
}

/** Whether this machine's clock agrees with the database's. */
export function judgeClock(aheadSeconds: number): Verdict {
  const found = clockFault(aheadSeconds);
  if (found === null) return fine("this machine's clock agrees with the database's");
  return fault(found, "have all machines follow one time (NTP)");
}
