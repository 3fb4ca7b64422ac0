import type { Logger } from "pino";
import type { Database } from "../../service/db/database.ts";
import { settleIntake } from "../../service/verification/verdicts/settle-intake.ts";
import { dropOldTexts, dropUnusedSpecs } from "../../service/verification/verdicts/verdict-sweeps.ts";
import { repeat } from "./repeat.ts";

export type VerificationSweeps = {
  readonly db: Database;
  readonly chainId: number;
  readonly logger: Logger;
  readonly now: () => Date;
  /** Days that texts are kept once their verdict is over. */
  readonly retentionDays: number;
};

const SETTLE_PAUSE_MS = 2_000;
const SWEEP_PAUSE_MS = 300_000;
const DAY_MS = 86_400_000;
/** How long a specification waits for its output: it cost nothing to register. */
const UNUSED_DAYS = 1;
/** So that a specification that was just registered is not gone with a job that has just ended. */
const ENDED_DAYS = 1;

/** Decides about outputs whose requests died before they were paid or queued, and drops what verification no longer needs. Any number of workers may. */
export async function sweepVerification(deps: VerificationSweeps, signal: AbortSignal): Promise<void> {
  const { logger } = deps;
  await Promise.all([
    repeat({ logger, pauseMs: SETTLE_PAUSE_MS, what: "settling submitted outputs" }, signal, async () => {
      await settleIntake(deps);
    }),
    repeat({ logger, pauseMs: SWEEP_PAUSE_MS, what: "dropping texts and specifications" }, signal, () =>
      sweepOnce(deps),
    ),
  ]);
}

/** Drops texts past their time of retention, and specifications that nobody will use. */
export async function sweepOnce({ db, chainId, now, retentionDays }: VerificationSweeps): Promise<void> {
  const at = now();
  const daysAgo = (days: number) => new Date(at.getTime() - days * DAY_MS);
  await dropOldTexts(db, { before: daysAgo(retentionDays), now: at });
  await dropUnusedSpecs(db, { chainId, before: daysAgo(UNUSED_DAYS), endedBefore: daysAgo(ENDED_DAYS) });
}
