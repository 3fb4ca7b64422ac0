import { checksumAddress } from "viem";
import { EXPIRING_EVENT } from "./alert-events.ts";
import type { ExpiringSubscription } from "./live-subscriptions.ts";
import { newEvent } from "./new-event.ts";
import type { NewEvent } from "./webhook-events.ts";

/** How many days before its end a subscription is told of it, the nearest first. */
const NOTICE_DAYS = [1, 3] as const;
const DAY_MS = 86_400_000;

/** Of which ends a notice is due, and how its dedupe key is made: of what stands before the end in Unix milliseconds, and after it. */
export type DueNotice = {
  readonly after: Date;
  readonly until: Date;
  readonly key: readonly [string, string];
};

/** The notices that can be due at a moment, the nearest first; of each end one. */
export function dueNotices(at: Date): readonly DueNotice[] {
  const later = (days: number) => new Date(at.getTime() + days * DAY_MS);
  return NOTICE_DAYS.map((days, index) => ({
    after: later(NOTICE_DAYS[index - 1] ?? 0),
    until: later(days),
    key: [`${EXPIRING_EVENT}:`, `:${days}`],
  }));
}

/**
 * The notice that is due of a subscription's end: the nearest alone, however many were missed; null where none is due yet, or it
 * has ended. For one end each notice has one id, and for another end another.
 */
export function planExpiry(subscription: ExpiringSubscription, at: Date): NewEvent | null {
  const { expiresAt } = subscription;
  const leftMs = expiresAt.getTime() - at.getTime();
  const days = NOTICE_DAYS.find((notice) => leftMs <= notice * DAY_MS);
  if (leftMs <= 0 || days === undefined) return null;
  return newEvent({
    type: EXPIRING_EVENT,
    subscription,
    dedupeKey: `${EXPIRING_EVENT}:${expiresAt.getTime()}:${days}`,
    at,
    data: {
      address: checksumAddress(subscription.wallet),
      chain_id: subscription.chainId,
      events: subscription.events,
      expires_at: expiresAt.toISOString(),
      notice_days: days,
    },
    state: subscription.isDisabled ? "dropped" : "pending",
  });
}
