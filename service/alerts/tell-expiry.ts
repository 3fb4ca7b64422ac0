import type { Database } from "../db/database.ts";
import { isolateFaults } from "../db/isolate-faults.ts";
import { readUntold, takeExpiring } from "./live-subscriptions.ts";
import { type DueNotice, dueNotices, planExpiry } from "./plan-expiry.ts";
import { insertEvents } from "./webhook-events.ts";

/** Subscriptions in one transaction: whoever renews one of them waits for no more than that. */
const BATCH = 500;
/** Failed ones of one notice after which the others wait for the next look: each costs some statements. */
const MOST_FAILED = 1_000;

/**
 * Queues the notices that are due of subscriptions that run out, each once for its end, and answers how many; what was missed
 * while nobody looked is made up for by the nearest notice alone. However many run out, no more than 500 are read at once. One
 * that fails delays no other; the first error is thrown once all were tried.
 */
export async function tellExpiry(db: Database, now: Date, batch = BATCH): Promise<number> {
  let told = 0;
  let error: unknown = null;
  for (const notice of dueNotices(now)) {
    const failed: string[] = [];
    for (;;) {
      const ids = await readUntold(db, { ...notice, limit: batch, except: failed });
      let queued = 0;
      const { faults, untried, firstError } = await isolateFaults({
        batches: ids.length === 0 ? [] : [ids],
        lanes: 1,
        attempt: async (some) => {
          queued += await tell(db, { now, notice, ids: some });
        },
      });
      error ??= firstError ?? null;
      told += queued;
      failed.push(...faults.map(({ subject }) => subject), ...untried);
      // Whoever was renewed or ended meanwhile is found no more; were none of them told, the next look is soon enough.
      if ((queued === 0 && faults.length === 0) || failed.length > MOST_FAILED || ids.length < batch) break;
    }
  }
  if (error !== null) throw error;
  return told;
}

/** Tells those of some subscriptions that still run out then. */
function tell(
  db: Database,
  { now, notice, ids }: { readonly now: Date; readonly notice: DueNotice; readonly ids: readonly string[] },
): Promise<number> {
  return db.transaction(async (tx) => {
    const running = await takeExpiring(tx, { ...notice, ids });
    const notices = running.flatMap((subscription) => planExpiry(subscription, now) ?? []);
    await insertEvents(tx, notices);
    return notices.length;
  });
}
