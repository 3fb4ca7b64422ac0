import { once } from "node:events";
import { schedule } from "node-cron";
import { PgBoss } from "pg-boss";
import type { Logger } from "pino";
import { publishRoot, type RootOptions } from "../../service/publish/publish-root.ts";
import { type ScoringRunContext, scoreAllWallets } from "../../service/record/run-scoring.ts";

const QUEUE = "nightly";
/** 02:10 UTC: after the day has turned on every chain, before the first readers of the morning. */
const AT = "10 2 * * *";
const DAY_SECONDS = 86_400;
const CONNECTIONS = 3;

export type NightlyContext = {
  readonly scoring: ScoringRunContext;
  readonly root: Omit<RootOptions, "now">;
  readonly databaseUrl: string;
  readonly logger: Logger;
};

/**
 * Runs the nightly job until the signal fires: every wallet scored, then the Merkle root of all scores. It is queued at
 * 02:10 UTC and at every start, once per UTC day however many workers ask, so that a missed night is made up.
 */
export async function runNightly(context: NightlyContext, signal: AbortSignal): Promise<void> {
  const { databaseUrl, logger } = context;
  const boss = new PgBoss({ connectionString: databaseUrl, schema: "ahs_queue", max: CONNECTIONS });
  boss.on("error", (error) => logger.error({ err: error }, "queue error"));
  await boss.start();
  await boss.createQueue(QUEUE, { retryLimit: 100, retryDelay: 5, retryBackoff: true, retryDelayMax: 600 });
  await boss.work(QUEUE, { pollingIntervalSeconds: 2 }, () => runOnce(context));
  const request = () => requestNight(boss, context.scoring.now(), logger);
  const task = schedule(AT, request, { timezone: "UTC" });
  await request();
  if (!signal.aborted) await once(signal, "abort");
  await task.destroy();
  await boss.stop({ graceful: true, timeout: 5_000 });
}

async function requestNight(boss: PgBoss, now: Date, logger: Logger): Promise<void> {
  const day = now.toISOString().slice(0, 10);
  try {
    await boss.send(QUEUE, { day }, { singletonKey: day, singletonSeconds: DAY_SECONDS });
  } catch (error) {
    logger.error({ err: error, day }, "the nightly job could not be queued; the next start makes it up");
  }
}

/** Throws, to be tried again, while there is nothing to publish. */
async function runOnce({ scoring, root, logger }: NightlyContext): Promise<void> {
  const wallets = await scoreAllWallets(scoring);
  const outcome = await publishRoot(scoring.db, { ...root, now: scoring.now() });
  switch (outcome.kind) {
    case "queued":
    case "exists":
      logger.info({ wallets, ...outcome }, "nightly scores and root");
      return;
    case "no_index":
    case "no_scores":
      throw new Error(`no root to publish yet: ${outcome.kind}`);
  }
}
