import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { dropExpiredAnswers } from "../../service/access/idempotent-answers.ts";
import { dropOldAnswers } from "../../service/access/payments/payments-due.ts";
import { dropIdleBuckets } from "../../service/access/rate-limits.ts";
import { dropExpiredNonces } from "../../service/access/sign-in.ts";
import type { Deployment } from "../../service/chain/deployments.ts";
import { readChainMark } from "../../service/db/chain-fence.ts";
import type { Database } from "../../service/db/database.ts";
import { runLoop } from "../../service/db/run-loop.ts";
import { dropOldLabels, LABELS_STORED_MS } from "../../service/reports/labels/label-reader.ts";
import { dropOldPromises } from "../../service/scores/backing/promised-amounts.ts";
import type { Config } from "../config.ts";
import { EXIT_RESTART } from "../process.ts";

/** Parts that the jobs of a worker share. */
export type WorkerParts = {
  readonly config: Config;
  readonly deployment: Deployment;
  readonly registry: Registry;
  readonly db: Database;
  readonly logger: Logger;
  readonly now: () => Date;
};

const RETRY_MS = { first: 3_000, longest: 3_000 };

export function repeat<Result>(
  options: { logger: Logger; pauseMs: number | ((result: Result) => number); what: string },
  signal: AbortSignal,
  act: () => Promise<Result>,
): Promise<void> {
  return runLoop({ ...options, retryMs: RETRY_MS, signal, pass: act });
}

/** Runs all actions in order, even if some fail, then throws the first error. */
export async function doAll(acts: readonly (() => Promise<unknown>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const act of acts) {
    try {
      await act();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

/** Deletes expired answers, full rate buckets, nonces of old sign-ins, outdated labels and promised amounts of yesterday. */
export async function sweepRequests(db: Database, now: Date): Promise<void> {
  await doAll([
    () => dropExpiredAnswers(db, now),
    () => dropOldAnswers(db, now),
    () => dropIdleBuckets(db, now),
    () => dropExpiredNonces(db, now),
    () => dropOldLabels(db, new Date(now.getTime() - LABELS_STORED_MS)),
    () => dropOldPromises(db, now),
  ]);
}

const CHAIN_PAUSE_MS = 2_000;

/** Ends the process with EXIT_RESTART when the local chain was replaced, so that no work for the old chain goes on. */
export async function exitWithChain(
  db: Database,
  { chainId, logger, signal }: { chainId: number; logger: Logger; signal: AbortSignal },
): Promise<void> {
  let known: string | null = null;
  await repeat({ logger, pauseMs: CHAIN_PAUSE_MS, what: "watching the chain" }, signal, async () => {
    const generation = (await readChainMark(db, chainId))?.generation ?? null;
    if (known !== null && generation !== known) {
      logger.fatal("the chain was replaced and its data cleared: starting over");
      process.exit(EXIT_RESTART);
    }
    known = generation;
  });
}
