import { checkCitations } from "./check-citations.ts";
import { checkContent } from "./check-content.ts";
import { checkCopied, checkPadded } from "./check-copies.ts";
import { checkHidden } from "./check-hidden.ts";
import { checkJson } from "./check-json.ts";
import { checkLanguage } from "./check-language.ts";
import { isInvisibleAt } from "./invisible.ts";
import { quoteOf } from "./quotes.ts";
import type { Criterion, OutputCheck, PanelCase } from "./types.ts";

/**
 * Checks an output by code, one sentence for each finding. An empty output gets no other check. Time is linear in the length of the texts.
 */
export function checkOutput(panelCase: PanelCase, criteria: readonly Criterion[]): readonly OutputCheck[] {
  const { outputText, specText } = panelCase;
  const empty = checkEmpty(outputText);
  if (empty !== null) return [empty];
  const given = [specText, panelCase.acceptanceCriteria ?? ""];
  const asked = [
    ...criteria.map(({ id, text }) => ({ criterion: id, text })),
    { criterion: null, text: specText },
  ];
  return [
    checkPadded(outputText),
    checkCopied(outputText, given),
    checkHidden(outputText),
    checkJson(outputText, asked, panelCase.domain),
    checkLanguage(outputText, asked),
    checkContent(panelCase),
    checkCitations(panelCase),
  ].filter((check) => check !== null);
}

/** Finds an output without any visible character; null for every other output. */
function checkEmpty(outputText: string): OutputCheck | null {
  for (let index = 0; index < outputText.length; index += 1) {
    if (!isBlankAt(outputText, index)) return null;
  }
  const length = outputText.length;
  const shown = length === 0 ? "" : `, which begin with “${quoteOf(outputText)}”`;
  return {
    name: "empty",
    finding: `The output shows nothing: it has ${length} characters of white space or without a form${shown}.`,
    criterion: null,
  };
}

/** The second half of a surrogate pair is judged with the first. */
function isBlankAt(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  if (unit >= 0xdc00 && unit <= 0xdfff) return true;
  return (
    unit <= 0x20 ||
    isInvisibleAt(text, index) ||
    /\s|\u00ad|[\u200c-\u200f]|\u2800|[\ufe00-\ufe0f]/.test(text.charAt(index))
  );
}
