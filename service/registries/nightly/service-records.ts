import { readWebhookQueue } from "../../alerts/webhook-log.ts";
import { cached } from "../../db/cached.ts";
import { type Database, QUERY_DEADLINE } from "../../db/database.ts";
import type { EpochState } from "../../db/tables/publish.ts";
import type { ScanCause, ScanReport } from "../../db/tables/scan.ts";
import type { Grade } from "../../model/score/record.ts";

/** State of the background work, read from its tables. */
export type ServiceRecords = {
  /** The scan that came to its end last; null before the first. */
  readonly lastScan: {
    readonly night: string;
    readonly cause: ScanCause;
    readonly finishedAt: Date;
    readonly report: ScanReport;
  } | null;
  /** A scan that is under way, or whose last attempt failed. */
  readonly openScan: { readonly startedAt: Date; readonly hasFailed: boolean } | null;
  /** The newest Merkle root; null before the first. */
  readonly epoch: {
    readonly epoch: number;
    readonly root: string;
    readonly state: EpochState;
    readonly createdAt: Date;
  } | null;
  /** Since when the oldest score waits that may go on chain now; null where none does. */
  readonly publishWaitsSince: Date | null;
  /** Seconds that the most overdue webhook has been due; 0 where none is. */
  readonly webhookLagSeconds: number;
};

type Scanned = Omit<NonNullable<ServiceRecords["lastScan"]>, "finishedAt"> & { readonly finished_at: Date };
type Opened = { readonly started_at: Date; readonly has_failed: boolean };
type Rooted = Omit<NonNullable<ServiceRecords["epoch"]>, "createdAt" | "epoch"> & {
  readonly epoch: string;
  readonly created_at: Date;
};

/** Reads them for one chain. */
export async function readServiceRecords(
  db: Database,
  { chainId, now }: { readonly chainId: number; readonly now: Date },
): Promise<ServiceRecords> {
  const first = async <Row extends object>(text: string, values: readonly unknown[] = [chainId]) =>
    (await db.$client.query<Row>({ ...QUERY_DEADLINE, text, values: [...values] })).rows[0] ?? null;
  const [scanned, opened, rooted, waiting, { lagSeconds }] = await Promise.all([
    first<Scanned>(
      `select night, cause, finished_at, report from ahs.scan_run
       where chain_id = $1 and state = 'done' order by finished_at desc limit 1`,
    ),
    first<Opened>(
      `select started_at, error is not null as has_failed from ahs.scan_run
       where chain_id = $1 and state = 'running' order by started_at desc limit 1`,
    ),
    first<Rooted>(
      "select epoch, root, state, created_at from ahs.epoch where chain_id = $1 order by epoch desc limit 1",
    ),
    first<{ readonly created_at: Date }>(
      `select created_at from ahs.publish_intent
       where chain_id = $1 and state = 'pending' and (not_before is null or not_before <= $2) order by id limit 1`,
      [chainId, now],
    ),
    readWebhookQueue(db, now),
  ]);
  return {
    lastScan: scanned === null ? null : renamedScan(scanned),
    openScan: opened === null ? null : { startedAt: opened.started_at, hasFailed: opened.has_failed },
    epoch: rooted === null ? null : renamedEpoch(rooted),
    publishWaitsSince: waiting?.created_at ?? null,
    webhookLagSeconds: lagSeconds,
  };
}

function renamedScan({ finished_at, ...scan }: Scanned): ServiceRecords["lastScan"] {
  return { ...scan, finishedAt: finished_at };
}

function renamedEpoch({ created_at, epoch, ...rooted }: Rooted): ServiceRecords["epoch"] {
  return { ...rooted, epoch: Number(epoch), createdAt: created_at };
}

/** What the report of one nightly scan says of all scores. */
export type ScanNight = {
  /** UTC day, YYYY-MM-DD. */
  readonly night: string;
  readonly grades: Readonly<Record<Grade | "insufficient", number>>;
  /** Mean of all scores in hundredths; null without scores. */
  readonly meanScoreHundredths: number | null;
};

const NIGHTS = 60;
const KEPT_MS = 60_000;

/** Reads the reports of the newest nightly scans that are done, oldest first, at most every minute. */
export function createNightReader(
  db: Database,
  { chainId, monotonicMs }: { readonly chainId: number; readonly monotonicMs: () => number },
): () => Promise<readonly ScanNight[]> {
  const read = cached(() => readNights(db, chainId), {
    keyOf: () => "all",
    milliseconds: KEPT_MS,
    entries: 1,
    monotonicMs,
  });
  return () => read(undefined);
}

async function readNights(db: Database, chainId: number): Promise<readonly ScanNight[]> {
  const { rows } = await db.$client.query<{
    night: string;
    grades: ScanNight["grades"];
    mean: number | null;
  }>({
    ...QUERY_DEADLINE,
    name: "scan_nights",
    // In the order of the index of nights; a day has one such scan, whenever it was made up for.
    text: `select night, report -> 'grades' as grades, (report ->> 'meanScoreHundredths')::float8 as mean
           from ahs.scan_run
           where chain_id = $1 and cause = 'nightly' and state = 'done' and report is not null
           order by night desc limit ${NIGHTS}`,
    values: [chainId],
  });
  return rows.map(({ night, grades, mean }) => ({ night, grades, meanScoreHundredths: mean })).reverse();
}
