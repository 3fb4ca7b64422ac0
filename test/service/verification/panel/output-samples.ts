import { checkOutput } from "../../../../service/verification/panel/check-output.ts";
import { splitCriteria } from "../../../../service/verification/panel/criteria.ts";
import type { OutputCheck, PanelCase } from "../../../../service/verification/panel/types.ts";

/** An ordinary answer. */
export const PROSE =
  "Lyon lies where the Saône meets the Rhône. Bordeaux stands on the Garonne, an hour from the sea. Nantes grew on the Loire, " +
  "whose arms once ran through the middle of the town, and Rouen looks over a wide bend of the Seine towards Paris.";

/** Findings of the checks about an output, for an order that sets no form. */
export function check(outputText: string, change: Partial<PanelCase> = {}): readonly OutputCheck[] {
  const panelCase: PanelCase = {
    specText: "Name four French cities and the river of each.",
    acceptanceCriteria: null,
    domain: "default",
    outputText,
    evidenceTexts: [],
    providerHasScore: true,
    released: null,
    ...change,
  };
  return checkOutput(panelCase, splitCriteria(panelCase.acceptanceCriteria));
}

/** The names of checks, in their order. */
export const namesOf = (checks: readonly OutputCheck[]) => checks.map(({ name }) => name);

/** Words in an order that does not recur; other seeds, other texts. */
export function longText(seed: number, length: number): string {
  const words = [
    "river",
    "port",
    "trade",
    "harbour",
    "barge",
    "grain",
    "lock",
    "flood",
    "mill",
    "quay",
    "toll",
    "salt",
    "wine",
  ];
  let state = seed * 7_919 + 1;
  let text = "";
  while (text.length < length) {
    state = (state * 48_271) % 2_147_483_647;
    text += `${words[state % words.length]}${state % 5 === 0 ? "." : ""} `;
  }
  return text.trim();
}

/** So many rows that a function writes, by their numbers from 1. */
export function rows(row: (index: number) => string, count = 60): string {
  return Array.from({ length: count }, (_, index) => row(index + 1)).join("\n");
}
