import { and, desc, eq, isNotNull, ne, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { holdChain } from "../../db/chain-fence.ts";
import type { Database } from "../../db/database.ts";
import { tryLock } from "../../db/session.sql.ts";
import { type ScanReport, scanRun } from "../../db/tables/scan.ts";
import { readAsOf } from "../../ingest/read-as-of.ts";

export type ScanRunRow = typeof scanRun.$inferSelect;

/** An attempt at a run: who holds an older one of the same run can no longer end it. */
export type ScanAttempt = Pick<ScanRunRow, "id" | "chainId" | "startedAt" | "attempts">;

/**
 * Begins a scan, or resumes the unfinished one of that night; other unfinished scans become abandoned. Call it under
 * the scan's lock. Returns null if the scan of the night is done.
 */
export async function beginScan(
  db: Database,
  scan: Pick<ScanRunRow, "id" | "chainId" | "night" | "cause"> & { readonly now: Date },
): Promise<ScanAttempt | null> {
  const { chainId, night, cause, id, now } = scan;
  return db.transaction(async (tx) => {
    await holdChain(tx, chainId);
    const [row] = await tx
      .insert(scanRun)
      .values({ id, chainId, night, cause, state: "running", startedAt: now })
      .onConflictDoUpdate({
        target: [scanRun.chainId, scanRun.night],
        targetWhere: sql`cause = 'nightly'`,
        set: { state: "running", attempts: sql`${scanRun.attempts} + 1` },
        setWhere: ne(scanRun.state, "done"),
      })
      .returning();
    if (row === undefined) return null;
    await tx
      .update(scanRun)
      .set({ state: "abandoned" })
      .where(and(eq(scanRun.chainId, chainId), eq(scanRun.state, "running"), ne(scanRun.id, row.id)));
    return row;
  });
}

/** Notes why an attempt failed; nothing where another has begun since. */
export async function noteScanFailure(
  db: NodePgDatabase,
  { id, attempts }: ScanAttempt,
  error: string,
): Promise<void> {
  await db.update(scanRun).set({ error }).where(isOpen({ id, attempts }));
}

function isOpen({ id, attempts }: Pick<ScanAttempt, "id" | "attempts">) {
  return and(eq(scanRun.id, id), eq(scanRun.attempts, attempts), eq(scanRun.state, "running"));
}

/** Ends an attempt with its report; false, and nothing changes, where another has begun since. */
export async function endScan(
  tx: NodePgDatabase,
  { id, attempts }: ScanAttempt,
  end: { readonly report: ScanReport; readonly finishedAt: Date },
): Promise<boolean> {
  const ended = await tx
    .update(scanRun)
    .set({ state: "done", error: null, ...end })
    .where(isOpen({ id, attempts }))
    .returning({ id: scanRun.id });
  return ended.length > 0;
}

/**
 * The block that the scores of a run must reach: the newest finalized and enriched one when its first attempt asked. Null
 * without such a block.
 */
export async function fixReach(
  db: Database,
  { id, chainId }: Pick<ScanAttempt, "id" | "chainId">,
): Promise<number | null> {
  const asOf = await readAsOf(db.$client, chainId);
  if (asOf === null) return null;
  const [row] = await db
    .update(scanRun)
    .set({ reach: sql`coalesce(${scanRun.reach}, ${asOf.blockNumber})` })
    .where(eq(scanRun.id, id))
    .returning({ reach: scanRun.reach });
  return row?.reach ?? null;
}

/** The block that the scores of the running scan must reach; null while none scores. */
export async function readReach(db: NodePgDatabase, chainId: number): Promise<number | null> {
  const [row] = await db
    .select({ reach: scanRun.reach })
    .from(scanRun)
    .where(and(eq(scanRun.chainId, chainId), eq(scanRun.state, "running"), isNotNull(scanRun.reach)));
  return row?.reach ?? null;
}

/** Whether the nightly scan of that UTC day is done. */
export async function isNightDone(db: NodePgDatabase, chainId: number, night: string): Promise<boolean> {
  const ofNight = and(
    eq(scanRun.chainId, chainId),
    eq(scanRun.night, night),
    eq(scanRun.cause, "nightly"),
    eq(scanRun.state, "done"),
  );
  return (await db.$count(scanRun, ofNight)) > 0;
}

/** The scan that was done last; null before the first. */
export async function readNewestScan(db: NodePgDatabase, chainId: number) {
  const [scan] = await db
    .select()
    .from(scanRun)
    .where(and(eq(scanRun.chainId, chainId), eq(scanRun.state, "done")))
    .orderBy(desc(scanRun.finishedAt))
    .limit(1);
  if (scan === undefined) return null;
  const { finishedAt, report } = scan;
  if (finishedAt === null || report === null) throw new Error(`scan ${scan.id} is done without a report`);
  return { ...scan, finishedAt, report };
}

/** Scans of a chain, the newest first. */
export async function readScans(db: NodePgDatabase, chainId: number, limit: number): Promise<ScanRunRow[]> {
  return db
    .select()
    .from(scanRun)
    .where(eq(scanRun.chainId, chainId))
    .orderBy(desc(scanRun.startedAt))
    .limit(limit);
}

/** The newest scan whose id begins with this text, or of this UTC day (YYYY-MM-DD); null without one. */
export async function readScan(
  db: NodePgDatabase,
  chainId: number,
  idOrNight: string,
): Promise<ScanRunRow | null> {
  const [row] = await db
    .select()
    .from(scanRun)
    .where(
      and(
        eq(scanRun.chainId, chainId),
        sql`(${scanRun.night} = ${idOrNight} or starts_with(${scanRun.id}::text, ${idOrNight}))`,
      ),
    )
    .orderBy(desc(scanRun.startedAt))
    .limit(1);
  return row ?? null;
}

/** 02:10 UTC: after the day has turned on every chain, before the first readers of the morning. */
const DUE_AFTER_MS = (2 * 60 + 10) * 60_000;
/** The same time as a cron expression. */
export const NIGHT_CRON = "10 2 * * *";

/** The UTC day (YYYY-MM-DD) of the newest night whose scan is due. */
export function nightOf(now: Date): string {
  return new Date(now.getTime() - DUE_AFTER_MS).toISOString().slice(0, 10);
}

/** When the scan of a night (YYYY-MM-DD) becomes due: the night lasts until the next one's does. */
export function nightStart(night: string): Date {
  return new Date(Date.parse(night) + DUE_AFTER_MS);
}

const LOCK = "ahs-scan-run";

/**
 * Runs the work while no other process of the chain does, or returns "busy" at once. PostgreSQL frees the lock when the
 * connection of a dead process ends. The work's signal fires with the given one, and when the connection of the lock is
 * lost.
 */
export async function whileScanning<Result>(
  lock: { readonly db: Database; readonly chainId: number; readonly signal: AbortSignal },
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result | "busy"> {
  const client = await lock.db.$client.connect();
  const lost = new AbortController();
  const onLost = () => lost.abort(new Error("the connection that holds the scan's lock was lost"));
  client.once("error", onLost);
  let isIdle = false;
  try {
    isIdle = !(await tryLock(client, LOCK, lock.chainId));
    return isIdle ? "busy" : await work(AbortSignal.any([lock.signal, lost.signal]));
  } finally {
    client.off("error", onLost);
    // Closing the connection frees the lock whatever state the work left it in.
    client.release(!isIdle);
  }
}
