import { z } from "@hono/zod-openapi";
import { definePaid } from "../kit/endpoint.ts";
import type { WalletNeeds } from "../kit/wallet-report.ts";
import { freshSnapshot } from "../kit/wallet-report.ts";
import type { RiskNeeds } from "../schemas/risk.ts";
import { answerRisk, riskSchema } from "../schemas/risk.ts";
import { addressParams } from "../schemas/values.ts";

/** GET /risk/{address}. */
export const getRisk = definePaid<RiskNeeds & WalletNeeds>()({
  method: "get",
  path: "/risk/{address}",
  operationId: "check_risk",
  tool: "Checks whether a wallet is dangerous before you deal with it: sanctions, known bad counterparties and failures, as a risk level with reasons. Use it for a quick, cheap check of any address.",
  price: { units: 1 },
  tag: "Risk",
  summary: "Pre-transaction trust check of a wallet",
  description:
    "How risky it is to deal with a wallet, from its newest stored score, the sanctions lists at the newest indexed block, and the recipients of its value. It does not score the wallet: one never scored, or without enough history, has no `risk_score` and the level UNKNOWN, because missing data is no sign of risk. A sanctioned wallet is always 100 and CRITICAL.",
  request: { params: addressParams, query: z.object({}), body: null },
  answer: { schema: riskSchema, description: "The risk" },
  problems: ["index-unavailable", "index-behind", "scoring-unavailable"],
  check: ({ params }, { deps, now }) => freshSnapshot(params.address, deps, now),
  interestIn: ({ address, scored_at }) => (scored_at === null ? [] : [address]),
  work: ({ params: { address } }, snapshot, { deps, now }) => answerRisk({ address, snapshot, now }, deps),
});
