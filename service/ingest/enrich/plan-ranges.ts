import type { Address } from "viem";
import type { EnrichState } from "./enrich-reads.ts";

export type PlannedRange = {
  readonly from: number;
  readonly to: number;
  /** Wallets to read for, each from its own first block on. */
  readonly wallets: ReadonlyMap<Address, number>;
};

/** The next finalized blocks for every wallet, at most `span`, from the cursor or the first followed block on; null for none. */
export function planChainRange(
  state: EnrichState,
  finalizedBlock: number,
  span: number,
): PlannedRange | null {
  const from = state.cursor === null ? firstBlock(state, finalizedBlock) : state.cursor.block + 1;
  if (from > finalizedBlock) return null;
  const to = Math.min(from + span - 1, finalizedBlock);
  return { from, to, wallets: followedBy(state, to) };
}

/** The next blocks to read for wallets whose own past is open: the earliest first, at most `span` blocks; null when nothing is left. */
export function planPastRange(state: EnrichState, span: number): PlannedRange | null {
  const open = state.past.filter(({ wallet }) => state.wallets.has(wallet));
  if (open.length === 0) return null;
  const from = open.reduce((least, { next }) => Math.min(least, next), Number.POSITIVE_INFINITY);
  const until = open.reduce((most, past) => Math.max(most, past.until), from);
  const to = Math.min(from + span - 1, until);
  const joined = open.filter(({ next }) => next <= to);
  return { from, to, wallets: new Map(joined.map(({ wallet, next }) => [wallet, next])) };
}

function firstBlock({ wallets }: EnrichState, finalizedBlock: number): number {
  return [...wallets.values()].reduce((least, since) => Math.min(least, since), finalizedBlock);
}

function followedBy({ wallets }: EnrichState, block: number): ReadonlyMap<Address, number> {
  return new Map([...wallets].filter(([, since]) => since <= block));
}
