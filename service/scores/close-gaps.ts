import type { Address } from "viem";
import { workThrough } from "../db/work-through.ts";
import { readGaps } from "../ingest/history/kept-history.ts";
import { readAsOf } from "../ingest/read-as-of.ts";
import { readWholePast } from "./read-past.ts";
import { scoreNow } from "./score-now.ts";
import type { OnDemandContext } from "./score-on-demand.ts";

/** Wallets of one round, and how many of them are read at once. */
const [ROUND, AT_ONCE] = [20, 5];

/**
 * Between the last block that a source told of a paid-for wallet and the first that the index follows it in lie blocks that
 * nobody read: has the source tell them, and scores those wallets anew. Answers how many; those whose source fails are left
 * for a later round, and one of which the reading throws is quarantined.
 */
export async function closeGaps(context: OnDemandContext): Promise<number> {
  const { db, chainId } = context;
  const asOf = await readAsOf(db.$client, { schema: `chain_${chainId}`, chainId });
  if (asOf === null) return 0;
  const gaps = { chainId, asOfBlock: asOf.blockNumber, now: context.now(), limit: ROUND };
  let closed = 0;
  await workThrough(
    { ...context, kind: "history" },
    {
      items: await readGaps(db, gaps),
      batchSize: 1,
      lanes: AT_ONCE,
      attempt: async (batch) => {
        for (const wallet of batch as Address[]) {
          if ((await readWholePast(context, wallet)).kind !== "ready") continue;
          await scoreNow(context, wallet);
          closed += 1;
        }
      },
      control: async () => {
        await readGaps(db, gaps);
      },
    },
  );
  if (closed > 0) context.logger.info({ closed }, "histories of enrolled wallets completed");
  return closed;
}
