import type { Database } from "../../service/store/database.ts";
import { dropExpiredAnswers } from "../../service/store/idempotent-answers.ts";
import { dropIdleBuckets } from "../../service/store/rate-buckets.ts";
import { dropExpiredNonces } from "../../service/store/sign-in-nonces.ts";

const DAY_MS = 86_400_000;

/** Deletes what no request looks at any more: answers past their day, buckets unused for one, and nonces of old sign-ins. */
export async function sweepRequests(db: Database, now: Date): Promise<void> {
  await dropExpiredAnswers(db, now);
  await dropIdleBuckets(db, new Date(now.getTime() - DAY_MS));
  await dropExpiredNonces(db, now);
}
