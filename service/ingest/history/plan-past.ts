import type { Address } from "viem";
import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import type { AsOf } from "../../model/features/types.ts";
import type { HistoryRequest } from "./history.ts";
import type { PastFacts } from "./kept-history.ts";

export type PastQuestion = {
  /** Lower-case. */
  readonly wallet: Address;
  readonly asOf: AsOf;
  readonly windowDays: number;
};

/**
 * What a source has to be asked before a wallet can be scored: the window up to the as-of block for one that the index does
 * not follow, the part of it before the index began to follow it for any other; null where nothing is missing, or a source
 * has told it already.
 */
export function planPast(facts: PastFacts, question: PastQuestion): HistoryRequest | null {
  return isCovered(facts, question) ? null : requestPast(facts, question);
}

/** The same question whatever is known already. */
export function requestPast(facts: PastFacts, { wallet, asOf, windowDays }: PastQuestion): HistoryRequest {
  const seconds = windowDays * SECONDS_PER_DAY;
  const { followed, lastCallAt } = facts;
  return {
    wallet,
    // The block in which following began is read as well: calls of its beginning are in no index.
    asOf: followed ?? asOf,
    edge:
      followed === null || lastCallAt === null
        ? { kind: "before_last_call", seconds }
        : { kind: "since", timestamp: lastCallAt - seconds },
  };
}

function isCovered(facts: PastFacts, { asOf, windowDays }: PastQuestion): boolean {
  const { followed, fromChainStart, firstNonce, lastCallAt, kept } = facts;
  if (followed === null) return kept?.toBlock === asOf.blockNumber && kept.toHash === asOf.blockHash;
  return (
    fromChainStart ||
    firstNonce === 0 ||
    (kept !== null && kept.toBlock >= followed.blockNumber) ||
    (lastCallAt !== null && lastCallAt - windowDays * SECONDS_PER_DAY >= followed.timestamp)
  );
}
