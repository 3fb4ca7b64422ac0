import { LABELS_KEPT_MS } from "../../service/labels/label-reader.ts";
import type { Database } from "../../service/store/database.ts";
import { dropExpiredAnswers } from "../../service/store/idempotent-answers.ts";
import { dropOldAnswers } from "../../service/store/payments-due.ts";
import { dropIdleBuckets } from "../../service/store/rate-buckets.ts";
import { dropExpiredNonces } from "../../service/store/sign-in-nonces.ts";
import { dropOldLabels } from "../../service/store/wallet-labels.ts";
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
