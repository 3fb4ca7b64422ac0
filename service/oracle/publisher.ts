import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Address } from "viem";
import { metricsOf } from "../db/metrics.ts";
import { type OrderRound, orderRound, repeatOrders } from "../sender/orders/run-orders.ts";
import { proposeIntents } from "./propose-intents.ts";
import { countPending } from "./publish-intents.ts";
import type { PublishPolicy } from "./publish-policy.ts";
import { readIndexedBlock } from "./publish-records.ts";
import { settleRoots } from "./publish-root.ts";
import { readScoresToReview, reviewQuery } from "./publish-scores.ts";
import { sendPending } from "./send-pending.ts";
import { type Settled, settleIntents } from "./settle-intents.ts";

type PublisherDeps = {
  readonly chainId: number;
  readonly db: NodePgDatabase;
  readonly oracle: Address;
  /** The publisher's key: its transactions are queued for the process that sends for it. */
  readonly sender: Address;
  readonly policy: PublishPolicy;
  readonly metrics: ReturnType<typeof createPublishMetrics>;
  readonly logger: Logger;
  readonly now: () => Date;
  readonly pollMs: number;
};

export type Round = OrderRound<{
  readonly settled: readonly Settled[];
  readonly reviewed: number;
  readonly report: Awaited<ReturnType<typeof sendPending>>;
  readonly pending: number;
}>;

/** Publishes until the signal fires. */
export async function runPublisher(deps: PublisherDeps, signal: AbortSignal): Promise<void> {
  const pass = async () => report(deps, await publishRound(deps));
  await repeatOrders({ what: "publishing round", pass }, deps, signal);
}

/** One round: settle what was sent by the oracle's events, review what the outbox missed, queue what is due. */
export async function publishRound(deps: PublisherDeps): Promise<Round> {
  const { chainId, policy } = deps;
  return orderRound(deps, {
    lock: "publisher",
    readIndexedBlock,
    round: async (tx, { now, indexedBlock }) => {
      const settled = await settleIntents(tx, { chainId, indexedBlock, now, policy });
      await settleRoots(tx, { ...deps, indexedBlock, now });
      const scoreIds = await readScoresToReview(tx, reviewQuery(chainId, now, policy));
      const reviewed = await proposeIntents(tx, { chainId, scoreIds, policy, now });
      const sendReport = await sendPending(tx, { ...deps, indexedBlock, now });
      return { settled, reviewed, report: sendReport, pending: await countPending(tx, chainId) };
    },
  });
}

function report(deps: PublisherDeps, round: Round): void {
  const { metrics, logger } = deps;
  if (round.kind !== "done") {
    if (round.kind === "no_index") logger.debug("no index to publish by yet");
    return;
  }
  for (const event of round.settled) {
    if (event.kind === "published") metrics.published.inc({ reason: event.reason });
    if (event.kind === "reorged") metrics.reorged.inc();
    if (event.kind === "failed") metrics.failures.inc({ cause: event.cause });
  }
  for (const event of round.report.unencodable) {
    metrics.failures.inc({ cause: "unencodable" });
    logger.error(event, "a score cannot be published");
  }
  metrics.pending.set(round.pending);
  metrics.budgetSpentGas.set(Number(round.report.spentGas));
  const failed = round.settled.filter((event) => event.kind === "failed");
  if (failed.length > 0)
    logger.warn({ count: failed.length, first: failed[0] }, "publications failed and are tried again");
  if (round.report.heldByBudget > 0)
    logger.warn({ count: round.report.heldByBudget }, "the day's gas budget holds publications back");
  if (round.report.sent.length > 0)
    logger.info({ batches: round.report.sent, pending: round.pending }, "batches queued");
}

export function createPublishMetrics(registry: Registry) {
  const { counter, gauge } = metricsOf(registry);
  return {
    published: counter("ahs_publish_published_total", "Scores that the oracle's events show", "reason"),
    failures: counter(
      "ahs_publish_failures_total",
      "Scores not published, by cause; they are tried again",
      "cause",
    ),
    reorged: counter("ahs_publish_reorged_total", "Published scores that a reorg took out"),
    pending: gauge("ahs_publish_pending", "Scores that wait to be published"),
    budgetSpentGas: gauge(
      "ahs_publish_budget_spent_gas",
      "Gas of today's publications, those under way at their limit",
    ),
  };
}
