import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Database } from "../../db/database.ts";
import { type Claim, renewClaim } from "./verdict-queue.ts";

export type LeaseDeps = {
  readonly db: Database;
  readonly now: () => Date;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
  readonly logger: Logger;
  readonly lease: LeaseLimits;
};

/** How long a claim lasts without a sign of life, and how often there is one, in milliseconds. */
type LeaseLimits = { readonly leaseMs: number; readonly renewMs: number };

/** A claim that is renewed until it ends. */
export type Lease = {
  /** Fires when the claim is another's by now, or could not be renewed before it ran out. */
  readonly lost: AbortSignal;
  /** Does not wait for a database that does not answer. */
  readonly end: () => Promise<void>;
};

/** Renews a claim again and again until it is ended or lost. */
export function holdLease(deps: LeaseDeps, claim: Claim): Lease {
  const lost = new AbortController();
  const ending = new AbortController();
  const renewed = renewUntil(deps, claim, { lost, ending: ending.signal });
  return {
    lost: lost.signal,
    end: async () => {
      ending.abort();
      await renewed;
    },
  };
}

async function renewUntil(
  deps: LeaseDeps,
  claim: Claim,
  { lost, ending }: { readonly lost: AbortController; readonly ending: AbortSignal },
): Promise<void> {
  const { monotonicMs, lease } = deps;
  let heldUntilMs = monotonicMs() + lease.leaseMs;
  while (!lost.signal.aborted) {
    await sleep(lease.renewMs, undefined, { signal: ending }).catch(() => undefined);
    if (ending.aborted) return;
    const askedMs = monotonicMs();
    // A database that has stopped answering keeps a query waiting for good.
    const answered = new AbortController();
    const over = sleep(Math.max(0, heldUntilMs - askedMs), "over" as const, {
      signal: AbortSignal.any([ending, answered.signal]),
    });
    const fate = await Promise.race([renew(deps, claim), over.catch(() => "over" as const)]);
    answered.abort();
    if (fate === "renewed") heldUntilMs = askedMs + lease.leaseMs;
    else if (fate === "taken" || monotonicMs() >= heldUntilMs) lost.abort();
  }
}

async function renew(
  { db, now, logger, lease }: LeaseDeps,
  claim: Claim,
): Promise<"renewed" | "taken" | "unknown"> {
  try {
    const isHeld = await renewClaim(db, claim, new Date(now().getTime() + lease.leaseMs));
    return isHeld ? "renewed" : "taken";
  } catch (error) {
    logger.warn({ err: error, verdict: claim.verdictId }, "the lease of a verdict could not be renewed");
    return "unknown";
  }
}
