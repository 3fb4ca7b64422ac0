import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Logger } from "pino";
import { Counter, Gauge, type Registry } from "prom-client";
import type { Address } from "viem";
import { holdChain } from "../db/chain-fence.ts";
import { pauseAfter, pauseFor } from "../sender/send-policy.ts";
import { proposeIntents } from "./propose-intents.ts";
import { countPending } from "./publish-intents.ts";
import type { PublishPolicy } from "./publish-policy.ts";
import { readIndexedBlock } from "./publish-records.ts";
import { settleRoots } from "./publish-root.ts";
import { readScoresToReview, reviewQuery } from "./publish-scores.ts";
import { type SendReport, sendPending } from "./send-pending.ts";
import { type Settled, settleIntents } from "./settle-intents.ts";

type PublisherDeps = {
  readonly chainId: number;
  readonly db: NodePgDatabase;
  readonly oracle: Address;
  /** The publisher's key: its transactions are queued for the process that sends for it. */
  readonly sender: Address;
  readonly policy: PublishPolicy;
  readonly metrics: PublishMetrics;
  readonly logger: Logger;
  readonly now: () => Date;
  /** Pause between two rounds. */
  readonly pollMs: number;
};

/** What one round did; "busy" when another process was in its round, "no_index" while there is nothing to compare with. */
export type Round =
  | { readonly kind: "busy" | "no_index" }
  | {
      readonly kind: "done";
      readonly settled: readonly Settled[];
      readonly reviewed: number;
      readonly report: SendReport;
      readonly pending: number;
    };

const LONGEST_PAUSE_MS = 30_000;

/**
 * Publishes until the signal fires. Each round is one database transaction, so any number of processes may run it and
 * any may die. Never throws; a failed round is logged and retried.
 */
export async function runPublisher(deps: PublisherDeps, signal: AbortSignal): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    try {
      report(deps, await publishRound(deps));
      failures = 0;
    } catch (error) {
      deps.logger.error({ err: error }, "publishing round failed");
      failures += 1;
    }
    const pauses = { first: deps.pollMs, longest: LONGEST_PAUSE_MS };
    await pauseFor(failures === 0 ? deps.pollMs : pauseAfter(failures, pauses), signal);
  }
}

/** One round: settle what was sent by the oracle's events, review what the outbox missed, queue what is due. */
export async function publishRound(deps: PublisherDeps): Promise<Round> {
  const { chainId, policy } = deps;
  return deps.db.transaction(async (tx): Promise<Round> => {
    if (!(await tryLock(tx, chainId))) return { kind: "busy" };
    await holdChain(tx, chainId);
    const now = deps.now();
    // Read before the records: they are then at least as new as this block.
    const indexedBlock = await readIndexedBlock(tx, chainId);
    if (indexedBlock === null) return { kind: "no_index" };
    const settled = await settleIntents(tx, { chainId, indexedBlock, now, policy });
    await settleRoots(tx, { ...deps, indexedBlock, now });
    const scoreIds = await readScoresToReview(tx, reviewQuery(chainId, now, policy));
    const reviewed = await proposeIntents(tx, { chainId, scoreIds, policy, now });
    const sendReport = await sendPending(tx, { ...deps, indexedBlock, now });
    return { kind: "done", settled, reviewed, report: sendReport, pending: await countPending(tx, chainId) };
  });
}

async function tryLock(tx: NodePgDatabase, chainId: number): Promise<boolean> {
  const { rows } = await tx.execute<{ taken: boolean }>(
    sql`select pg_try_advisory_xact_lock(hashtextextended(${`ahs-publisher:${chainId}`}, 0)) as taken`,
  );
  return rows[0]?.taken === true;
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

type PublishMetrics = {
  readonly published: Counter<"reason">;
  readonly failures: Counter<"cause">;
  readonly reorged: Counter;
  readonly pending: Gauge;
  readonly budgetSpentGas: Gauge;
};

/** Registers the publisher's metrics; once per registry, since names in it are unique. */
export function createPublishMetrics(registry: Registry): PublishMetrics {
  const registers = [registry];
  return {
    published: new Counter({
      name: "ahs_publish_published_total",
      help: "Scores that the oracle's events show",
      labelNames: ["reason"],
      registers,
    }),
    failures: new Counter({
      name: "ahs_publish_failures_total",
      help: "Scores not published, by cause; they are tried again",
      labelNames: ["cause"],
      registers,
    }),
    reorged: new Counter({
      name: "ahs_publish_reorged_total",
      help: "Published scores that a reorg took out",
      registers,
    }),
    pending: new Gauge({ name: "ahs_publish_pending", help: "Scores that wait to be published", registers }),
    budgetSpentGas: new Gauge({
      name: "ahs_publish_budget_spent_gas",
      help: "Gas of today's publications, those under way at their limit",
      registers,
    }),
  };
}
