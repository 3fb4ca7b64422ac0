import type { Address } from "viem";
import type { Policy } from "../../model/score/policy-shape.ts";
import { listedShare } from "../../reports/risk/risk.ts";
import type { RiskFacts, RiskKey, ScoreExplanation } from "../../reports/risk/risk-facts.ts";
import type { ReportSource } from "../wallet-report.ts";

/** What a risk is judged by besides the wallet's standing. */
export type JudgedFacts = RiskFacts & {
  /** Share, 0 to 1, of what own calls tried to send that was for listed accounts; null where they cannot be read now. */
  readonly listedShare: number | null;
};

type RiskSources = {
  readonly load: (key: RiskKey) => Promise<RiskFacts>;
  readonly readWallet: (address: Address) => Promise<ReportSource | null>;
  readonly policy: Policy;
};

/**
 * Own calls are read only where listed counterparties are known, or the stored score tells of some that other contracts led to:
 * few wallets have any, and only the model can tell their share.
 */
export function riskFactsReader({ load, readWallet, policy }: RiskSources) {
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

/** By the line of the cap; a record without a total has none, and any risk flag may be one. */
function mayBeExposed(explanation: ScoreExplanation | null): boolean {
  if (explanation === null) return false;
  const total = explanation.features.filter(({ dimension }) => dimension === "AHS");
  if (total.length > 0) return total.some(({ name }) => name === "exposure");
  return explanation.features.some(({ name, value }) => name === "risk_flags" && value !== null && value > 0);
}
