import { type CallTally, tallyCalls } from "../../model/features/call-tally.ts";
import { findFailures } from "../../model/features/failure-runs.ts";
import { createMarket } from "../../model/features/market.ts";
import type { WalletRows } from "../../model/features/types.ts";
import { weighCalls } from "../../model/features/weigh-calls.ts";
import type { Policy } from "../../model/score/policy-shape.ts";

/** What a report card tells of a wallet's calls to others as they happened, beside what the model estimates from them. */
export type CardCounts = CallTally & {
  /** Failures that no success of the same call followed. */
  readonly unmended: number;
};

/** Counts the calls to others up to a block, in the window that the model looks at. */
export function countForCard(
  { rows, upToBlock }: { readonly rows: WalletRows; readonly upToBlock: number },
  policy: Policy,
): CardCounts {
  const calls = rows.calls.filter(({ blockNumber }) => blockNumber <= upToBlock);
  const history = weighCalls({ ...rows, calls }, createMarket(rows.tokens), policy);
  const unmended = findFailures(history).filter(({ recoveredAfter }) => recoveredAfter === null);
  return { ...tallyCalls(history.outside), unmended: unmended.length };
}
