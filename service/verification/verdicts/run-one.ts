import type { createVerdictMetrics } from "../metrics.ts";
import { isRefusal, type PanelDeps } from "../panel/ask-role.ts";
import { type PanelCase, type PanelOutcome, type ReleasedMoney, ROLE_NAMES } from "../panel/types.ts";
import { buildDecision, type Decided } from "./build-decision.ts";
import { failRun, type RunFailure } from "./fail-run.ts";
import { lockVerdict } from "./lock-verdict.ts";
import {
  LeaseLost,
  readRoleCalls,
  readRunUsage,
  readTakenTokens,
  reusableAnswers,
  storeCalls,
  type TakenTokens,
} from "./role-calls.ts";
import { storable, storeDecision } from "./store-decision.ts";
import { RUNS_IN_OUTAGE, RUNS_PER_DECISION } from "./token-budget.ts";
import { readVerdictCase, type VerdictCase } from "./verdict-cases.ts";
import { giveBackLease, isLeasedBy, keepLease, type LeaseDeps, type RunLease } from "./verdict-queue.ts";

/** Runs the panel; `known` are answers that need not be asked again. */
export type RunPanel = (
  panelCase: PanelCase,
  run: Pick<PanelDeps, "begin" | "keep" | "known" | "mayRepair" | "signal">,
) => Promise<PanelOutcome>;

export type RunOneDeps = Parameters<typeof failRun>[0] &
  LeaseDeps & {
    /** Chain of the provider's score. */
    chainId: number;
    runPanel: RunPanel;
    /** Money that an ALLOW of this job releases; a failure is temporary. */
    readReleased: (job: VerdictCase["job"]) => Promise<ReleasedMoney>;
    /** The panel of appeals, by other models; null without one. */
    runAppealPanel: RunPanel | null;
    /** Tokens that a run over these texts takes. */
    tokensOfCase: (texts: NonNullable<VerdictCase["texts"]> & Pick<PanelCase, "domain">) => number;
    metrics: ReturnType<typeof createVerdictMetrics>;
  };

/** Above the deployments and crashes that a run meets by chance: such a run crashes its worker. */
const MAX_ATTEMPTS = 100;

const TEXTS_GONE: RunFailure = {
  message: "The texts of the specification and the output are not kept any more, their time being over.",
  retryable: false,
};
const BROKEN_OFF: RunFailure = {
  message: `The run was broken off ${MAX_ATTEMPTS} times without an outcome.`,
  retryable: false,
};
const NO_SECOND_PANEL: RunFailure = {
  message: "No second panel is configured here that could judge an appeal.",
  retryable: true,
};
const OUR_FAULT: RunFailure = { message: "The run failed by a fault of the service.", retryable: true };

/**
 * Runs a leased verdict and stores its outcome once; a worker without the lease stores nothing. Gives the lease back if the signal fires
 * first. Throws only if the outcome could not be stored; the run is due again after the lease then.
 */
export async function runOne(deps: RunOneDeps, lease: RunLease, signal: AbortSignal): Promise<void> {
  const { lost, end } = keepLease(deps, lease);
  try {
    // A silent database would block a run for good. Its late writes are either refused or were in time.
    const fate = await Promise.race([runLeased(deps, lease, { lost, signal }), lostAt(lost)]);
    deps.metrics.runs.inc({ outcome: fate });
  } finally {
    await end();
  }
}

async function runLeased(
  deps: RunOneDeps,
  lease: RunLease,
  { lost, signal }: { lost: AbortSignal; signal: AbortSignal },
): Promise<string> {
  if (lease.attempts > MAX_ATTEMPTS) return fail(deps, lease, BROKEN_OFF);
  const stop = AbortSignal.any([signal, lost]);
  try {
    const verdictCase = await readVerdictCase(deps.db, {
      ...lease,
      chainId: deps.chainId,
      texts: deps.db.texts,
    });
    const outcome = await askPanel(deps, verdictCase, { lease, stop });
    return outcome.kind === "failed"
      ? await fail(deps, lease, outcome)
      : await decide(deps, outcome, { lease, verdictCase });
  } catch (error) {
    if (lost.aborted || error instanceof LeaseLost) return "lost";
    if (signal.aborted) {
      await giveBackLease(deps.db, lease, deps.now());
      return "given_back";
    }
    deps.logger.error({ err: error, verdict: lease.verdictId }, "a verdict could not be run");
    return fail(deps, lease, OUR_FAULT);
  }
}

async function askPanel(
  deps: RunOneDeps,
  { texts, domain, providerHasScore, job, appealed }: VerdictCase,
  { lease, stop }: { lease: RunLease; stop: AbortSignal },
): Promise<Decided | ({ kind: "failed" } & RunFailure)> {
  if (texts === null) return { kind: "failed", ...TEXTS_GONE };
  const runPanel = lease.cause === "appeal" ? deps.runAppealPanel : deps.runPanel;
  if (runPanel === null) return { kind: "failed", ...NO_SECOND_PANEL };
  const earlier = await readRoleCalls(deps.db, lease);
  const known = reusableAnswers(earlier);
  const taken = await readTakenTokens(deps.db, lease);
  const runTokens = deps.tokensOfCase({ ...texts, domain });
  const spent = known.length < ROLE_NAMES.length ? spentOf(taken, runTokens) : null;
  if (spent !== null) return { kind: "failed", ...spent };
  const calls = storeCalls(deps, lease);
  // An ALLOW that the second panel upholds has met the rules for its amount before.
  const isAllowed = lease.cause === "appeal" && appealed?.finalVerdict === "ALLOW";
  const released = isAllowed ? null : await deps.readReleased(job);
  const running = runPanel(
    { ...texts, domain, providerHasScore, released },
    { known, ...calls, mayRepair: repairsOf(taken, runTokens), signal: stop },
  );
  // A silent model must not keep the process from ending.
  const outcome = storable(await Promise.race([running, rejectAt(stop)]));
  if (outcome.kind === "decided") return outcome;
  const { message, retryable } = outcome;
  const isFirst = !earlier.some(({ answer }) => isRefusal(answer));
  return { kind: "failed", message, retryable: retryable === "once" ? isFirst : retryable };
}

/** The failure of a decision whose tries took too many tokens; null while another try may be made. */
function spentOf({ tokens, answered }: TakenTokens, runTokens: number): RunFailure | null {
  if (answered + runTokens <= RUNS_PER_DECISION * runTokens && tokens < RUNS_IN_OUTAGE * runTokens)
    return null;
  const message = `The tries of this verdict took ${tokens} tokens without an outcome, ${answered} of them for answers. A run takes about ${runTokens}.`;
  return { message, retryable: false };
}

/** Repairs of a try: as many of its roles as the tokens that are left beside the try itself can ask again. */
function repairsOf({ answered }: TakenTokens, runTokens: number): () => boolean {
  let left = Math.floor(ROLE_NAMES.length * (RUNS_PER_DECISION - 1 - answered / runTokens));
  return () => {
    left -= 1;
    return left >= 0;
  };
}

async function decide(
  deps: RunOneDeps,
  outcome: Decided,
  { lease, verdictCase }: { lease: RunLease; verdictCase: VerdictCase },
): Promise<string> {
  const { db, now, metrics } = deps;
  const run = { ...lease, startedAt: lease.triedAt, evaluatedAt: now() };
  const decision = buildDecision(outcome, { run, verdictCase });
  const isStored = await db.transaction(async (tx) => {
    if (!(await lockVerdict(tx, lease.verdictId, isLeasedBy(lease)))) return false;
    await storeDecision(tx, decision);
    return true;
  });
  if (!isStored) return "lost";
  metrics.runSeconds.observe(decision.result.latency_ms / 1_000);
  await observeUsage(deps, lease);
  return outcome.decision.verdict.toLowerCase();
}

/** Never throws: the decision is stored, and a missing observation must not look like its failure. */
async function observeUsage({ db, metrics, logger }: RunOneDeps, lease: RunLease): Promise<void> {
  try {
    const { tokens, costUsd } = await readRunUsage(db, lease);
    metrics.verdictTokens.observe(tokens);
    if (costUsd !== null) metrics.verdictCostUsd.observe(costUsd);
  } catch (error) {
    logger.warn({ err: error, verdict: lease.verdictId }, "the usage of a verdict was not counted");
  }
}

async function fail(deps: RunOneDeps, lease: RunLease, failure: RunFailure): Promise<string> {
  const fate = await failRun(deps, lease, failure);
  const { verdictId, attempts } = lease;
  deps.logger.warn({ verdict: verdictId, attempts, fate, reason: failure.message }, "a run gave no decision");
  return fate;
}

function lostAt(lost: AbortSignal): Promise<"lost"> {
  return new Promise((resolve) => {
    if (lost.aborted) resolve("lost");
    lost.addEventListener("abort", () => resolve("lost"), { once: true });
  });
}

function rejectAt(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
