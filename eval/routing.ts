import type { RoutingAction, ScoreRecord } from "../service/model/score/record.ts";
import { defaultAction } from "../service/model/score/route.ts";

/** How the default table routes payments to a wallet. */
export type Routed = {
  /** Without an amount named. */
  readonly action: RoutingAction;
  /** Whether it settles any amount at once, however large. */
  readonly unlimited: boolean;
};

/** The default table's answer to a record; the routing of AHS-2026.2 asks for no amount. */
export function routeOf({ sanctionsFlags, outcome, confidenceLevel }: ScoreRecord): Routed {
  const grade = outcome.kind === "scored" ? outcome.grade : null;
  const action = defaultAction({
    sanctioned: sanctionsFlags.length > 0,
    score: { grade, confidenceLevel },
  });
  return { action, unlimited: action === "instant_settle" };
}

/** From the strictest to the most lenient. */
export const ACTIONS: readonly RoutingAction[] = ["reject", "escrow", "instant_settle"];
