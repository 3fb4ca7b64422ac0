import type { Services } from "../../../../service/api/services.ts";

const NOBODY = { counterparties: 0, sentMicroUsd: 0, unpricedCalls: 0 };

/** Stored facts of a healthy wallet that dealt with twelve others. */
export const RISK_FACTS: Awaited<ReturnType<Services["riskFacts"]>> = {
  explanation: { patterns: [], features: [] },
  exposure: {
    asOfBlock: 970,
    since: 1_790_000_000,
    counterparties: 12,
    calls: 300,
    sentMicroUsd: 18_240_500_000,
    truncated: false,
    listed: [],
    failing: NOBODY,
  },
  listedShare: 0,
};
