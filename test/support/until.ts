import { setTimeout as sleep } from "node:timers/promises";

const POLL_MS = 50;

/** Asks until the answer is not null; throws with what was waited for when the time is over. */
export async function until<T>(
  { what, timeoutMs = 170_000 }: { readonly what: string; readonly timeoutMs?: number },
  ask: () => Promise<T | null> | T | null,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== null) return answer;
    if (performance.now() > deadline) throw new Error(`${what}: not within ${timeoutMs} ms`);
    await sleep(POLL_MS);
  }
}
