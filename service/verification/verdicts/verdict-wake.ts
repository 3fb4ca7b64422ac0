import { setTimeout as sleep } from "node:timers/promises";
import type { PoolClient } from "pg";
import { type Database, QUERY_DEADLINE } from "../../db/database.ts";

/** Channel on which a verdict that is due wakes the workers. */
export const VERDICT_CHANNEL = "ahs_verdict";

/** Hears of verdicts that are due. */
export type VerdictEar = {
  /** Resolves after the given milliseconds, or sooner once something became due or the signal fires. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  close(): void;
};

/**
 * Listens on a connection of the pool. While the database does not answer, and after the connection was lost, it hears nothing:
 * then a wait takes its whole time, and asks for a connection anew.
 */
export function listenForVerdicts(db: Database): VerdictEar {
  let client: PoolClient | null = null;
  let heard = Promise.withResolvers<void>();
  const connect = async () => {
    if (client !== null) return;
    const taken = await db.$client.connect();
    const drop = () => {
      if (client !== taken) return;
      client = null;
      taken.release(true);
    };
    taken.once("error", drop);
    taken.once("end", drop);
    taken.on("notification", () => heard.resolve());
    client = taken;
    await taken.query({ ...QUERY_DEADLINE, text: `listen ${VERDICT_CHANNEL}` }).catch(drop);
  };
  return {
    async wait(ms, signal) {
      await connect().catch(() => undefined);
      const waiting = new AbortController();
      const over = sleep(ms, undefined, { signal: AbortSignal.any([signal, waiting.signal]) });
      await Promise.race([over.catch(() => undefined), heard.promise]);
      waiting.abort();
      heard = Promise.withResolvers<void>();
    },
    close() {
      client?.release(true);
      client = null;
    },
  };
}
