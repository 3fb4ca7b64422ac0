import type { Database } from "../store/database.ts";
import { readExpiring, takeExpiring } from "../store/live-subscriptions.ts";
import { insertEvents } from "../store/webhook-events.ts";
import { FIRST_NOTICE_MS, planExpiry } from "./plan-expiry.ts";

/** Subscriptions in one transaction: whoever renews one of them waits for no more than that. */
const BATCH = 500;

/**
 * Queues the notices that are due of subscriptions that run out, each once for its end, and answers how many; what was missed
 * while nobody looked is made up for by the nearest notice alone.
 */
export async function tellExpiry(db: Database, now: Date): Promise<number> {
  const until = new Date(now.getTime() + FIRST_NOTICE_MS);
  const expiring = await readExpiring(db, { now, until });
  const due = expiring.filter((subscription) => {
    const notice = planExpiry(subscription, now);
    return notice !== null && !subscription.told.includes(notice.dedupeKey);
  });
  let told = 0;
  for (let start = 0; start < due.length; start += BATCH) {
    const ids = due.slice(start, start + BATCH).map(({ id }) => id);
    told += await db.transaction(async (tx) => {
      // As they stand now: one that was renewed or ended meanwhile is told nothing.
      const running = await takeExpiring(tx, { now, until, ids });
      const notices = running.flatMap((subscription) => planExpiry(subscription, now) ?? []);
      await insertEvents(tx, notices);
      return notices.length;
    });
  }
  return told;
}
