import type { Logger } from "pino";
import { whileLeader } from "../db/leader-lock.ts";
import { runLoop } from "../db/run-loop.ts";
import { runVisits, sharedAccount, type VisitLimits } from "../db/run-visits.ts";
import { sweepSubscriptions } from "./alert-subscriptions.ts";
import { deliverNextEvent } from "./deliver-event.ts";
import { notifyExpiry } from "./notify-subscribers.ts";
import { type DueEvent, readDueEvents } from "./webhook-events.ts";
import { dropEventsOfEnded, readWebhookQueue, sweepEvents } from "./webhook-log.ts";

export type AlertDeps = Parameters<typeof deliverNextEvent>[0] & {
  logger: Logger;
  limits?: typeof alertLimits;
};

/**
 * Production values of each worker. One delivery at a time per endpoint keeps the order of its events. One owner gets few slots,
 * and all failing endpoints share a quarter of them, so that they do not delay the others.
 */
const alertLimits = {
  deliveries: {
    atOnce: 256,
    atOncePerHost: 1,
    atOncePerAccount: 8,
    busyMs: 50,
    idleMs: 500,
    restMs: 5_000,
  },
  upkeepMs: 15_000,
};

/** Accounts that owners of failing endpoints share: at eight slots each, a quarter of all slots. */
const FAILING_ACCOUNTS = 8;
const EXPIRY_EVERY_MS = 60_000;
const KEEP_MS = 30 * 86_400_000;
const SWEEP_EVERY_MS = 3_600_000;
/** Events read ahead: a multiple of the parallel deliveries, and per endpoint. */
const BACKLOG_ROUNDS = 16;
const PER_ENDPOINT = 8;

/** Subscriptions of all chains in the database have one leader. */
const ANY_CHAIN = 0;

/**
 * Delivers due events until the signal aborts; any number of processes divide them. One of them queues expiry notices,
 * drops events of ended subscriptions and deletes what is older than 30 days. Never throws: failures are logged and retried.
 * All state is in the database, so that another process repeats unfinished deliveries.
 */
export async function runAlerts(deps: AlertDeps, signal: AbortSignal): Promise<void> {
  const limits = deps.limits ?? alertLimits;
  await Promise.all([
    runDeliveries(deps, limits.deliveries, signal),
    whileLeader({ ...deps, name: "ahs-alerts", chainId: ANY_CHAIN, signal }, (led) =>
      runUpkeep(deps, limits.upkeepMs, led),
    ),
  ]);
}

function runDeliveries(deps: AlertDeps, limits: VisitLimits, signal: AbortSignal): Promise<void> {
  return runVisits<DueEvent>(
    {
      what: "delivering an event",
      limits,
      logger: deps.logger,
      monotonicMs: deps.monotonicMs,
      keyOf: ({ id }) => id,
      hostOf: ({ endpointId }) => endpointId,
      accountOf: ({ owner, isFailing }) =>
        isFailing ? sharedAccount("failing", owner, FAILING_ACCOUNTS) : owner,
      due: () =>
        readDueEvents(deps.db, {
          now: deps.now(),
          perEndpoint: PER_ENDPOINT,
          limit: BACKLOG_ROUNDS * limits.atOnce,
        }),
      visit: ({ endpointId }, stop) => deliverNextEvent(deps, endpointId, stop),
    },
    signal,
  );
}

async function runUpkeep(deps: AlertDeps, pauseMs: number, signal: AbortSignal): Promise<void> {
  const { db, metrics, logger, now, monotonicMs } = deps;
  let [sweptAt, notifiedAt] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  await runLoop({
    logger,
    what: "keeping the webhook queue in order",
    signal,
    pauseMs,
    pass: async () => {
      await dropEventsOfEnded(db, now());
      if (monotonicMs() - notifiedAt > EXPIRY_EVERY_MS) {
        notifiedAt = monotonicMs();
        await noteExpiry(deps);
      }
      const { depth, lagSeconds } = await readWebhookQueue(db, now());
      metrics.queueDepth.set(depth);
      metrics.queueLagSeconds.set(lagSeconds);
      if (monotonicMs() - sweptAt > SWEEP_EVERY_MS) {
        const before = new Date(now().getTime() - KEEP_MS);
        const events = await sweepEvents(db, before);
        const subscriptions = await sweepSubscriptions(db, before);
        if (events + subscriptions > 0) logger.info({ events, subscriptions }, "old events swept");
        sweptAt = monotonicMs();
      }
    },
  });
}

/** A failure here does not delay the sweep. */
async function noteExpiry({ db, logger, now }: AlertDeps): Promise<void> {
  try {
    const notified = await notifyExpiry(db, now());
    if (notified > 0) logger.info({ notified }, "subscribers notified that their subscriptions expire");
  } catch (error) {
    logger.error(
      { err: error },
      "some subscribers could not be notified that their subscriptions expire; trying again",
    );
  }
}
