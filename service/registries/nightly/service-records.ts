import { and, desc, eq, isNotNull, isNull, lte, or, sql } from "drizzle-orm";
import { readWebhookQueue } from "../../alerts/webhook-log.ts";
import { cachedReader } from "../../db/cached.ts";
import { type Database, underDeadline } from "../../db/database.ts";
import { epoch, publishIntent } from "../../db/tables/publish.ts";
import { type ScanReport, scanRun } from "../../db/tables/scan.ts";
import { countOpen } from "../../ingest/warm/warm-state.ts";
import { readNewestScan } from "./scan-runs.ts";

export type ServiceRecords = Awaited<ReturnType<typeof readServiceRecords>>;

/** State of a chain's background work, read from its tables; null before the first of each, or where none waits. */
export async function readServiceRecords(
  db: Database,
  { chainId, now }: { readonly chainId: number; readonly now: Date },
) {
  const inTime = underDeadline(db);
  const [lastScan, [openScan], [newestRoot], [waiting], { lagSeconds }, warmed] = await Promise.all([
    readNewestScan(inTime, chainId),
    inTime
      .select({ startedAt: scanRun.startedAt, hasFailed: sql<boolean>`${isNotNull(scanRun.error)}` })
      .from(scanRun)
      .where(and(eq(scanRun.chainId, chainId), eq(scanRun.state, "running")))
      .orderBy(desc(scanRun.startedAt))
      .limit(1),
    inTime
      .select({ epoch: epoch.epoch, root: epoch.root, state: epoch.state, createdAt: epoch.createdAt })
      .from(epoch)
      .where(eq(epoch.chainId, chainId))
      .orderBy(desc(epoch.epoch))
      .limit(1),
    inTime
      .select({ since: publishIntent.createdAt })
      .from(publishIntent)
      .where(
        and(
          eq(publishIntent.chainId, chainId),
          eq(publishIntent.state, "pending"),
          or(isNull(publishIntent.notBefore), lte(publishIntent.notBefore, now)),
        ),
      )
      .orderBy(publishIntent.id)
      .limit(1),
    readWebhookQueue(db, now),
    countOpen(inTime, chainId),
  ]);
  return {
    lastScan: lastScan === null ? null : reportedOf(lastScan),
    /** A scan that is under way, or whose last attempt failed. */
    openScan: openScan ?? null,
    epoch: newestRoot ?? null,
    /** Since when the oldest score waits that may go on chain now. */
    publishWaitsSince: waiting?.since ?? null,
    /** Seconds that the most overdue webhook has been due; 0 where none is. */
    webhookLagSeconds: lagSeconds,
    /** Followed wallets, and those of them whose time before the index is still to be read. */
    warmed,
  };
}

function reportedOf(scan: NonNullable<Awaited<ReturnType<typeof readNewestScan>>>) {
  const { night, cause, finishedAt, report } = scan;
  return { night, cause, finishedAt, report };
}

/** Figures of all scores in the report of one nightly scan; the night is a UTC day, YYYY-MM-DD. */
export type ScanNight = Pick<ScanReport, "grades" | "meanScoreHundredths"> & { readonly night: string };

const NIGHTS = 60;
const CACHED_MS = 60_000;

/** Reads the reports of the newest nightly scans that are done, oldest first, at most every minute. */
export function createNightReader(
  db: Database,
  { chainId, monotonicMs }: { readonly chainId: number; readonly monotonicMs: () => number },
): () => Promise<readonly ScanNight[]> {
  const newestNights = underDeadline(db)
    .select({
      night: scanRun.night,
      grades: sql<ScanReport["grades"]>`${scanRun.report} -> 'grades'`,
      meanScoreHundredths: sql<number | null>`(${scanRun.report} ->> 'meanScoreHundredths')::float8`,
    })
    .from(scanRun)
    .where(
      and(
        eq(scanRun.chainId, chainId),
        // As a constant: a parameter would not match the index of nights.
        sql`${scanRun.cause} = 'nightly'`,
        eq(scanRun.state, "done"),
        isNotNull(scanRun.report),
      ),
    )
    .orderBy(desc(scanRun.night))
    .limit(NIGHTS)
    .prepare("scan_nights");
  return cachedReader(
    async () => {
      // In the order of the index of nights; a day has one such scan, whenever it was made up for.
      const nights = await newestNights.execute();
      return nights.reverse();
    },
    { milliseconds: CACHED_MS, monotonicMs },
  );
}
