import type { PanelRunSettings } from "./ask-role.ts";
import { estimateTokens } from "./estimate-tokens.ts";
import type { Block } from "./fence.ts";
import { systemMessage } from "./messages.ts";
import type { Domain } from "./thresholds.ts";
import { GENERATOR_ROLES, ROLE_NAMES } from "./types.ts";

/** What the synthesiser is given beside the case: the ballots and the critique. */
const EARLIER_ANSWERS = GENERATOR_ROLES.length + 1;
/** Its own answer, and in a repair the bad one beside it. */
const OWN_ANSWERS = 2;
/** Fences with their markers, the faults that a repair names, and a schema in words. */
const BETWEEN_TOKENS = 1_200;

/**
 * Why the case cannot be judged with these models: its texts, with all that a run adds to them, may be more than fits into a model.
 * Null where they fit. Tokens are estimated on the high side.
 */
export function describeOverflow(
  { domain, blocks }: { readonly domain: Domain; readonly blocks: readonly Block[] },
  settings: PanelRunSettings,
): string | null {
  const needed = blocks.reduce((sum, { tokens }) => sum + tokens, 0);
  const room = roomFor(domain, settings);
  if (needed <= room) return null;
  const each = blocks.map(
    ({ label, neutral, tokens }) => `${label} ${neutral.length} characters, about ${tokens} tokens`,
  );
  return `The texts are too long for the panel's models: ${each.join("; ")}. Of a context of ${settings.contextTokens} tokens, ${room} are left for them beside the panel's own questions and answers.`;
}

/** Tokens that a model has left for the texts of a case, beside the panel's own questions and answers. */
export function roomFor(domain: Domain, settings: PanelRunSettings): number {
  return Math.max(0, settings.contextTokens - overheadTokens(domain, settings));
}

/** Tokens of the longest question without the case, and of the answers that it holds or gets. */
function overheadTokens(domain: Domain, { prompts, answerTokens }: PanelRunSettings): number {
  const faults = [prompts.repair];
  const systems = ROLE_NAMES.map((role) =>
    estimateTokens(systemMessage({ role, domain, faults }, { prompts, marker: "" })),
  );
  return Math.max(...systems) + (EARLIER_ANSWERS + OWN_ANSWERS) * answerTokens + BETWEEN_TOKENS;
}
