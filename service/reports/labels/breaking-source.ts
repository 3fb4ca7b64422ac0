import { BrokenCircuitError, ConsecutiveBreaker, circuitBreaker, handleWhenResult } from "cockatiel";
import { type LabelFailure, type LabelSource, labelFailure } from "./label-source.ts";

export type BreakerOptions = {
  /** Failures in a row after which the source is left alone. */
  readonly failures: number;
  /** For so long; then one question tries it. */
  readonly pauseMs: number;
};

/** A source that is left alone for a while once it fails again and again: nobody waits for what will not come. */
export function createBreakingSource(
  source: LabelSource,
  { failures, pauseMs }: BreakerOptions,
): LabelSource {
  const breaker = circuitBreaker(handleWhenResult(isFailure), {
    halfOpenAfter: pauseMs,
    breaker: new ConsecutiveBreaker(failures),
  });
  return {
    provider: source.provider,
    async read(address) {
      try {
        return await breaker.execute(() => source.read(address));
      } catch (error) {
        if (!(error instanceof BrokenCircuitError)) throw error;
        return labelFailure("broken", `not asked after ${failures} failures in a row`);
      }
    },
  };
}

function isFailure(result: unknown): result is LabelFailure {
  return typeof result === "object" && result !== null && "kind" in result && result.kind === "failed";
}
