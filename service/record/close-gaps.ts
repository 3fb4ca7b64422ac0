import { readAsOf } from "../features/read-as-of.ts";
import { readGaps } from "../store/kept-history.ts";
import { readWholePast } from "./read-past.ts";
import { scoreNow } from "./score-now.ts";
import type { OnDemandContext } from "./score-on-demand.ts";

/** Wallets taken up in one round. */
const ROUND = 20;

/**
 * Between the last block that a source told of a paid-for wallet and the first that the index follows it in lie blocks that
 * nobody read: has the source tell them, and scores those wallets anew. Answers how many; those whose source fails are left
 * for a later round.
 */
export async function closeGaps(context: OnDemandContext): Promise<number> {
  const { db, chainId } = context;
  const asOf = await readAsOf(db.$client, { schema: `chain_${chainId}`, chainId });
  if (asOf === null) return 0;
  const wallets = await readGaps(db, { chainId, asOfBlock: asOf.blockNumber, limit: ROUND });
  const outcomes = await Promise.all(wallets.map((wallet) => readWholePast(context, wallet)));
  let closed = 0;
  for (const [at, wallet] of wallets.entries()) {
    if (outcomes[at]?.kind !== "ready") continue;
    await scoreNow(context, wallet);
    closed += 1;
  }
  if (closed > 0) context.logger.info({ closed }, "histories of enrolled wallets completed");
  return closed;
}
