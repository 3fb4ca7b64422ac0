import type { PanelRunSettings } from "./ask-role.ts";
import { describeOverflow, roomFor } from "./check-context.ts";
import { splitCriteria } from "./criteria.ts";
import { estimateTokens } from "./estimate-tokens.ts";
import { caseBlocks } from "./messages.ts";
import { thresholdOf } from "./thresholds.ts";
import type { PanelCase } from "./types.ts";

/** Share of the room that specification and criteria may take: what is judged by them needs some of it as well. */
const MOST_OF_ROOM = 0.75;

/**
 * Why a specification would leave no output enough room in these models, with the sizes; null where it leaves a quarter of the room or
 * more. Tokens are estimated on the high side, as they are for a whole case.
 */
export function describeSpecOverflow(
  { specText, acceptanceCriteria, domain }: Pick<PanelCase, "specText" | "acceptanceCriteria" | "domain">,
  settings: PanelRunSettings,
): string | null {
  const known = thresholdOf(domain).domain;
  const room = Math.floor(roomFor(known, settings) * MOST_OF_ROOM);
  const texts = { specText, acceptanceCriteria, outputText: "", evidenceTexts: [], providerHasScore: false };
  const blocks = caseBlocks({ ...texts, domain }, splitCriteria(acceptanceCriteria));
  const tokens = blocks.reduce((sum, { neutral }) => sum + estimateTokens(neutral), 0);
  if (tokens <= room) return null;
  const characters = countCharacters(specText) + countCharacters(acceptanceCriteria ?? "");
  return `specification and criteria of ${characters} characters are about ${tokens} tokens, and may take ${room} of the ${settings.contextTokens} that the panel's models read at once: an output has to fit beside them`;
}

/** Why an output cannot be judged with these models beside its specification, with the sizes; null where all of it fits. */
export function describeOutputOverflow(
  panelCase: Omit<PanelCase, "evidenceTexts" | "providerHasScore">,
  settings: PanelRunSettings,
): string | null {
  const { domain } = thresholdOf(panelCase.domain);
  const whole = { ...panelCase, evidenceTexts: [], providerHasScore: false };
  return describeOverflow(
    { domain, blocks: caseBlocks(whole, splitCriteria(panelCase.acceptanceCriteria)) },
    settings,
  );
}

/** Code points, as the limits of texts count them. */
function countCharacters(text: string): number {
  let characters = 0;
  for (const _character of text) characters += 1;
  return characters;
}
