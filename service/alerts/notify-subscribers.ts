import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Database } from "../db/database.ts";
import { isolateFaults } from "../db/quarantine.ts";
import {
  type DueNotice,
  type LiveSubscription,
  readAlertScores,
  readNotNotified,
  takeExpiring,
  takeLiveSubscriptions,
} from "./alert-subscriptions.ts";
import { dueNotices, planEvents, planExpiry } from "./plan-events.ts";
import { insertEvents } from "./webhook-events.ts";

/**
 * Reads the scores of subscribed wallets before the transaction stores new ones. Other writers of scores of these
 * wallets wait from here on. Returns null and costs one indexed query if nothing is subscribed.
 */
export async function watchWallets(
  tx: NodePgDatabase,
  of: { chainId: number; wallets: readonly string[]; at: Date },
) {
  const subscriptions = await takeLiveSubscriptions(tx, of);
  if (subscriptions.length === 0) return null;
  const { chainId, at } = of;
  return {
    chainId,
    at,
    subscriptions,
    before: await readAlertScores(tx, { chainId, wallets: walletsOf(subscriptions) }),
  };
}

/** Queues an event for every subscribed change, in the transaction that stored the scores. */
export async function notifyChanges(
  tx: NodePgDatabase,
  watched: Awaited<ReturnType<typeof watchWallets>>,
): Promise<void> {
  if (watched === null) return;
  const { chainId, at, subscriptions, before } = watched;
  const after = await readAlertScores(tx, { chainId, wallets: walletsOf(subscriptions) });
  const events = subscriptions.flatMap((subscription) => {
    const { wallet } = subscription;
    const score = after.get(wallet);
    if (score === undefined) return [];
    const change = { chainId, wallet, before: before.get(wallet) ?? null, after: score };
    return planEvents(change, subscription, at);
  });
  await insertEvents(tx, events);
}

function walletsOf(subscriptions: readonly LiveSubscription[]): string[] {
  return [...new Set(subscriptions.map(({ wallet }) => wallet))];
}

/** Subscriptions per transaction, which bounds how long a renewal waits. */
const BATCH = 500;
/** Failures of one notice after which the rest waits for the next run: each costs some statements. */
const MOST_FAILED = 1_000;

/**
 * Queues the due expiry notices, each once per end, and returns their number. After a gap only the nearest notice is
 * sent. Reads at most 500 subscriptions at once. A failure delays no other subscription; the first error is thrown at
 * the end.
 */
export async function notifyExpiry(db: Database, now: Date, batch = BATCH): Promise<number> {
  let notified = 0;
  let error: unknown = null;
  for (const notice of dueNotices(now)) {
    const failed: string[] = [];
    for (;;) {
      const ids = await readNotNotified(db, { ...notice, limit: batch, except: failed });
      let queued = 0;
      const { faults, untried, firstError } = await isolateFaults({
        batches: ids.length === 0 ? [] : [ids],
        lanes: 1,
        attempt: async (some) => {
          queued += await queueNotices(db, { now, notice, ids: some });
        },
      });
      error ??= firstError ?? null;
      notified += queued;
      failed.push(...faults.map(({ subject }) => subject), ...untried);
      // Renewed or ended subscriptions no longer match. If a batch queues nothing, the next run continues.
      if ((queued === 0 && faults.length === 0) || failed.length > MOST_FAILED || ids.length < batch) break;
    }
  }
  if (error !== null) throw error;
  return notified;
}

/** Queues notices for those subscriptions that still end in the span. */
function queueNotices(
  db: Database,
  { now, notice, ids }: { now: Date; notice: DueNotice; ids: readonly string[] },
): Promise<number> {
  return db.transaction(async (tx) => {
    const running = await takeExpiring(tx, { ...notice, ids });
    const notices = running.flatMap((subscription) => planExpiry(subscription, now) ?? []);
    await insertEvents(tx, notices);
    return notices.length;
  });
}
