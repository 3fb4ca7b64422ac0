import { type ReadTask, type ReadWallets, readWallets, type ScoringContext } from "./score-wallets.ts";

/** Wallets read in one snapshot: few enough for their calls to be short-lived in memory. */
export const SCORING_BATCH = 250;

/** Batches read ahead: the database looks up the calls of one while this process takes in those of the other. */
const AHEAD = 2;

/**
 * Reads wallets batch by batch, the next ones while the last is being worked on, so that the database and this process
 * both work. Ends early where there is no block to score at any more.
 */
export async function* readBatches(
  context: ScoringContext,
  task: ReadTask,
): AsyncGenerator<ReadWallets, void, undefined> {
  const pending: Promise<ReadWallets | null>[] = [];
  let start = 0;
  const readAhead = () => {
    while (pending.length < AHEAD && start < task.wallets.length) {
      const batch = readWallets(context, {
        ...task,
        wallets: task.wallets.slice(start, start + SCORING_BATCH),
      });
      // It may fail while nobody waits for it: whoever comes to it is told.
      batch.catch(() => undefined);
      pending.push(batch);
      start += SCORING_BATCH;
    }
  };
  for (;;) {
    readAhead();
    const batch = await pending.shift();
    if (batch === undefined || batch === null) return;
    readAhead();
    yield batch;
  }
}
