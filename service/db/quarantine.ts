import { and, asc, eq, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { isOneOf } from "./columns.ts";
import type { Database } from "./database.ts";
import { isOutage } from "./database-failure.ts";
import { type QuarantineKind, quarantine } from "./tables/quarantine.ts";

/** The items of one kind of work on one chain. */
type QuarantineScope = { readonly chainId: number; readonly kind: QuarantineKind };

export type Fault = { readonly subject: string; readonly error: unknown };

/** Seconds until the next try after the first failure, which doubles with each further one, and at most. */
const [FIRST_RETRY_SECONDS, LONGEST_RETRY_SECONDS] = [60, 6 * 3_600];
/** Entries of one kind: a flood of bad items must not make every run read a long list. */
const MOST_ENTRIES = 10_000;
/** Characters of an error's text that are stored. */
const MOST_ERROR_CHARACTERS = 300;

/** When each quarantined item of a kind is tried again. */
export async function readQuarantine(
  db: NodePgDatabase,
  { chainId, kind }: QuarantineScope,
): Promise<ReadonlyMap<string, Date>> {
  const rows = await db
    .select({ subject: quarantine.subject, nextTryAt: quarantine.nextTryAt })
    .from(quarantine)
    .where(and(eq(quarantine.chainId, chainId), eq(quarantine.kind, kind)));
  return new Map(rows.map(({ subject, nextTryAt }) => [subject, nextTryAt]));
}

/**
 * Quarantines items, or extends their time: a minute after the first failure, then twice as long each time, up to six hours.
 * Beyond 10,000 entries of a kind new ones are not stored. Returns how many were stored.
 */
export async function quarantineItems(
  db: NodePgDatabase,
  { chainId, kind }: QuarantineScope,
  { faults, now }: { readonly faults: readonly Fault[]; readonly now: Date },
): Promise<number> {
  if (faults.length === 0) return 0;
  const { rowCount } = await db.execute(sql`
    insert into ${quarantine} as held (chain_id, kind, subject, error, failures, first_failed_at, next_try_at)
    select ${chainId}, ${kind}, fault.subject, fault.error, 1, ${now}::timestamptz,
      ${now}::timestamptz + ${FIRST_RETRY_SECONDS} * interval '1 second'
    from unnest(
      ${sql.param(faults.map(({ subject }) => subject))}::text[],
      ${sql.param(faults.map(({ error }) => describeFault(error)))}::text[]
    ) with ordinality as fault (subject, error, place)
    where fault.place + (select count(*) from ${quarantine} where chain_id = ${chainId} and kind = ${kind}) <= ${MOST_ENTRIES}
      or exists (select from ${quarantine} known
        where known.chain_id = ${chainId} and known.kind = ${kind} and known.subject = fault.subject)
    on conflict (chain_id, kind, subject) do update set
      error = excluded.error, failures = held.failures + 1,
      next_try_at = ${now}::timestamptz + interval '1 second'
        * least(${FIRST_RETRY_SECONDS} * power(2, least(held.failures, 30)), ${LONGEST_RETRY_SECONDS})`);
  return rowCount ?? 0;
}

/** Ends the quarantine of items whose work succeeded. */
export async function releaseItems(
  db: NodePgDatabase,
  { chainId, kind }: QuarantineScope,
  subjects: readonly string[],
): Promise<void> {
  if (subjects.length === 0) return;
  const isOfKind = and(eq(quarantine.chainId, chainId), eq(quarantine.kind, kind));
  await db.delete(quarantine).where(and(isOfKind, isOneOf(quarantine.subject, subjects)));
}

/** Has the quarantined items of a chain, or of one kind, tried by the next run; returns how many. */
export async function retryItems(
  db: NodePgDatabase,
  { chainId, kind, now }: { readonly chainId: number; readonly kind: string | null; readonly now: Date },
): Promise<number> {
  const { rowCount } = await db.execute(sql`
    update ${quarantine} set next_try_at = ${now}::timestamptz
    where chain_id = ${chainId} and (${kind}::text is null or kind = ${kind})`);
  return rowCount ?? 0;
}

export type QuarantinedItem = typeof quarantine.$inferSelect;

/** The items that are quarantined on a chain, those that have failed for longest first. */
export function readQuarantined(
  db: NodePgDatabase,
  chainId: number,
  limit: number,
): Promise<readonly QuarantinedItem[]> {
  return db
    .select()
    .from(quarantine)
    .where(eq(quarantine.chainId, chainId))
    .orderBy(asc(quarantine.firstFailedAt), asc(quarantine.subject))
    .limit(limit);
}

/** How many items of a kind are quarantined, and the one that has failed for longest. */
export type QuarantineFacts = {
  readonly kind: QuarantineKind;
  readonly count: number;
  readonly oldest: {
    readonly subject: string;
    readonly error: string;
    readonly failures: number;
    readonly since: Date;
  };
};

/** Reads the quarantine of a chain; kinds without an entry are left out. */
export async function readQuarantineFacts(
  client: Pick<Pool, "query">,
  chainId: number,
): Promise<readonly QuarantineFacts[]> {
  const { rows } = await client.query<{ kind: QuarantineKind; count: number } & QuarantineFacts["oldest"]>(
    `select distinct on (kind) kind, (count(*) over (partition by kind))::int as count, subject, error, failures,
       first_failed_at as since
     from ahs.quarantine where chain_id = $1 order by kind, first_failed_at, subject`,
    [chainId],
  );
  return rows.map(({ kind, count, ...oldest }) => ({ kind, count, oldest }));
}

/**
 * The innermost cause's name and code, and its text up to the first quote: what is quoted may come from rows, and may hold quotes
 * itself. Of a SyntaxError the text repeats what was parsed without quotes.
 */
function describeFault(error: unknown): string {
  let inner = error;
  while (inner instanceof Error && inner.cause instanceof Error) inner = inner.cause;
  if (!(inner instanceof Error)) return "a value that is no error was thrown";
  const code: unknown = Reflect.get(inner, "code");
  const name = typeof code === "string" ? `${inner.name} ${code}` : inner.name;
  if (inner instanceof SyntaxError) return name;
  const message = inner.message.replace(/["'`].*/s, '"…"');
  return `${name}: ${message}`.replaceAll("\0", "").slice(0, MOST_ERROR_CHARACTERS);
}

/** New failures without a single success from which on the fault is taken for one of the whole. */
const MOST_WITHOUT_SUCCESS = 16;
/** Quarantined items that one run tries again, each alone. */
const MOST_AGAIN = 32;

/**
 * Works through items in batches. An item at fault is quarantined with its error, and left out until its time has come; one
 * that succeeds then is released. Where the fault is one of the whole (database out of reach, `control` fails, nothing
 * succeeds), no item is quarantined and the error is thrown.
 */
export async function workThrough(
  context: QuarantineScope & {
    readonly db: Database;
    readonly logger: Logger;
    readonly now: () => Date;
  },
  work: Omit<BatchWork, "batches"> & {
    /** Each once, in the order in which they are to be attempted. */
    readonly items: readonly string[];
    readonly batchSize: number;
    /** Throws if the work fails for any items. */
    readonly control: () => Promise<void>;
  },
): Promise<void> {
  const { db, kind, logger, now } = context;
  const startedAt = now();
  const held = await readQuarantine(db, context);
  const fresh = work.items.filter((item) => !held.has(item));
  const dueAt = (item: string) => held.get(item)?.getTime() ?? Number.POSITIVE_INFINITY;
  const again = work.items
    .filter((item) => dueAt(item) <= startedAt.getTime())
    .toSorted((a, b) => dueAt(a) - dueAt(b));
  const batches = [...inBatches(fresh, work.batchSize), ...inBatches(again.slice(0, MOST_AGAIN), 1)];
  if (batches.length === 0) return;
  const { done, faults, untried, firstError } = await isolateFaults({ ...work, batches });
  const news = faults.filter(({ subject }) => !held.has(subject));
  if (done.length === 0 && news.length + untried.length > MOST_WITHOUT_SUCCESS) throw firstError;
  if (faults.length > 0) await work.control();
  await releaseItems(
    db,
    context,
    done.filter((item) => held.has(item)),
  );
  if (faults.length === 0) return;
  const stored = await quarantineItems(db, context, { faults, now: now() });
  const [first] = faults;
  logger.error(
    {
      kind,
      quarantined: stored,
      notStored: faults.length - stored,
      left: untried.length,
      subject: first?.subject,
      err: first?.error,
    },
    "items failed alone and are quarantined",
  );
}

type BatchWork = {
  readonly batches: readonly (readonly string[])[];
  /** Batches in progress at once. */
  readonly lanes: number;
  /** May be called again with items that it has done. */
  readonly attempt: (items: readonly string[]) => Promise<void>;
  /** Ends the work between two attempts. */
  readonly signal?: AbortSignal;
};

/** Failed parts of batches that are halved again in one run: eight bad items of a batch of 250 at least are found. */
const MOST_SPLITS = 64;

/**
 * Attempts every batch; one that fails is halved until the items at fault are alone, after all other batches had their attempt.
 * Throws when the signal fires, and when an attempt fails because the database is out of reach.
 */
export async function isolateFaults(work: BatchWork): Promise<{
  readonly done: readonly string[];
  readonly faults: readonly Fault[];
  /** Items of failed batches for which this run had no attempts left. */
  readonly untried: readonly string[];
  /** The error thrown first. */
  readonly firstError: unknown;
}> {
  const fresh = [...work.batches];
  const parts: (readonly string[])[] = [];
  const done: string[] = [];
  const faults: Fault[] = [];
  const untried: string[] = [];
  const errors: unknown[] = [];
  let splits = 0;
  const outages: { readonly error: unknown }[] = [];

  const take = () => {
    const batch = fresh.shift();
    if (batch !== undefined) return { items: batch, isPart: false };
    // The newest first: so a few attempts lead to one item, and not to many smaller batches.
    const part = parts.pop();
    return part === undefined ? null : { items: part, isPart: true };
  };
  const divide = (items: readonly string[], isPart: boolean) => {
    if (isPart) splits += 1;
    if (splits > MOST_SPLITS) {
      untried.push(...items);
      return;
    }
    const middle = Math.ceil(items.length / 2);
    parts.push(items.slice(middle), items.slice(0, middle));
  };
  const runLane = async () => {
    while (outages.length === 0) {
      const next = take();
      if (next === null) return;
      try {
        work.signal?.throwIfAborted();
        await work.attempt(next.items);
        done.push(...next.items);
      } catch (error) {
        if (work.signal?.aborted || isOutage(error)) {
          outages.push({ error });
          return;
        }
        errors.push(error);
        const [first, ...others] = next.items;
        if (first !== undefined && others.length === 0) faults.push({ subject: first, error });
        else divide(next.items, next.isPart);
      }
    }
  };
  await Promise.all(Array.from({ length: work.lanes }, runLane));
  const [end] = outages;
  if (end !== undefined) throw end.error;
  return { done, faults, untried, firstError: errors[0] };
}

/** Divides items, in their order. */
export function inBatches(items: readonly string[], size: number): (readonly string[])[] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, at) => items.slice(at * size, (at + 1) * size));
}
