import { z } from "@hono/zod-openapi";
import type { Address } from "viem";
import type { PublishedScore, ScoreTrend, StoredScore } from "../store/scores.ts";
import { addressParams, toEip55 } from "./address-schema.ts";
import { AHS_RECORD_EXAMPLE } from "./ahs-record-example.ts";
import { type AhsRecord, type Attestation, ahsRecordSchema } from "./ahs-record-schema.ts";
import { definePaid } from "./endpoint.ts";
import { Problem, unavailable } from "./problems.ts";
import { renderAhsRecord, renderHistoryEntry } from "./render-ahs-record.ts";
import { freshStanding, noteInterest, type WalletPorts } from "./wallet-ports.ts";

/** What came of scoring a wallet at the newest finalized block. */
type ScoreNowResult =
  | { readonly kind: "stored"; readonly row: StoredScore }
  | { readonly kind: "not-indexed" }
  | { readonly kind: "unavailable"; readonly detail: string; readonly retryAfterSeconds: number };

export type GetAhsPorts = WalletPorts & {
  readonly scores: {
    published(address: Address): Promise<PublishedScore | null>;
    history(address: Address, limit: number): Promise<readonly StoredScore[]>;
    trend(address: Address, since: Date): Promise<ScoreTrend>;
  };
  /**
   * Scores a wallet at the newest finalized block, or at the newest indexed one when it was listed or delisted since,
   * and stores it; answers the stored row if no input changed.
   */
  readonly scoreNow: (address: Address) => Promise<ScoreNowResult>;
  /** Signs a stored score for the oracle. */
  readonly attest: (row: StoredScore) => Promise<Attestation>;
  readonly oracle: Address;
};

const PARTS = ["features", "history", "attestation"] as const;
const HISTORY_LIMIT = 100;
const TREND_MS = 30 * 24 * 3_600_000;

const query = z.object({
  include: z.preprocess(splitList, z.array(z.enum(PARTS)).default([])).openapi({
    param: { name: "include", in: "query", required: false, style: "form", explode: false },
    type: "array",
    items: { type: "string", enum: [...PARTS] },
    description: "Parts to add, separated by commas",
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
    "Scores the wallet at the newest finalized block that the index holds and stores the result. A wallet without enough history is INSUFFICIENT, with null scores and `escrow`, never a low grade. A sanctioned wallet scores 0 and is rejected.",
  request: { params: addressParams, query, body: null },
  answer: { schema: ahsRecordSchema, example: AHS_RECORD_EXAMPLE, description: "The record" },
  problems: ["not-indexed", "index-unavailable", "index-behind", "scoring-unavailable"],
  async prepare({ params }, { deps, now }: { deps: GetAhsPorts; now: Date }) {
    const { followed, sanctions } = await freshStanding(params.address, deps, now);
    if (!followed && sanctions.length === 0) throw notIndexed(params.address);
  },
  async work({ params: { address }, query: { include } }, _prepared, { deps, now }): Promise<AhsRecord> {
    const row = await storedRow(address, deps);
    const [published, trend, features, history, attestation] = await Promise.all([
      deps.scores.published(address),
      deps.scores.trend(address, new Date(row.asOfTime.getTime() - TREND_MS)),
      include.includes("features") ? { features: [...row.features] } : {},
      include.includes("history") ? historyPart(address, deps) : {},
      include.includes("attestation") ? attestationPart(row, deps) : {},
    ]);
    noteInterest(address, deps);
    const record = renderAhsRecord({ row, published, oracle: deps.oracle, trend, now });
    return { ...record, ...features, ...history, ...attestation };
  },
});

/** `a,b` or a repeated parameter as one list; what is neither is left to the schema. */
function splitList(value: unknown): unknown {
  const texts = typeof value === "string" ? [value] : value;
  return Array.isArray(texts) ? texts.flatMap((text) => String(text).split(",")) : texts;
}

async function storedRow(address: Address, deps: GetAhsPorts): Promise<StoredScore> {
  const result = await deps.scoreNow(address);
  switch (result.kind) {
    case "stored":
      return result.row;
    case "not-indexed":
      throw notIndexed(address);
    case "unavailable":
      throw unavailable("scoring-unavailable", result.detail, {
        retryAfterSeconds: result.retryAfterSeconds,
      });
  }
}

function notIndexed(address: Address): Problem {
  return new Problem(
    "not-indexed",
    `The index does not follow ${toEip55(address)}, or not yet up to the newest finalized block. It follows registered agents and wallets whose score was requested from the oracle.`,
  );
}

async function historyPart(address: Address, deps: GetAhsPorts): Promise<Pick<AhsRecord, "history">> {
  const rows = await deps.scores.history(address, HISTORY_LIMIT);
  return { history: rows.map(renderHistoryEntry) };
}

async function attestationPart(row: StoredScore, deps: GetAhsPorts): Promise<Pick<AhsRecord, "attestation">> {
  return { attestation: await deps.attest(row) };
}
