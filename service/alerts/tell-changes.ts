import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { readToldScores, type ToldScore } from "./alert-scores.ts";
import { type LiveSubscription, takeLiveSubscriptions } from "./live-subscriptions.ts";
import { planEvents } from "./plan-events.ts";
import { insertEvents } from "./webhook-events.ts";

/** The subscriptions of wallets about to be scored, and their scores before; null where nobody subscribed to any. */
export type Watched = {
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
