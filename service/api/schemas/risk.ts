import { z } from "@hono/zod-openapi";
import type { Address } from "viem";
import { MICRO } from "../../model/score/fixed-point.ts";
import type { Policy } from "../../model/score/policy-shape.ts";
import {
  assessRisk,
  counterpartyShares,
  listedShare,
  listsOf,
  type RiskEvidence,
  riskSignals,
} from "../../reports/risk/risk.ts";
import type { RiskFacts, RiskKey, ScoreExplanation } from "../../reports/risk/risk-facts.ts";
import type { CurrentScore, WalletSnapshot } from "../../scores/stored-score.ts";
import type { ReportSource } from "../kit/wallet-report.ts";
import {
  blockSchema,
  chainIdSchema,
  currentScoreShape,
  renderCurrentScore,
  renderThreats,
  sanctionsFlagsSchema,
  threatsShape,
} from "./ahs-record.ts";
import { eip55Schema, flag, isoOf, isoSchema, severitySchema, text, toEip55 } from "./values.ts";

/** Services of answers about a risk. */
export type RiskNeeds = {
  /**
   * Facts of a risk, and the share, 0 to 1, of what own calls tried to send that was for listed accounts; null where they cannot
   * be read now.
   */
  readonly riskFacts: (key: RiskKey) => Promise<RiskFacts & { readonly listedShare: number | null }>;
  readonly policy: Policy;
  readonly chainId: number;
};

const shareSchema = z.number().min(0).max(1).openapi({ example: 0.004 });

const exposureSchema = z
  .object({
    share: shareSchema
      .nullable()
      .openapi({ description: "listed_share and failing_share together, 1 at most" }),
    listed_share: shareSchema.nullable().openapi({
      description:
        "Share of the outgoing value of the scoring window that went to sanctioned accounts and mixers, as in the score; by number of calls if nothing had a price. Null while own calls cannot be read",
      example: 0,
    }),
    failing_share: shareSchema.openapi({
      description:
        "Share of `sent_usd` that went to unlisted wallets of grade F; by number of calls if nothing had a price",
    }),
    sent_usd: z.number().min(0).openapi({
      description: "Priced value sent to all counterparties, own accounts included, since the first contact",
      example: 18_240.5,
    }),
    counterparties: z.int().min(0).openapi({ example: 12 }),
    listed_counterparties: z.int().min(0),
    failing_counterparties: z.int().min(0).openapi({ example: 1 }),
    truncated: flag("True where only 10,000 counterparties were examined"),
    since: isoSchema.openapi({ description: "First contact that is known" }),
    as_of_block: blockSchema,
  })
  .openapi("CounterpartyExposure", {
    description:
      "Outgoing value within one hop. Incoming transfers do not count. Lists are those of the newest indexed block; grades are the newest stored ones, at most a minute old",
  });

const signalSchema = z
  .object({
    name: text(
      "A pattern or feature of the model, or sanctioned, listed_phishing and the like, listed_counterparties, failing_counterparties",
      "gas_efficiency",
    ),
    severity: severitySchema,
    detail: z.string().openapi({
      example: "12.4% of its fees were spent on failed calls, gas prices 100 of 100",
    }),
  })
  .openapi("RiskSignal");

/** Members of GET /risk/{address} and of the premium answer. */
export const riskShape = {
  address: eip55Schema,
  risk_score: z.int().min(0).max(100).nullable().openapi({
    description: "100 is the worst; null where too little is known, which is no sign of risk",
    example: 16,
  }),
  risk_level: z.enum(["LOW", "MEDIUM", "HIGH", "CRITICAL", "UNKNOWN"]).openapi({
    description:
      "LOW up to 25, grades A and B; MEDIUM up to 40, grade C; HIGH up to 80, grades D and E; CRITICAL above, grade F; UNKNOWN without a score, unless the share to listed accounts alone determines a level",
  }),
  verdict: z
    .string()
    .openapi({ example: "Low risk: 12.4% of its fees were spent on failed calls, gas prices 100 of 100." }),
  signals: z.array(signalSchema).openapi({ description: "The worst first" }),
  sanctions_flags: sanctionsFlagsSchema,
  ...threatsShape,
  sanctions_as_of_block: blockSchema.openapi({
    description: "Newest indexed block, at which lists were looked up",
  }),
  counterparty_exposure: exposureSchema.nullable(),
  counterparty_exposure_reason: z
    .enum(["not_followed", "no_contacts"])
    .nullable()
    .openapi({ description: "Why counterparty_exposure is null", example: null }),
  ...currentScoreShape,
  reason: z
    .enum(["scored", "insufficient_history", "not_scored", "listed_counterparties", "sanctioned"])
    .openapi({
      description:
        "listed_counterparties: without a score of its own, the least that the share to listed accounts makes of it",
    }),
  as_of_block: blockSchema.nullable().openapi({ description: "Block of the score; null without one" }),
  chain_id: chainIdSchema,
} as const;

/** The answer of GET /risk/{address}. */
export const riskSchema = z.object(riskShape).openapi("Risk");

/** The risk of dealing with a wallet, from stored data. */
export async function answerRisk(
  {
    address,
    snapshot,
    now,
  }: { readonly address: Address; readonly snapshot: WalletSnapshot; readonly now: Date },
  ports: RiskNeeds,
): Promise<z.infer<typeof riskSchema>> {
  const { head, sanctions, threats, score } = snapshot;
  if (head === null) throw new Error("a fresh standing has a head");
  const scoreId = score === null ? null : score.scoreId;
  const facts = await ports.riskFacts({ address, scoreId });
  const { explanation, exposure } = facts;
  const sanctioned = sanctions.length > 0;
  const shares = typeof exposure === "string" ? null : counterpartyShares(exposure, facts.listedShare);
  const signals = riskSignals({ sanctions, threats, explanation, shares });
  const risk = assessRisk(
    {
      sanctioned,
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
    verdict: threats.length === 0 ? risk.verdict : `${risk.verdict} Threat lists: ${listsOf(threats)}.`,
    signals: [...signals],
    sanctions_flags: [...sanctions],
    ...renderThreats(threats, shares !== null && (shares.listed.share ?? 0) > 0),
    sanctions_as_of_block: head.blockNumber,
    ...renderExposure(exposure, shares),
    ...renderCurrentScore(score, { sanctioned, now }),
    reason: risk.reason,
    as_of_block: score === null ? null : score.asOfBlock,
    chain_id: ports.chainId,
  };
}

function evidenceOf(score: CurrentScore | null): RiskEvidence["score"] {
  if (score === null) return { kind: "not_scored" };
  const { ahsScore, confidenceLevel } = score;
  return ahsScore === null ? { kind: "insufficient" } : { kind: "scored", ahsScore, confidenceLevel };
}

function renderExposure(
  exposure: RiskFacts["exposure"],
  shares: ReturnType<typeof counterpartyShares> | null,
): Pick<z.infer<typeof riskSchema>, "counterparty_exposure" | "counterparty_exposure_reason"> {
  if (typeof exposure === "string" || shares === null) {
    const reason = typeof exposure === "string" ? exposure : null;
    return { counterparty_exposure: null, counterparty_exposure_reason: reason };
  }
  const { together, listed, failing } = shares;
  return {
    counterparty_exposure: {
      share: together,
      listed_share: listed.share,
      failing_share: failing.share,
      sent_usd: exposure.sentMicroUsd / MICRO,
      counterparties: exposure.counterparties,
      listed_counterparties: listed.counterparties,
      failing_counterparties: failing.counterparties,
      truncated: exposure.truncated,
      since: isoOf(exposure.since),
      as_of_block: exposure.asOfBlock,
    },
    counterparty_exposure_reason: null,
  };
}

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
  readonly readWallet: (address: Address) => Promise<ReportSource | "unknown" | null>;
  readonly policy: Policy;
}) {
  return async (key: RiskKey): ReturnType<RiskNeeds["riskFacts"]> => {
    const facts = await load(key);
    const { exposure, explanation } = facts;
    if (typeof exposure === "string") return { ...facts, listedShare: 0 };
    if (exposure.listed.length === 0 && !mayBeExposed(explanation)) return { ...facts, listedShare: 0 };
    const source = await readWallet(key.address);
    return {
      ...facts,
      listedShare:
        source === null || source === "unknown" ? null : listedShare(source.rows, exposure.listed, policy),
    };
  };
}

/** Any risk flag may be such an account, and risk flags that are not known may hide one. */
function mayBeExposed(explanation: ScoreExplanation | null): boolean {
  const flags = explanation?.features.find(({ name }) => name === "risk_flags");
  return flags?.state === "unknown" || (flags?.value ?? 0) > 0;
}
