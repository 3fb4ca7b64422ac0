import type { Address } from "viem";
import { hasOwnCall, requestEnrolment } from "../oracle/enrolments.ts";
import { type PastContext, type PastOutcome, readMissingPast } from "./read-past.ts";
import { type ScoreNowOutcome, scoreNow } from "./score-now.ts";
import type { ScoringContext } from "./score-wallets.ts";
import type { StoreContext } from "./store-records.ts";

export type OnDemandContext = ScoringContext & StoreContext & PastContext;

export type OnDemandOutcome = ScoreNowOutcome | Exclude<PastOutcome, { readonly kind: "ready" }>;

/**
 * Scores a wallet (lower-case) for somebody who pays, whether or not the index follows it: what is missing of its past is
 * read from the source first, and with the score is stored that the wallet is to be followed from now on, if it has made a call:
 * our own publisher pays for nobody's token or router. A source that fails, or takes longer than a caller waits, leaves no score.
 */
export async function scoreOnDemand(context: OnDemandContext, wallet: Address): Promise<OnDemandOutcome> {
  const past = await readMissingPast(context, wallet);
  if (past.kind !== "ready") return past;
  const { chainId, now } = context;
  return scoreNow(
    {
      ...context,
      alongside: async (tx) => {
        if (await hasOwnCall(tx, { chainId, wallet })) {
          await requestEnrolment(tx, { chainId, wallet, now: now() });
        }
      },
    },
    wallet,
  );
}
