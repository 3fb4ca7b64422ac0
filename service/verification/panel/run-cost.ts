import type { PanelRunSettings, TokenPrices } from "./ask-role.ts";
import { estimateTokens } from "./estimate-tokens.ts";
import type { Domain } from "./policy.ts";
import { systemMessage } from "./prompts.ts";
import { GENERATOR_ROLES, ROLE_NAMES, type RoleName } from "./types.ts";

/** Price of a verdict in thousandths of a US dollar, however long its texts are. */
export const VERDICT_UNITS = 500;

/** Prices of the dearer common models, in the place of prices that are not configured. */
const ASSUMED_PRICES: Pick<TokenPrices, "promptUsd" | "answerUsd"> = { promptUsd: 3, answerUsd: 15 };
/** A ballot on half a dozen criteria; an answer seldom takes all that it may. */
const ANSWER_TOKENS = 600;
/** Fences, and the list of the blocks. */
const BETWEEN_TOKENS = 400;

export type CostSettings = Pick<PanelRunSettings, "prompts" | "prices" | "answerTokens">;

/** Tokens of a run that asks each role once, over texts of so many tokens. */
export function tokensOfRun(textTokens: number, domain: Domain, settings: CostSettings): number {
  const answer = answerTokensOf(settings);
  return ROLE_NAMES.reduce((sum, role) => sum + textTokens + overheadOf(role, domain, settings) + answer, 0);
}

/** Most tokens of texts for which a run costs no more than a verdict is sold for. */
export function mostTextTokens(domain: Domain, settings: CostSettings): number {
  const answer = answerTokensOf(settings);
  let left = VERDICT_UNITS * 1_000;
  let each = 0;
  for (const role of ROLE_NAMES) {
    // A price per million tokens is millionths of a US dollar per token.
    const { promptUsd, answerUsd } = settings.prices[role] ?? ASSUMED_PRICES;
    left -= overheadOf(role, domain, settings) * promptUsd + answer * answerUsd;
    each += promptUsd;
  }
  return each === 0 ? Number.MAX_SAFE_INTEGER : Math.max(0, Math.floor(left / each));
}

/** Prompt tokens of a role beside the texts of the case: our own words, and the answers of earlier roles. */
function overheadOf(role: RoleName, domain: Domain, settings: CostSettings): number {
  const system = systemMessage({ role, domain, faults: [] }, { prompts: settings.prompts, marker: "" });
  return estimateTokens(system) + BETWEEN_TOKENS + EARLIER_ANSWERS[role] * answerTokensOf(settings);
}

const EARLIER_ANSWERS: Readonly<Record<RoleName, number>> = {
  criteria_auditor: 0,
  domain_expert: 0,
  evidence_checker: 0,
  user_advocate: 0,
  critic: GENERATOR_ROLES.length,
  synthesiser: GENERATOR_ROLES.length + 1,
};

function answerTokensOf({ answerTokens }: CostSettings): number {
  return Math.min(ANSWER_TOKENS, answerTokens);
}
