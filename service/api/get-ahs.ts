import { z } from "@hono/zod-openapi";
import type { Address } from "viem";
import type { PublishedScore, ScoreTrend, StoredScore } from "../store/scores.ts";
import { addressParams } from "./address-schema.ts";
import { AHS_RECORD_EXAMPLE } from "./ahs-record-example.ts";
import { type AhsRecord, type Attestation, ahsRecordSchema } from "./ahs-record-schema.ts";
import { definePaid } from "./endpoint.ts";
import {
  answerInfrastructure,
  type InfrastructurePorts,
  planInfrastructure,
  refuseAgentUrl,
  releaseInfrastructure,
} from "./infrastructure-part.ts";
import { unavailable } from "./problems.ts";
import { renderAhsRecord, renderHistoryEntry } from "./render-ahs-record.ts";
import { freshStanding, noteInterest, type WalletPorts } from "./wallet-ports.ts";
import { notIndexed } from "./wallet-report.ts";

/** What came of scoring a wallet at the newest finalized and enriched block. */
type ScoreNowResult =
  | { readonly kind: "stored"; readonly row: StoredScore }
  | { readonly kind: "not-indexed" }
  | { readonly kind: "unavailable"; readonly detail: string; readonly retryAfterSeconds: number };

/** The same for a wallet whose past may have to be read from a source first. */
type ScoreOnDemandResult =
  | ScoreNowResult
  | { readonly kind: "history-unavailable"; readonly detail: string; readonly retryAfterSeconds: number };

export type GetAhsPorts = WalletPorts &
  InfrastructurePorts & {
    readonly scores: {
      published(address: Address): Promise<PublishedScore | null>;
      history(address: Address, limit: number): Promise<readonly StoredScore[]>;
      trend(address: Address, since: Date): Promise<ScoreTrend>;
    };
    /**
     * Scores a wallet at the newest finalized and enriched block, or at the newest indexed one when it was listed or delisted since,
     * and stores it; answers the stored row if no input changed.
     */
    readonly scoreNow: (address: Address) => Promise<ScoreNowResult>;
    /**
     * The same for any wallet: reads what is missing of its past from the history source, and enrols a wallet that the index
     * does not follow. Null where there is no source: then wallets outside the index are not scored.
     */
    readonly scoreOnDemand: ((address: Address) => Promise<ScoreOnDemandResult>) | null;
    /** Signs a stored score for the oracle. */
    readonly attest: (row: StoredScore) => Promise<Attestation>;
    readonly oracle: Address;
  };

const PARTS = ["features", "history", "attestation", "infrastructure"] as const;
const HISTORY_LIMIT = 100;
const TREND_MS = 30 * 24 * 3_600_000;
const MAX_URL_CHARACTERS = 2_048;

const query = z.object({
  include: z.preprocess(splitList, z.array(z.enum(PARTS)).default([])).openapi({
    param: { name: "include", in: "query", required: false, style: "form", explode: false },
    type: "array",
    items: { type: "string", enum: [...PARTS] },
    description: "Parts to add, separated by commas",
  }),
  agent_url: z
    .string()
    .min(1)
    .max(MAX_URL_CHARACTERS)
    .optional()
    .openapi({
      param: { name: "agent_url", in: "query" },
      description:
        "A URL of the agent, shown with the infrastructure. It counts where it equals or lies under an endpoint that the wallet's agents declare; any other is visited once and scores nothing. A URL that leads anywhere but to a public https host is refused.",
    }),
});

/** GET /ahs/{address}. */
export const getAhs = definePaid({
  method: "get",
  path: "/ahs/{address}",
  price: 1000,
  tag: "Scores",
  summary: "Agent Health Score of a wallet",
  description:
    "Scores the wallet at the newest block that is both finalized and enriched, and stores the result. A wallet without enough history is INSUFFICIENT, with null scores and `escrow`, never a low grade. A sanctioned wallet scores 0 and is rejected. What the index does not know of the wallet's past is read from the history source that the deployment names, if it names one, and the wallet is followed from then on; while that goes on, or when the source fails, the answer is 503 and costs nothing. With `include=infrastructure`, or an `agent_url`, the endpoints that its agents declare are shown and, once they have been probed for a day, scored: that answer alone is 3D.",
  request: { params: addressParams, query, body: null },
  answer: { schema: ahsRecordSchema, example: AHS_RECORD_EXAMPLE, description: "The record" },
  problems: [
    "not-indexed",
    "index-unavailable",
    "index-behind",
    "scoring-unavailable",
    "history-unavailable",
  ],
  async prepare({ params, query }, { deps, now }: { deps: GetAhsPorts; now: Date }) {
    const { followed, sanctions } = await freshStanding(params.address, deps, now);
    if (query.agent_url !== undefined) await refuseAgentUrl(query.agent_url, deps);
    const isListed = sanctions.length > 0;
    if (!isListed && !followed && deps.scoreOnDemand === null) throw notIndexed(params.address);
    // The record of a listed wallet follows from the list alone: it must not wait for any source.
    const score = isListed ? deps.scoreNow : (deps.scoreOnDemand ?? deps.scoreNow);
    const wantsD3 = query.include.includes("infrastructure") || query.agent_url !== undefined;
    if (!wantsD3) return { score, plan: null };
    // Last of all, since it reserves: whatever it refuses costs nothing and has enrolled nobody.
    return { score, plan: await planInfrastructure({ ...params, agentUrl: query.agent_url }, deps) };
  },
  release({ plan }) {
    if (plan !== null) releaseInfrastructure(plan);
  },
  async work(
    { params: { address }, query: { include } },
    { score, plan },
    { deps, now },
  ): Promise<AhsRecord> {
    const row = storedRow(address, await score(address));
    const [published, trend, history, attestation, d3] = await Promise.all([
      deps.scores.published(address),
      deps.scores.trend(address, new Date(row.asOfTime.getTime() - TREND_MS)),
      include.includes("history") ? historyPart(address, deps) : {},
      include.includes("attestation") ? attestationPart(row, deps) : {},
      plan === null ? null : answerInfrastructure({ row, plan, now }, deps),
    ]);
    noteInterest(address, deps);
    const record = renderAhsRecord({ row, published, oracle: deps.oracle, trend, now });
    return {
      ...record,
      ...d3?.scores,
      ...(include.includes("features") ? { features: [...(d3?.features ?? row.features)] } : {}),
      ...history,
      ...attestation,
      ...(d3 === null ? {} : { infrastructure: d3.part }),
    };
  },
});

/** `a,b` or a repeated parameter as one list; what is neither is left to the schema. */
function splitList(value: unknown): unknown {
  const texts = typeof value === "string" ? [value] : value;
  return Array.isArray(texts) ? texts.flatMap((text) => String(text).split(",")) : texts;
}

function storedRow(address: Address, result: ScoreOnDemandResult): StoredScore {
  switch (result.kind) {
    case "stored":
      return result.row;
    case "not-indexed":
      throw notIndexed(address);
    case "unavailable":
      throw unavailable("scoring-unavailable", result.detail, {
        retryAfterSeconds: result.retryAfterSeconds,
      });
    case "history-unavailable":
      throw unavailable("history-unavailable", result.detail, {
        retryAfterSeconds: result.retryAfterSeconds,
      });
  }
}

async function historyPart(address: Address, deps: GetAhsPorts): Promise<Pick<AhsRecord, "history">> {
  const rows = await deps.scores.history(address, HISTORY_LIMIT);
  return { history: rows.map(renderHistoryEntry) };
}

async function attestationPart(row: StoredScore, deps: GetAhsPorts): Promise<Pick<AhsRecord, "attestation">> {
  return { attestation: await deps.attest(row) };
}
