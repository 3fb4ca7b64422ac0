import { setTimeout as delay } from "node:timers/promises";
import { type Finding, fault, type Verdict } from "./finding.ts";

/** Looks at one thing, and says what it found in one verdict or several. */
export type Check = {
  readonly name: string;
  /** Where to look when it throws or is late. */
  readonly advice: string;
  /** Better advice for what it threw; null where there is none. */
  readonly adviceOn?: (error: unknown) => string | null;
  readonly run: () => Promise<Verdict | readonly Verdict[]>;
};

export type RunOptions = {
  readonly deadlineMs: number;
  /** Why a check threw, without anything secret. */
  readonly reasonOf: (error: unknown) => string;
};

/**
 * Runs all checks at once, each with its own deadline, and answers what they found in their order. Never throws and never waits
 * longer than the deadline: a check that is late, or throws, has failed.
 */
export async function runChecks(checks: readonly Check[], options: RunOptions): Promise<readonly Finding[]> {
  const found = await Promise.all(checks.map((check) => runOne(check, options)));
  return found.flat();
}

async function runOne(check: Check, { deadlineMs, reasonOf }: RunOptions): Promise<Finding[]> {
  const { name, advice, adviceOn, run } = check;
  const over = new AbortController();
  const late = delay(deadlineMs, fault(`no answer within ${deadlineMs / 1_000} s`, advice), {
    signal: over.signal,
  }).catch(() => fault("not waited for", advice));
  try {
    const verdicts = await Promise.race([run(), late]);
    return [verdicts].flat().map((verdict) => ({ check: name, ...verdict }));
  } catch (error) {
    return [{ check: name, ...fault(reasonOf(error), adviceOn?.(error) ?? advice) }];
  } finally {
    over.abort();
  }
}
