import type { Logger } from "pino";
import { Gauge, type Registry } from "prom-client";
import { pauseFor } from "../sender/send-pause.ts";
import { pauseAfter } from "../sender/send-policy.ts";
import { type EnrolmentRound, type EnrolmentRoundDeps, enrolmentRound } from "./enrolment-round.ts";
import { countOpenEnrolments } from "./enrolments.ts";

export type EnrolmentDeps = EnrolmentRoundDeps & {
  readonly metrics: EnrolmentMetrics;
  readonly logger: Logger;
  /** Pause between two rounds. */
  readonly pollMs: number;
};

export type EnrolmentMetrics = { readonly open: Gauge<"state"> };

/** Gauges of the enrolments that are not settled. */
export function createEnrolmentMetrics(registry: Registry): EnrolmentMetrics {
  return {
    open: new Gauge({
      name: "ahs_enrolments_open",
      help: "Wallets that wait to be followed, by state: pending (not asked for yet) or sent",
      labelNames: ["state"],
      registers: [registry],
    }),
  };
}

const LONGEST_PAUSE_MS = 30_000;
/** While requests wait for another day or a lower fee, the node is not asked for the fee every second. */
const HELD_PAUSE_MS = 15_000;

/**
 * Has paid-for wallets followed until the signal fires: one round after the other, each a single database transaction, so
 * that any number of processes may run it and any of them may die. Never throws; a round that fails is tried again.
 */
export async function runEnrolments(deps: EnrolmentDeps, signal: AbortSignal): Promise<void> {
  let failures = 0;
  let held: "day" | "fee" | null = null;
  while (!signal.aborted) {
    try {
      const round = await enrolmentRound(deps);
      report(deps, round, held);
      if (round.kind === "done") held = round.held;
      const open = await countOpenEnrolments(deps.db, deps.chainId);
      deps.metrics.open.set({ state: "pending" }, open.pending);
      deps.metrics.open.set({ state: "sent" }, open.sent);
      failures = 0;
    } catch (error) {
      deps.logger.error({ err: error }, "enrolment round failed");
      failures += 1;
    }
    const pauses = { first: deps.pollMs, longest: LONGEST_PAUSE_MS };
    const restMs = held === null ? deps.pollMs : HELD_PAUSE_MS;
    await pauseFor(failures === 0 ? restMs : pauseAfter(failures, pauses), signal);
  }
}

function report({ logger, policy }: EnrolmentDeps, round: EnrolmentRound, heldBefore: string | null): void {
  if (round.kind !== "done") return;
  if (round.sent.length > 0) logger.info({ wallets: round.sent }, "enrolments queued");
  for (const { wallet, fate } of round.settled) {
    if (fate.kind === "followed") logger.info({ wallet }, "wallet enrolled");
    else logger.warn({ wallet, fate }, "an enrolment came to nothing");
  }
  // Once when it begins, not at every round of it.
  if (round.held === heldBefore) return;
  if (round.held === "day") logger.warn({ perDay: policy.perDay }, "the day's enrolments are used up");
  if (round.held === "fee") {
    logger.warn({ maxFeeWei: `${policy.maxFeeWei}` }, "the oracle asks more for a request than is allowed");
  }
}
