import type { RoutingAction, ScoreRecord } from "../service/model/score/record.ts";
import {
  DEFAULT_ROUTING,
  type RoutingFacts,
  routedScore,
  routeWallet,
} from "../service/model/score/route.ts";

/** How the default table routes payments to a wallet. */
export type Routed = {
  /** Without an amount named. */
  readonly action: RoutingAction;
  /** Whether it settles any amount at once that is named, however large. */
  readonly unlimited: boolean;
};

/** A billion dollars: the greatest amount that a route is asked for. */
const ANY_AMOUNT = 10n ** 15n;

/** The default table's answers to a record, with nothing outstanding of the safe amount. */
export function routeOf(
  { wallet, sanctionsFlags, outcome, confidenceLevel }: ScoreRecord,
  safeMicroUsd: bigint,
): Routed {
  const grade = outcome.kind === "scored" ? outcome.grade : null;
  const route = (payment: RoutingFacts["payment"]) =>
    routeWallet(DEFAULT_ROUTING, {
      wallet,
      sanctioned: sanctionsFlags.length > 0,
      threatened: false,
      score: routedScore({ grade, confidenceLevel }),
      payment,
    }).action;
  const most = route({ amountMicroUsd: ANY_AMOUNT, availableMicroUsd: safeMicroUsd });
  return { action: route(null), unlimited: most === "instant_settle" };
}

/** From the strictest to the most lenient. */
export const ACTIONS: readonly RoutingAction[] = ["reject", "escrow", "instant_settle"];
