import { checkCopied } from "./check-copied.ts";
import { checkEmpty } from "./check-empty.ts";
import { checkHidden } from "./check-hidden.ts";
import { checkJson } from "./check-json.ts";
import { checkLanguage } from "./check-language.ts";
import { checkPadded } from "./check-padded.ts";
import type { Criterion, OutputCheck, PanelCase } from "./types.ts";

/**
 * What can be found out about an output without a model, in one sentence each. An output with nothing to read is that and nothing
 * else. Time grows with the length of the texts, whatever is written in them.
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
  ].filter((check) => check !== null);
}
