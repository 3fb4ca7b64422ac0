import type {
  DayTokens,
  OwnerTokens,
  PanelBudget,
} from "../../service/verification/verdicts/token-budget.ts";

/** A budget of 1,000 tokens a day, of which nothing is used unless given. */
export function panelBudget({
  tokensPerDay = 1_000,
  largestRun = 1,
  ...use
}: Partial<Pick<PanelBudget, "tokensPerDay" | "largestRun"> & DayTokens & OwnerTokens> = {}): PanelBudget {
  return {
    ...{ tokensPerDay, largestRun },
    readDay: async () => ({ used: 0, granted: 0, free: 0, returned: 0, ...use }),
    readOwner: async () => ({ today: 0, paid: 0, unpaid: 0, ...use }),
  };
}
