import { runLoop } from "../../db/run-loop.ts";
import { WAIT_STATUSES } from "../metrics.ts";
import { readAppealFigures } from "./appeal-rows.ts";
import type { EscrowDeps } from "./escrow-deps.ts";
import { readEscrowIndex } from "./escrow-jobs.ts";
import { countHolds, tickClocks } from "./hold-clocks.ts";
import { settleSigned } from "./settle-signed.ts";
import { readOldestUnsigned } from "./settlement-checks.ts";
import { countOpenSettlements } from "./settlements.ts";
import { signDecisions } from "./sign-decisions.ts";

const PAUSE_MS = 1_000;
const COUNT_EVERY = 15;

/**
 * Settles until the signal fires: signs decisions about bound jobs, follows signed verdicts and runs the clocks of held jobs. Never throws:
 * a failed round is logged and retried after a pause. Only the leader may run it.
 */
export async function runEscrow(deps: EscrowDeps, signal: AbortSignal): Promise<void> {
  let passed = 0;
  await runLoop({
    logger: deps.logger,
    what: "settling round",
    signal,
    pauseMs: PAUSE_MS,
    onFailure: (error) => {
      deps.metrics.failures.inc({ at: "round" });
      deps.logger.error({ err: error }, "settling round failed; trying again");
      return 0;
    },
    pass: async () => {
      const isCounted = passed % COUNT_EVERY === 0;
      passed += 1;
      await escrowRound(deps);
      if (isCounted) await count(deps);
    },
  });
}

/** One round: signed verdicts, clocks, then unsigned decisions. Does nothing without an index of the escrows. */
export async function escrowRound(deps: EscrowDeps): Promise<void> {
  if ((await readEscrowIndex(deps.db, deps.deployment.chainId)) === null) {
    deps.logger.debug("no index of the escrows yet");
    return;
  }
  await settleSigned(deps);
  await tickClocks(deps);
  await signDecisions(deps);
}

async function count({ db, deployment, metrics, now }: EscrowDeps): Promise<void> {
  const { chainId } = deployment;
  const { open: unsettled, oldestOpenSeconds } = await countOpenSettlements(db, chainId, now());
  metrics.openSettlements.set(unsettled);
  metrics.oldestOpenSeconds.set(oldestOpenSeconds);
  const oldest = await readOldestUnsigned(db, chainId);
  for (const status of WAIT_STATUSES) {
    const since = oldest.get(status)?.getTime() ?? now().getTime();
    metrics.oldestUnsignedSeconds.set({ status }, Math.max(0, (now().getTime() - since) / 1000));
  }
  for (const [state, appeals] of Object.entries(await readAppealFigures(db, { chainId, now: now() })))
    metrics.appeals.set({ state }, appeals);
  const { open, forReview } = await countHolds(db, chainId);
  metrics.holds.set({ kind: "open" }, open);
  metrics.holds.set({ kind: "for_review" }, forReview);
}
