import { dropExpiredAnswers } from "../../service/access/idempotent-answers.ts";
import { dropOldAnswers } from "../../service/access/payments/payments-due.ts";
import { dropIdleBuckets } from "../../service/access/rate-limits.ts";
import { dropExpiredNonces } from "../../service/access/sign-in.ts";
import type { Database } from "../../service/db/database.ts";
import { dropOldLabels, LABELS_KEPT_MS } from "../../service/reports/labels/label-reader.ts";
import { doAll } from "./repeat.ts";

/** A bucket that was not taken from for a minute is full, which is what no bucket means as well. */
const BUCKET_IDLE_MS = 120_000;

/** Deletes what no request looks at any more: answers past their day, buckets that are full, nonces of old sign-ins, and labels that would be asked for anew. */
export async function sweepRequests(db: Database, now: Date): Promise<void> {
  await doAll([
    () => dropExpiredAnswers(db, now),
    () => dropOldAnswers(db, now),
    () => dropIdleBuckets(db, new Date(now.getTime() - BUCKET_IDLE_MS)),
    () => dropExpiredNonces(db, now),
    () => dropOldLabels(db, new Date(now.getTime() - LABELS_KEPT_MS)),
  ]);
}
