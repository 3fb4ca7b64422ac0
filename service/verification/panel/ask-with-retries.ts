import { setTimeout as sleep } from "node:timers/promises";
import type { ModelError } from "./classify-model-error.ts";
import type { ModelOutcome } from "./model-port.ts";
import type { Completion } from "./read-completion.ts";

export type RetryPolicy = {
  /** Tries of one question, the first included. */
  readonly tries: number;
  /** Before the second try; twice as long before each further one. */
  readonly pauseMs: number;
  /** The longest that is waited for; a server that asks for more is not asked again. */
  readonly longestPauseMs: number;
};

/** Three tries within seconds ride out a hiccup; a longer outage is for the verdict's own retries. */
export const MODEL_RETRIES: RetryPolicy = { tries: 3, pauseMs: 500, longestPauseMs: 30_000 };

/** What one request came to. */
export type Attempt = { readonly kind: "completed"; readonly completion: Completion } | ModelError;

export type Retrying = {
  readonly policy: RetryPolicy;
  readonly random: () => number;
  readonly signal: AbortSignal;
  /** Called before the same question is put in another form; false where that was done before. */
  readonly adapt: (without: Extract<ModelError, { kind: "adapt" }>["without"]) => boolean;
};

/** Asks until there is an answer, a failure that does not pass, no try left, or the signal is aborted. */
export async function askWithRetries(once: () => Promise<Attempt>, retrying: Retrying): Promise<Completion> {
  const { policy, signal } = retrying;
  let tried = 0;
  for (;;) {
    const attempt = await once();
    if (attempt.kind === "completed") return attempt.completion;
    if (attempt.kind === "adapt") {
      if (retrying.adapt(attempt.without)) continue;
      return withoutUsage({
        kind: "rejected",
        detail: `${attempt.without} and its replacement were refused`,
      });
    }
    tried += 1;
    const pauseMs = pauseAfter(tried, attempt.retryAfterMs, retrying);
    if (!attempt.passing || tried >= policy.tries || pauseMs > policy.longestPauseMs || signal.aborted)
      return withoutUsage(attempt.outcome);
    // Aborted while waiting: what was learnt last stands.
    const waited = await sleep(pauseMs, true, { signal }).catch(() => false);
    if (!waited) return withoutUsage(attempt.outcome);
  }
}

/** With up to half of it added by chance, so that those who failed together do not come back together; never before the server says. */
function pauseAfter(tried: number, retryAfterMs: number | null, { policy, random }: Retrying): number {
  const doubled = Math.min(policy.pauseMs * 2 ** (tried - 1), policy.longestPauseMs / 2);
  return Math.max(doubled * (1 + random() / 2), retryAfterMs === null ? 0 : retryAfterMs);
}

function withoutUsage(outcome: ModelOutcome): Completion {
  return { outcome, usage: null };
}
