import type { PanelRunSettings } from "./ask-role.ts";
import { splitCriteria } from "./criteria.ts";
import { estimateTokens } from "./estimate-tokens.ts";
import type { Block } from "./fence.ts";
import { type Domain, thresholdOf } from "./policy.ts";
import { caseBlocks, systemMessage } from "./prompts.ts";
import { GENERATOR_ROLES, type PanelCase, ROLE_NAMES } from "./types.ts";

type ContextSettings = Pick<PanelRunSettings, "prompts" | "contextTokens" | "answerTokens">;

/** Earlier answers that the synthesiser receives: ballots and critique. */
const EARLIER_ANSWERS = GENERATOR_ROLES.length + 1;
/** Its own answer, and the rejected one during a repair. */
const OWN_ANSWERS = 2;
/** Tokens of fences, of the faults in a repair, and of a schema in words. */
const BETWEEN_TOKENS = 1_200;

/** Returns why the texts of a case do not fit into these models, with their sizes; null if they fit. Tokens are a high estimate. */
export function describeOverflow(
  { domain, blocks }: { domain: Domain; blocks: readonly Block[] },
  settings: ContextSettings,
): string | null {
  const needed = blocks.reduce((sum, { tokens }) => sum + tokens, 0);
  const room = roomFor(domain, settings);
  if (needed <= room) return null;
  const each = blocks.map(
    ({ label, neutral, tokens }) => `${label} ${neutral.length} characters, about ${tokens} tokens`,
  );
  return `The texts are too long for the panel's models: ${each.join("; ")}. Of a context of ${settings.contextTokens} tokens, ${room} are left for them beside the panel's own questions and answers.`;
}

/** Tokens left for the texts of a case, after the longest question without them and the answers around it. */
function roomFor(domain: Domain, { prompts, contextTokens, answerTokens }: ContextSettings): number {
  const faults = [prompts.repair];
  const systems = ROLE_NAMES.map((role) =>
    estimateTokens(systemMessage({ role, domain, faults }, { prompts, marker: "" })),
  );
  const overhead = Math.max(...systems) + (EARLIER_ANSWERS + OWN_ANSWERS) * answerTokens + BETWEEN_TOKENS;
  return Math.max(0, contextTokens - overhead);
}

/** Share of the room for specification and criteria. The output needs the rest. */
const MOST_OF_ROOM = 0.75;

/**
 * Returns why a specification leaves less than a quarter of the room to an output, with the sizes; null if it fits. Tokens are a high
 * estimate.
 */
export function describeSpecOverflow(
  { specText, acceptanceCriteria, domain }: Pick<PanelCase, "specText" | "acceptanceCriteria" | "domain">,
  settings: ContextSettings,
): string | null {
  const known = thresholdOf(domain).domain;
  const room = Math.floor(roomFor(known, settings) * MOST_OF_ROOM);
  const texts = { specText, outputText: "", evidenceTexts: [] };
  const blocks = caseBlocks(texts, splitCriteria(acceptanceCriteria));
  const tokens = blocks.reduce((sum, { neutral }) => sum + estimateTokens(neutral), 0);
  if (tokens <= room) return null;
  // Code points, as the limits of texts count them.
  const characters = [...specText, ...(acceptanceCriteria ?? "")].length;
  return `specification and criteria of ${characters} characters are about ${tokens} tokens, and may take ${room} of the ${settings.contextTokens} that the panel's models read at once: an output has to fit beside them`;
}

/** Returns why an output does not fit into these models with its specification, with the sizes; null if it fits. */
export function describeOutputOverflow(
  panelCase: Pick<PanelCase, "specText" | "acceptanceCriteria" | "domain" | "outputText">,
  settings: ContextSettings,
): string | null {
  const { domain } = thresholdOf(panelCase.domain);
  const whole = { ...panelCase, evidenceTexts: [] };
  return describeOverflow(
    { domain, blocks: caseBlocks(whole, splitCriteria(panelCase.acceptanceCriteria)) },
    settings,
  );
}
