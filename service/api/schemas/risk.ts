import { z } from "@hono/zod-openapi";
import type { Address } from "viem";
import type { Policy } from "../../model/score/policy-shape.ts";
import {
  assessRisk,
  counterpartyShares,
  listedShare,
  type RiskEvidence,
  riskSignals,
} from "../../reports/risk/risk.ts";
import type { RiskFacts, RiskKey, ScoreExplanation } from "../../reports/risk/risk-facts.ts";
import { type CurrentScore, isStale, shownScore, type WalletSnapshot } from "../../scores/scores.ts";
import type { ReportSource } from "../kit/wallet-report.ts";
import {
  confidenceLevelSchema,
  nullableGradeSchema,
  nullableScoreSchema,
  sanctionsFlagSchema,
} from "./ahs-record.ts";
import { eip55Schema, isoOf, isoSchema, toEip55 } from "./values.ts";

/** The base of the shares in an answer. */
const EXPOSURE_OF =
  "listed_share: what own calls of the scoring window tried to send to others than the owner's accounts, as the score has it. failing_share: value sent to anybody, own accounts included, in native coin and priced tokens since the first contact. Of both, calls where none was";

const shareSchema = z.number().min(0).max(1);

const exposureSchema = z
  .object({
    share: shareSchema
      .nullable()
      .openapi({ description: "listed_share and failing_share together, 1 at most" }),
    listed_share: shareSchema.nullable().openapi({
      description:
        "To sanctioned accounts and mixers, as the score has it; null while own calls cannot be read",
    }),
    failing_share: shareSchema.openapi({ description: "To wallets of grade F that are not listed" }),
    sent_usd: z
      .number()
      .min(0)
      .openapi({ description: "Sent to all counterparties, where it has a price: what failing_share is of" }),
    counterparties: z.int().min(0),
    listed_counterparties: z.int().min(0),
    failing_counterparties: z.int().min(0),
    truncated: z.boolean().openapi({ description: "Of very many counterparties 10,000 were looked at" }),
    of: z.string(),
    since: isoSchema.openapi({ description: "First contact that is known" }),
    as_of_block: z.int(),
  })
  .openapi("CounterpartyExposure", {
    description:
      "Within one hop, of what the wallet itself sent: what others send to it is not its doing. Lists are those of the newest indexed block, grades the newest stored ones, a minute old at most",
  });

const signalSchema = z
  .object({
    name: z.string().openapi({
      description:
        "A pattern, feature or cap of the model, or sanctioned, listed_counterparties, failing_counterparties",
    }),
    severity: z.enum(["high", "medium", "info"]),
    detail: z.string(),
  })
  .openapi("RiskSignal");

/** Members of GET /risk/{address} and of the premium answer. */
export const riskShape = {
  address: eip55Schema,
  risk_score: z
    .int()
    .min(0)
    .max(100)
    .nullable()
    .openapi({ description: "100 is the worst; null where too little is known, which is no sign of risk" }),
  risk_level: z.enum(["LOW", "MEDIUM", "HIGH", "CRITICAL", "UNKNOWN"]).openapi({
    description:
      "LOW up to 25, grades A and B; MEDIUM up to 40, grade C; HIGH up to 80, grades D and E; CRITICAL above, grade F; UNKNOWN without a score, unless the share to listed accounts alone determines a level",
  }),
  verdict: z.string(),
  signals: z.array(signalSchema).openapi({ description: "The worst first" }),
  sanctions_flags: z.array(sanctionsFlagSchema),
  sanctions_as_of_block: z
    .int()
    .openapi({ description: "Newest indexed block, at which lists were looked up" }),
  counterparty_exposure: exposureSchema.nullable(),
  counterparty_exposure_reason: z
    .enum(["not_followed", "no_contacts"])
    .nullable()
    .openapi({ description: "Why counterparty_exposure is null" }),
  ahs_score: nullableScoreSchema,
  grade: nullableGradeSchema,
  confidence: z.number().min(0).max(1),
  confidence_level: confidenceLevelSchema,
  reason: z
    .enum(["scored", "insufficient_history", "not_scored", "listed_counterparties", "sanctioned"])
    .openapi({
      description:
        "listed_counterparties: without a score of its own, the least that the share to listed accounts makes of it",
    }),
  scored_at: isoSchema.nullable().openapi({ description: "Time of the block that the score is as of" }),
  stale: z
    .boolean()
    .nullable()
    .openapi({ description: "The score is older than 24 hours; null without one" }),
  as_of_block: z.int().nullable().openapi({ description: "Block of the score; null without one" }),
  chain_id: z.int(),
} as const;

/** The answer of GET /risk/{address}. */
export const riskSchema = z.object(riskShape).openapi("Risk");

export type RiskAnswer = z.infer<typeof riskSchema>;

export const RISK_EXAMPLE: RiskAnswer = {
  address: "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
  risk_score: 16,
  risk_level: "LOW",
  verdict: "Low risk: gas efficiency.",
  signals: [
    {
      name: "gas_efficiency",
      severity: "medium",
      detail: "burns an estimated 12.4 % of its fees by failures; 52 of 100 points by 300 samples",
    },
  ],
  sanctions_flags: [],
  sanctions_as_of_block: 7994,
  counterparty_exposure: {
    share: 0.004,
    listed_share: 0,
    failing_share: 0.004,
    sent_usd: 18_240.5,
    counterparties: 12,
    listed_counterparties: 0,
    failing_counterparties: 1,
    truncated: false,
    of: EXPOSURE_OF,
    since: "2026-08-22T07:12:00.000Z",
    as_of_block: 7969,
  },
  counterparty_exposure_reason: null,
  ahs_score: 84,
  grade: "B",
  confidence: 0.81,
  confidence_level: "HIGH",
  reason: "scored",
  scored_at: "2026-11-20T09:58:00.000Z",
  stale: false,
  as_of_block: 7969,
  chain_id: 31337,
};

export type RiskPorts = {
  readonly riskFacts: (key: RiskKey) => Promise<JudgedFacts>;
  readonly policy: Pick<Policy, "caps" | "grades">;
  readonly chainId: number;
};

const MICROS = 1_000_000;

/** The risk of dealing with a wallet, from stored data. */
export async function answerRisk(
  {
    address,
    standing,
    now,
  }: { readonly address: Address; readonly standing: WalletSnapshot; readonly now: Date },
  ports: RiskPorts,
): Promise<RiskAnswer> {
  const { head, sanctions, score } = standing;
  if (head === null) throw new Error("a fresh standing has a head");
  const scoreId = score === null ? null : score.scoreId;
  const facts = await ports.riskFacts({ address, scoreId });
  const { explanation, exposure } = facts;
  const shares = typeof exposure === "string" ? null : counterpartyShares(exposure, facts.listedShare);
  const signals = riskSignals({ sanctions, explanation, shares });
  const risk = assessRisk(
    {
      sanctioned: sanctions.length > 0,
      score: evidenceOf(score),
      listedShare: shares === null ? null : shares.listed.share,
      signals,
    },
    ports.policy,
  );
  return {
    address: toEip55(address),
    risk_score: risk.score,
    risk_level: risk.level,
    verdict: risk.verdict,
    signals: [...signals],
    sanctions_flags: [...sanctions],
    sanctions_as_of_block: head.blockNumber,
    ...renderExposure(facts),
    ...renderScore(score, sanctions.length > 0),
    reason: risk.reason,
    scored_at: score === null ? null : score.asOfTime.toISOString(),
    stale: score === null ? null : isStale(score.asOfTime, now),
    as_of_block: score === null ? null : score.asOfBlock,
    chain_id: ports.chainId,
  };
}

function evidenceOf(score: CurrentScore | null): RiskEvidence["score"] {
  if (score === null) return { kind: "not_scored" };
  const { ahsScore, confidenceLevel } = score;
  return ahsScore === null ? { kind: "insufficient" } : { kind: "scored", ahsScore, confidenceLevel };
}

function renderExposure({
  exposure,
  listedShare,
}: JudgedFacts): Pick<RiskAnswer, "counterparty_exposure" | "counterparty_exposure_reason"> {
  if (typeof exposure === "string") {
    return { counterparty_exposure: null, counterparty_exposure_reason: exposure };
  }
  const { together, listed, failing } = counterpartyShares(exposure, listedShare);
  return {
    counterparty_exposure: {
      share: together,
      listed_share: listed.share,
      failing_share: failing.share,
      sent_usd: exposure.sentMicroUsd / MICROS,
      counterparties: exposure.counterparties,
      listed_counterparties: listed.counterparties,
      failing_counterparties: failing.counterparties,
      truncated: exposure.truncated,
      of: EXPOSURE_OF,
      since: isoOf(exposure.since),
      as_of_block: exposure.asOfBlock,
    },
    counterparty_exposure_reason: null,
  };
}

function renderScore(
  score: CurrentScore | null,
  sanctioned: boolean,
): Pick<RiskAnswer, "ahs_score" | "grade" | "confidence" | "confidence_level"> {
  const { ahsScore, grade, confidence, confidenceLevel } = shownScore(score, sanctioned);
  return { ahs_score: ahsScore, grade, confidence, confidence_level: confidenceLevel };
}

/** Facts that a risk depends on besides the stored state of the wallet. */
export type JudgedFacts = RiskFacts & {
  /** Share, 0 to 1, of what own calls tried to send that was for listed accounts; null where they cannot be read now. */
  readonly listedShare: number | null;
};

/**
 * Reads own calls only if listed counterparties are known, or if the stored score reports some behind other contracts. Few
 * wallets have any, and only the model can compute their share.
 */
export function riskFactsReader({
  load,
  readWallet,
  policy,
}: {
  readonly load: (key: RiskKey) => Promise<RiskFacts>;
  readonly readWallet: (address: Address) => Promise<ReportSource | null>;
  readonly policy: Policy;
}) {
  return async (key: RiskKey): Promise<JudgedFacts> => {
    const facts = await load(key);
    const { exposure, explanation } = facts;
    if (typeof exposure === "string") return { ...facts, listedShare: 0 };
    if (exposure.listed.length === 0 && !mayBeExposed(explanation)) return { ...facts, listedShare: 0 };
    const source = await readWallet(key.address);
    return {
      ...facts,
      listedShare: source === null ? null : listedShare(source.rows, exposure.listed, policy),
    };
  };
}

/** Derived from the line of the cap. A record without a total has no such line; any risk flag may be one. */
function mayBeExposed(explanation: ScoreExplanation | null): boolean {
  if (explanation === null) return false;
  const total = explanation.features.filter(({ dimension }) => dimension === "AHS");
  if (total.length > 0) return total.some(({ name }) => name === "exposure");
  return explanation.features.some(({ name, value }) => name === "risk_flags" && value !== null && value > 0);
}
