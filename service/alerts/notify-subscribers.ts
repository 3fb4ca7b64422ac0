import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Database } from "../db/database.ts";
import { isolateFaults } from "../db/quarantine.ts";
import {
  type LiveSubscription,
  readToldScores,
  readUntold,
  type ToldScore,
  takeExpiring,
  takeLiveSubscriptions,
} from "./alert-subscriptions.ts";
import { type DueNotice, dueNotices, planEvents, planExpiry } from "./plan-events.ts";
import { insertEvents } from "./webhook-events.ts";

/** The subscriptions of wallets about to be scored, and their scores before; null where nobody subscribed to any. */
type Watched = {
  readonly chainId: number;
  readonly at: Date;
  readonly subscriptions: readonly LiveSubscription[];
  readonly before: ReadonlyMap<string, ToldScore>;
} | null;

/**
 * Notes how the wallets stand that somebody subscribed to, before the transaction stores scores of them; other writers of
 * scores of those wallets wait from here on. One indexed query, where nobody subscribed to any.
 */
export async function watchWallets(
  tx: NodePgDatabase,
  of: { readonly chainId: number; readonly wallets: readonly string[]; readonly at: Date },
): Promise<Watched> {
  const subscriptions = await takeLiveSubscriptions(tx, of);
  if (subscriptions.length === 0) return null;
  const { chainId, at } = of;
  return {
    chainId,
    at,
    subscriptions,
    before: await readToldScores(tx, { chainId, wallets: walletsOf(subscriptions) }),
  };
}

/** Queues, in the transaction that stored the scores, an event for every change that a subscription asks to be told of. */
export async function tellChanges(tx: NodePgDatabase, watched: Watched): Promise<void> {
  if (watched === null) return;
  const { chainId, at, subscriptions, before } = watched;
  const after = await readToldScores(tx, { chainId, wallets: walletsOf(subscriptions) });
  const events = subscriptions.flatMap((subscription) => {
    const { wallet } = subscription;
    const score = after.get(wallet);
    if (score === undefined) return [];
    return planEvents(
      { chainId, wallet, before: before.get(wallet) ?? null, after: score },
      subscription,
      at,
    );
  });
  await insertEvents(tx, events);
}

function walletsOf(subscriptions: readonly LiveSubscription[]): string[] {
  return [...new Set(subscriptions.map(({ wallet }) => wallet))];
}

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
