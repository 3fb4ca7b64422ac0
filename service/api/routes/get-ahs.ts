import { z } from "@hono/zod-openapi";
import type { Address } from "viem";
import type { StoredScore } from "../../scores/scores.ts";
import { definePaid } from "../kit/endpoint.ts";
import { recordOf, scoredRow, scorerOf } from "../kit/score-record.ts";
import { refuseUrl } from "../kit/validation-failed.ts";
import { freshStanding, noteInterest } from "../kit/wallet-report.ts";
import { type AhsRecord, ahsRecordSchema, renderHistoryEntry } from "../schemas/ahs-record.ts";
import { renderBacking, renderSellerProfile } from "../schemas/backing.ts";
import { renderExplanation } from "../schemas/explanation.ts";
import {
  answerInfrastructure,
  planInfrastructure,
  releaseInfrastructure,
} from "../schemas/infrastructure.ts";
import { addressParams, splitList } from "../schemas/values.ts";
import type { Services } from "../services.ts";

const PARTS = ["features", "history", "attestation", "infrastructure"] as const;
const HISTORY_LIMIT = 100;
const MAX_URL_CHARACTERS = 2_048;

const query = z.object({
  include: z.preprocess(splitList, z.array(z.enum(PARTS)).default([])).openapi({
    param: { style: "form", explode: false },
    type: "array",
    items: { type: "string", enum: [...PARTS] },
    description: "Parts to add",
  }),
  agent_url: z.string().min(1).max(MAX_URL_CHARACTERS).optional().openapi({
    description:
      "A URL of the agent, shown with the infrastructure. It counts where it equals or lies under an endpoint that the wallet's agents declare; any other is visited once and scores nothing. A URL that leads anywhere but to a public https host is refused.",
  }),
});

/** GET /ahs/{address}. */
export const getAhs = definePaid({
  method: "get",
  path: "/ahs/{address}",
  operationId: "score_wallet",
  tool: "Returns the Agent Health Score of a wallet: 0 to 100, its grade, confidence and detected patterns. Use it to judge an agent; use route_payment to decide about one payment, and explain_score for the reasons.",
  price: 1000,
  tag: "Scores",
  summary: "Agent Health Score of a wallet",
  description:
    "Scores the wallet at the newest block that is finalized and enriched, and stores the result. A wallet without enough history is INSUFFICIENT, with null scores and `escrow`, never a low grade. A sanctioned wallet scores 0 and is rejected. If the wallet is not followed yet, its past is read from the deployment's history source and the wallet is followed from then on. Until that is done, or if the source fails, the answer is 503 and costs nothing. With `include=infrastructure`, or an `agent_url`, the answer shows the endpoints that the wallet's agents declare. Once these have been probed for a day they are scored too; only that answer has the mode 3D. Health and backing are two numbers: the score predicts failures and is not a fraud score; `backing` says how much money a settlement may put at stake.",
  request: { params: addressParams, query, body: null },
  answer: { schema: ahsRecordSchema, description: "The record" },
  problems: [
    "not-indexed",
    "index-unavailable",
    "index-behind",
    "scoring-unavailable",
    "names-unavailable",
    "history-unavailable",
    "signer-unavailable",
  ],
  async check({ params }, { deps, now }) {
    const standing = await freshStanding(params.address, deps, now);
    const score = scorerOf(params.address, standing, deps);
    // Followed wallets too: their history may start before the index.
    return { score, threats: standing.threats, mayFetch: score === deps.scoreOnDemand };
  },
  async prepare({ params, query }, checked, { deps }) {
    if (query.agent_url !== undefined)
      await refuseUrl({ loc: ["query", "agent_url"], given: query.agent_url }, deps.infrastructure.refusal);
    const wantsD3 = query.include.includes("infrastructure") || query.agent_url !== undefined;
    if (!wantsD3) return { ...checked, plan: null };
    // Last, because it reserves a visit; a refusal here costs nothing.
    return {
      ...checked,
      plan: await planInfrastructure({ ...params, agentUrl: query.agent_url }, deps),
    };
  },
  settlement: (_input, { mayFetch }) => (mayFetch ? "before" : "after"),
  release({ plan }) {
    if (plan !== null) releaseInfrastructure(plan);
  },
  async work(
    { params: { address }, query: { include } },
    { score, threats, plan },
    { deps, now },
  ): Promise<AhsRecord> {
    const row = await scoredRow(address, score);
    const [record, backing, history, attestation, d3] = await Promise.all([
      recordOf({ row, threats }, deps, now),
      deps.backing.read(address),
      include.includes("history") ? historyPart(address, deps) : {},
      include.includes("attestation") ? attestationPart(row, deps) : {},
      plan === null ? null : answerInfrastructure({ row, plan, now }, deps),
    ]);
    noteInterest(address, deps);
    return {
      ...record,
      ...d3?.scores,
      backing: renderBacking(backing),
      seller_profile: renderSellerProfile(backing),
      ...(include.includes("features") ? renderExplanation(d3?.features ?? row.features) : {}),
      ...history,
      ...attestation,
      ...(d3 === null ? {} : { infrastructure: d3.part }),
    };
  },
});

async function historyPart(address: Address, deps: Services): Promise<Pick<AhsRecord, "history">> {
  const rows = await deps.scores.history(address, HISTORY_LIMIT);
  return { history: rows.map(renderHistoryEntry) };
}

async function attestationPart(row: StoredScore, deps: Services): Promise<Pick<AhsRecord, "attestation">> {
  return { attestation: await deps.attest(row) };
}
