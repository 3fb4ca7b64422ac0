import { type Holdings, holdingsOf } from "../../model/features/holdings.ts";
import { createMarket, type Market } from "../../model/features/market.ts";
import type { AsOf, WalletRows } from "../../model/features/types.ts";
import { type WeighedHistory, weighCalls } from "../../model/features/weigh-calls.ts";
import type { Policy } from "../../model/score/policy-shape.ts";
import { type PaidWindow, readPaidWindow } from "./gas-spending.ts";

/** What diagnoses of one wallet are made from. */
export type ReportFacts = {
  readonly rows: WalletRows;
  readonly asOf: AsOf;
  readonly policy: Policy;
  readonly market: Market;
  /** Weighed as the score weighs it: over the window before the last own call. */
  readonly history: WeighedHistory;
  readonly holdings: Holdings;
  /** Own calls of the window before the report's block. */
  readonly paid: PaidWindow;
};

/** Everything that follows from the rows of one wallet under a policy; the order of the rows does not matter. */
export function gatherReportFacts(
  { rows, asOf }: { readonly rows: WalletRows; readonly asOf: AsOf },
  policy: Policy,
): ReportFacts {
  const market = createMarket(rows.tokens);
  const history = weighCalls(rows, market, policy);
  return {
    ...{ rows, asOf, policy, market, history },
    holdings: holdingsOf({ rows, history, market, policy }),
    paid: readPaidWindow({ rows, asOf, market }, policy.window.days),
  };
}
