import type { Hex } from "viem";
import { classifySendFailure, isRpcError } from "./send-errors.ts";
import type { SenderContext } from "./send-pass.ts";
import { pauseFor } from "./send-pause.ts";
import { pauseAfter } from "./send-policy.ts";
import { sendPass } from "./sender.ts";
import { openSenderSession, type SenderSession } from "./sender-session.ts";
import { SignerFailure } from "./signer-failure.ts";

export type SenderDeps = Omit<SenderContext, "db"> & { readonly databaseUrl: string };

/** Deadline of one statement of the sender. */
const STATEMENT_TIMEOUT_MS = 10_000;
/** Pause between two tries to become the sender, and between looks at the queue when nothing is under way. */
const IDLE_MS = 1_000;
const BALANCE_EVERY_MS = 15_000;

/**
 * Sends what is queued for one key on one chain until the signal fires: waits for the key's lock, and when the lock is
 * lost, starts over. Never throws; every trouble with node or database is logged, counted and tried again after a pause.
 */
export async function runSender(deps: SenderDeps, signal: AbortSignal): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    try {
      await sendUnderLock(deps, signal, () => {
        failures = 0;
      });
    } catch (error) {
      if (signal.aborted) return;
      deps.logger.error({ err: error, sender: deps.account.address }, "sender interrupted");
      await pauseFor(pauseAfter(failures, deps.policy.retryMs), signal);
      failures += 1;
    }
  }
}

async function sendUnderLock(deps: SenderDeps, signal: AbortSignal, onProgress: () => void): Promise<void> {
  const { chainId, databaseUrl, account, metrics } = deps;
  const options = {
    databaseUrl,
    chainId,
    sender: account.address,
    retryMs: IDLE_MS,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  };
  const session = await openSenderSession(options, signal);
  metrics.lockHeld.set({ sender: account.address }, 1);
  try {
    await sendWhileHeld(deps, session, { signal, onProgress });
  } finally {
    metrics.lockHeld.set({ sender: account.address }, 0);
    // Whoever sends from now on says what is left.
    metrics.balanceWei.remove({ sender: account.address });
    await session.release();
  }
}

async function sendWhileHeld(
  deps: SenderDeps,
  session: SenderSession,
  run: { readonly signal: AbortSignal; readonly onProgress: () => void },
): Promise<void> {
  const context: SenderContext = { ...deps, db: session.db };
  let head: Hex | null = null;
  let failures = 0;
  let balanceDue = 0;
  while (!run.signal.aborted) {
    session.lost.throwIfAborted();
    let waitMs: number;
    try {
      const result = await sendPass(context, head);
      head = result.headHash;
      if (deps.now().getTime() >= balanceDue) {
        await reportBalance(context);
        balanceDue = deps.now().getTime() + BALANCE_EVERY_MS;
      }
      waitMs = result.busy ? deps.policy.pollMs : IDLE_MS;
      failures = 0;
      run.onProgress();
    } catch (error) {
      if (!isRpcError(error) && !(error instanceof SignerFailure)) throw error;
      waitMs = reportTrouble(context, error, failures);
      failures += 1;
    }
    await session.waitForWork(waitMs, run.signal);
  }
}

/** Counts and logs a node or a signer that gives no usable answer; returns the pause after it. */
function reportTrouble(context: SenderContext, error: unknown, failures: number): number {
  const { metrics, logger, account, policy } = context;
  if (error instanceof SignerFailure) {
    metrics.failures.inc({ kind: "unsigned" });
    const details = { sender: account.address, reason: error.reason };
    logger.warn({ ...details, err: error }, "the signer of this key gives no usable signature");
  } else {
    const failure = classifySendFailure(error);
    metrics.failures.inc({ kind: failure.kind });
    logger.warn({ failure }, "the node gives no usable answer");
  }
  return pauseAfter(failures, policy.retryMs);
}

async function reportBalance(context: SenderContext): Promise<void> {
  const { address } = context.account;
  context.metrics.balanceWei.set({ sender: address }, Number(await context.rpc.balance(address)));
}
