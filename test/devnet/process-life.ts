import { setTimeout as delay } from "node:timers/promises";

/** Whether a process with this id runs. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Waits for a process to end; throws after ten seconds. */
export async function untilGone(pid: number): Promise<void> {
  for (let waited = 0; isAlive(pid); waited += 50) {
    if (waited > 10_000) throw new Error(`process ${pid} still runs`);
    await delay(50);
  }
}
