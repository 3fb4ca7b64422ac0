const SCENARIO = /^(?:Scenario|Scenario Outline|Scenario Template|Example|Background)\s*:/;
const STEP = /^(?:Given|When|Then|And|But)\s/;
const OPENING_STEP = /^(?:Given|When)\s/;
/** Examples of an outline, and rows of a table. */
const ROWS = /^(?:Examples\s*:|Scenarios\s*:|\|)/;

/** Whether a line is a part of the Gherkin scenario that an item opens or, without a title, of the steps that lead to its outcome. */
export function continuesScenario(
  line: { readonly text: string; readonly apart: boolean },
  { opening, more }: { readonly opening: { readonly text: string }; readonly more: readonly string[] },
): boolean {
  if (SCENARIO.test(opening.text)) return STEP.test(line.text) || ROWS.test(line.text);
  if (line.apart || !OPENING_STEP.test(opening.text) || !STEP.test(line.text)) return false;
  if (/^(?:Then|And|But)\s/.test(line.text)) return true;
  // Another condition after an outcome is another scenario.
  const last = more.findLast((text) => /^(?:Given|When|Then)\s/.test(text)) ?? opening.text;
  return line.text.startsWith("When") && last.startsWith("Given");
}

/** Whether a text is the title of the feature that the scenario after it belongs to. */
export function isFeatureOf(text: string, next: string): boolean {
  return /^Feature\s*:/.test(text) && SCENARIO.test(next);
}
