import type { Address } from "viem";
import type { Policy } from "../../model/score/policy-shape.ts";
import { assessRisk, counterpartyShares, type RiskEvidence, riskSignals } from "../../reports/risk/risk.ts";
import type { RiskKey } from "../../reports/risk/risk-facts.ts";
import type { CurrentScore, Standing } from "../../scores/scores.ts";
import { toEip55 } from "../address-schema.ts";
import { isStale } from "../scores/render-ahs-record.ts";
import { isoOf } from "../wallet-report.ts";
import type { JudgedFacts } from "./read-risk-facts.ts";
import { EXPOSURE_OF, type RiskAnswer } from "./risk-schema.ts";

export type RiskPorts = {
  readonly riskFacts: (key: RiskKey) => Promise<JudgedFacts>;
  readonly policy: Pick<Policy, "caps" | "grades">;
  readonly chainId: number;
};

const MICROS = 1_000_000;

/** The risk of dealing with a wallet, from its standing and what is stored of it. */
export async function answerRisk(
  { address, standing, now }: { readonly address: Address; readonly standing: Standing; readonly now: Date },
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

/** A listed wallet scores 0 with confidence 1 from the moment of its listing, whatever was stored before. */
function renderScore(
  score: CurrentScore | null,
  sanctioned: boolean,
): Pick<RiskAnswer, "ahs_score" | "grade" | "confidence" | "confidence_level"> {
  if (sanctioned) return { ahs_score: 0, grade: "F", confidence: 1, confidence_level: "HIGH" };
  if (score === null) {
    return { ahs_score: null, grade: null, confidence: 0, confidence_level: "INSUFFICIENT" };
  }
  return {
    ahs_score: score.ahsScore,
    grade: score.grade,
    confidence: score.confidenceMicros / MICROS,
    confidence_level: score.confidenceLevel,
  };
}
