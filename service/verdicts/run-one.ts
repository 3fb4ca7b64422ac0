import type { PanelCase, PanelOutcome, RoleRecord } from "../panel/types.ts";
import { keepRoleCall, readRoleCalls } from "../store/role-calls.ts";
import { readVerdictCase, type VerdictCase } from "../store/verdict-cases.ts";
import { type Claim, giveBackClaim, takeClaim } from "../store/verdict-queue.ts";
import { buildDecision, type Decided } from "./build-decision.ts";
import { type FailDeps, failRun, type RunFailure } from "./fail-run.ts";
import { holdLease, type Lease, type LeaseDeps } from "./hold-lease.ts";
import { keptAnswers } from "./kept-answers.ts";
import type { VerdictMetrics } from "./metrics.ts";
import { storable } from "./storable.ts";
import { storeDecision } from "./store-decision.ts";

/** Asks the panel. */
export type RunPanel = (panelCase: PanelCase, run: PanelRun) => Promise<PanelOutcome>;

type PanelRun = {
  /** What need not be asked again. */
  readonly known: readonly RoleRecord[];
  /** Keeps an answer before the next round begins; throws where the run is another worker's by now. */
  readonly keep: (record: RoleRecord) => Promise<void>;
  readonly signal: AbortSignal;
};

export type RunOneDeps = FailDeps &
  LeaseDeps & {
    /** The chain whose scores say whether a provider has one. */
    readonly chainId: number;
    readonly runPanel: RunPanel;
    readonly metrics: VerdictMetrics;
  };

/** Beyond any number of deployments and crashes that a run meets by chance: this one brings its worker down. */
const MAX_ATTEMPTS = 100;

const TEXTS_GONE: RunFailure = {
  message: "The texts of the specification and the output are not kept any more, their time being over.",
  retryable: false,
};
const BROKEN_OFF: RunFailure = {
  message: `The run was broken off ${MAX_ATTEMPTS} times without an outcome.`,
  retryable: false,
};
const OUR_FAULT: RunFailure = {
  message: "The run failed by a fault of the service.",
  retryable: true,
};

/**
 * Runs a claimed verdict and stores what came of it, once: a worker that lost its claim stores nothing. Gives the claim back where
 * the signal fires first. Throws only where the outcome could not be written; then the run is due again once its lease is over.
 */
export async function runOne(deps: RunOneDeps, claim: Claim, signal: AbortSignal): Promise<void> {
  const lease = holdLease(deps, claim);
  try {
    const fate = await runLeased(deps, claim, { lease, signal });
    deps.metrics.runs.inc({ outcome: fate });
  } finally {
    await lease.end();
  }
}

async function runLeased(
  deps: RunOneDeps,
  claim: Claim,
  { lease, signal }: { readonly lease: Lease; readonly signal: AbortSignal },
): Promise<string> {
  if (claim.attempts > MAX_ATTEMPTS) return fail(deps, claim, BROKEN_OFF);
  const stop = AbortSignal.any([signal, lease.lost]);
  try {
    const verdictCase = await readVerdictCase(deps.db, { ...claim, chainId: deps.chainId });
    const outcome = await askPanel(deps, verdictCase, { claim, stop });
    return outcome.kind === "failed"
      ? await fail(deps, claim, outcome)
      : await decide(deps, outcome, { claim, verdictCase });
  } catch (error) {
    if (lease.lost.aborted || error instanceof ClaimLost) return "lost";
    if (signal.aborted) {
      await giveBackClaim(deps.db, claim, deps.now());
      return "given_back";
    }
    deps.logger.error({ err: error, verdict: claim.verdictId }, "a verdict could not be run");
    return fail(deps, claim, OUR_FAULT);
  }
}

async function askPanel(
  deps: RunOneDeps,
  { texts, domain, providerHasScore }: VerdictCase,
  { claim, stop }: { readonly claim: Claim; readonly stop: AbortSignal },
): Promise<PanelOutcome> {
  if (texts === null) return { kind: "failed", ...TEXTS_GONE };
  const known = keptAnswers(await readRoleCalls(deps.db, claim));
  const keep = async (record: RoleRecord) => {
    const kept = { record: storable(record), at: deps.now() };
    if (!(await keepRoleCall(deps.db, claim, kept))) throw new ClaimLost(claim);
  };
  const running = deps.runPanel({ ...texts, domain, providerHasScore }, { known, keep, signal: stop });
  // A model that does not answer must not keep the process from ending, nor its answer from being refused.
  return storable(await Promise.race([running, rejectAt(stop)]));
}

async function decide(
  { db, now, metrics }: RunOneDeps,
  outcome: Decided,
  { claim, verdictCase }: { readonly claim: Claim; readonly verdictCase: VerdictCase },
): Promise<string> {
  const run = { ...claim, startedAt: claim.triedAt, evaluatedAt: now() };
  const decision = buildDecision(outcome, { run, verdictCase });
  const isStored = await db.transaction(async (tx) => {
    if (!(await takeClaim(tx, claim))) return false;
    await storeDecision(tx, decision);
    return true;
  });
  if (!isStored) return "lost";
  metrics.runSeconds.observe(decision.result.latency_ms / 1_000);
  return outcome.decision.verdict.toLowerCase();
}

async function fail(deps: RunOneDeps, claim: Claim, failure: RunFailure): Promise<string> {
  const fate = await failRun(deps, claim, failure);
  const { verdictId, attempts } = claim;
  deps.logger.warn({ verdict: verdictId, attempts, fate, reason: failure.message }, "a run gave no decision");
  return fate;
}

function rejectAt(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

/** The run of a verdict is another worker's by now. */
class ClaimLost extends Error {
  constructor({ verdictId, attempts }: Claim) {
    super(`claim ${attempts} of verdict ${verdictId} is another worker's by now`);
    this.name = "ClaimLost";
  }
}
