import type { Verdict } from "./api-types.ts";
import { VerdictPendingError } from "./errors.ts";

/** How long a verdict is waited for. */
export type WaitOptions = {
  /** Milliseconds between the first looks, 1,000 unless given; later ones are up to 5 s apart. */
  readonly pollMs?: number;
  /** Milliseconds of pauses in all after which it is waited no longer; ten minutes unless given. */
  readonly patienceMs?: number;
};

type Waiting = WaitOptions & {
  readonly read: () => Promise<Verdict>;
  readonly sleep: (ms: number) => Promise<void>;
};

const POLL_MS = 1_000;
const LONGEST_POLL_MS = 5_000;
const PATIENCE_MS = 600_000;

/** The verdict once it is completed and not run again, or failed; throws VerdictPendingError where that takes too long. */
export async function awaitVerdict({
  read,
  sleep,
  pollMs = POLL_MS,
  patienceMs = PATIENCE_MS,
}: Waiting): Promise<Verdict> {
  let pauseMs = pollMs;
  let waitedMs = 0;
  for (;;) {
    const verdict = await read();
    const isOver = verdict.status === "failed" || (verdict.status === "completed" && verdict.rerun === null);
    if (isOver) return verdict;
    if (waitedMs + pauseMs > patienceMs) throw new VerdictPendingError(verdict);
    await sleep(pauseMs);
    waitedMs += pauseMs;
    pauseMs = Math.min(pauseMs * 1.5, Math.max(LONGEST_POLL_MS, pollMs));
  }
}
