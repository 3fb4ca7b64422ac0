import type { PanelRunSettings } from "./ask-role.ts";
import { splitCriteria } from "./criteria.ts";
import { estimateTokens } from "./estimate-tokens.ts";
import type { Block } from "./fence.ts";
import { type Domain, thresholdOf } from "./policy.ts";
import { caseBlocks, systemMessage } from "./prompts.ts";
import { type CostSettings, mostTextTokens, tokensOfRun, VERDICT_UNITS } from "./run-cost.ts";
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
  const needed = tokensIn(blocks);
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

/** Share for specification and criteria. The output needs the rest. */
const SPEC_SHARE = 0.75;
/** Share of one evidence text. Three of them make a run half as long again. */
export const EVIDENCE_SHARE = 1 / 6;

type Sizes = ContextSettings & CostSettings;

/** Returns why a specification leaves less than a quarter of the room to an output, with the sizes; null if it fits. */
export function describeSpecOverflow(
  { specText, acceptanceCriteria, domain }: Pick<PanelCase, "specText" | "acceptanceCriteria" | "domain">,
  settings: Sizes,
): string | null {
  const whole = { specText, acceptanceCriteria, domain, outputText: "", evidenceTexts: [] };
  const { blocks, known } = blocksOf(whole);
  const tokens = tokensIn(blocks);
  const room = Math.floor(roomForPrice(known, settings) * SPEC_SHARE);
  if (tokens <= room) return null;
  const characters = charactersIn(specText, acceptanceCriteria ?? "");
  return `specification and criteria of ${characters} characters are about ${tokens} tokens, and may take ${shown(room)}: an output has to fit beside them into what a verdict is sold for`;
}

/** Tokens that a run over the texts of a case takes, a high estimate. */
export function tokensOfCase(panelCase: CaseTexts, settings: CostSettings): number {
  const { blocks, known } = blocksOf(panelCase);
  return tokensOfRun(tokensIn(blocks), known, settings);
}

/**
 * Measures an output with its specification: the tokens that a run takes, and why one price does not pay for it or a model cannot read it,
 * with the sizes; null if it fits. Tokens are a high estimate.
 */
export function measureOutput(
  panelCase: Omit<CaseTexts, "evidenceTexts">,
  settings: Sizes,
): { readonly runTokens: number; readonly overflow: string | null } {
  const { blocks, known } = blocksOf({ ...panelCase, evidenceTexts: [] });
  const tokens = tokensIn(blocks);
  const runTokens = tokensOfRun(tokens, known, settings);
  const room = roomForPrice(known, settings);
  if (tokens <= room) return { runTokens, overflow: null };
  const { specText, acceptanceCriteria, outputText } = panelCase;
  const characters = charactersIn(specText, acceptanceCriteria ?? "", outputText);
  const overflow = `specification, criteria and output of ${characters} characters are about ${tokens} tokens, and a verdict for ${(VERDICT_UNITS / 1_000).toFixed(2)} USD takes ${shown(room)}`;
  return { runTokens, overflow };
}

/** Returns why a text of evidence is too long, with the sizes; null if it fits. */
export function describeEvidenceOverflow(text: string, settings: Sizes): string | null {
  const tokens = estimateTokens(text);
  const room = Math.floor(roomForPrice("default", settings) * EVIDENCE_SHARE);
  if (tokens <= room) return null;
  return `a text of ${charactersIn(text)} characters is about ${tokens} tokens, and evidence may take ${shown(room)} in each text`;
}

/** Tokens of the largest run that is sold. */
export function largestRun(settings: Sizes): number {
  return tokensOfRun(roomForPrice("default", settings), "default", settings);
}

/** Tokens of texts that fit into the models and cost no more than the price of a verdict. */
function roomForPrice(domain: Domain, settings: Sizes): number {
  return Math.min(roomFor(domain, settings), mostTextTokens(domain, settings));
}

type CaseTexts = Pick<
  PanelCase,
  "specText" | "acceptanceCriteria" | "domain" | "outputText" | "evidenceTexts"
>;

function blocksOf(panelCase: CaseTexts) {
  const { domain: known } = thresholdOf(panelCase.domain);
  return { blocks: caseBlocks(panelCase, splitCriteria(panelCase.acceptanceCriteria)), known };
}

const tokensIn = (blocks: readonly Block[]) => blocks.reduce((sum, { tokens }) => sum + tokens, 0);

/** Code points, as the limits of texts count them. */
const charactersIn = (...texts: readonly string[]) => texts.reduce((sum, text) => sum + [...text].length, 0);

/** English has three letters for each estimated token. */
const shown = (tokens: number) => `${tokens} (some ${3 * tokens} characters of English)`;
