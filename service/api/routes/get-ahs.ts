import { defineScore } from "../kit/score-endpoint.ts";
import { addressParams } from "../schemas/values.ts";

/** GET /ahs/{address}. */
export const getAhs = defineScore<unknown>()({
  path: "/ahs/{address}",
  operationId: "score_wallet",
  tool: "Returns the Agent Health Score of a wallet: 0 to 100, its grade, confidence and detected patterns. Use it to judge an agent; use route_payment to decide about one payment, and explain_score for the reasons.",
  summary: "Agent Health Score of a wallet",
  description:
    "Scores the wallet at the newest block that is finalized and enriched, and stores the result. A wallet without enough history is INSUFFICIENT, with null scores and `escrow`, never a low grade. A sanctioned wallet scores 0 and is rejected. If the wallet is not followed yet, its past is read from the deployment's history source and the wallet is followed from then on. Until that is done, or if the source fails, the answer is 503 and costs nothing. With `include=infrastructure`, or an `agent_url`, the answer shows the endpoints that the wallet's agents declare. Once these have been probed for a day they are scored too; only that answer has the mode 3D. Health and backing are two numbers: the score predicts failures and is not a fraud score; `backing` says how much money a settlement may put at stake.",
  params: addressParams,
  problems: [],
  find: async ({ address }) => ({ address, named: {} }),
});
