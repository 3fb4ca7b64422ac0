import { UNMET, VOTING } from "./policy.ts";
import type { Ballot, Criterion, OutputCheck, Synthesis } from "./types.ts";

export type CriteriaFindings = {
  readonly ballots: readonly Ballot[];
  /** Null where it is missing. */
  readonly synthesis: Synthesis | null;
  readonly checks: readonly OutputCheck[];
};

/**
 * Texts of the criteria that count as met and as unmet; one that is open stands in neither list. What the tally holds for unmet is
 * unmet, whatever the synthesis says. Without a synthesis, three ballots make a criterion met and two unmet.
 */
export function sortCriteria(
  criteria: readonly Criterion[],
  findings: CriteriaFindings,
): { readonly metCriteria: readonly string[]; readonly unmetCriteria: readonly string[] } {
  const states = criteria.map(({ id, text }) => ({ text, state: stateOf(id, findings) }));
  const textsOf = (wanted: boolean) => states.filter(({ state }) => state === wanted).map(({ text }) => text);
  return { metCriteria: textsOf(true), unmetCriteria: textsOf(false) };
}

/** Null: open. */
function stateOf(id: string, { ballots, synthesis, checks }: CriteriaFindings): boolean | null {
  const found = ballots.flatMap(({ criteria }) => criteria.filter((finding) => finding.id === id));
  const isUnmetBySynthesis = synthesis?.unmetCriteria.some((unmet) => unmet.id === id) ?? false;
  const shown = found.filter(({ met, evidence }) => met === false && evidence.trim() !== "").length;
  const needed = isUnmetBySynthesis ? UNMET.ballotsWithSynthesis : UNMET.ballots;
  if (shown >= needed || checks.some(({ criterion }) => criterion === id)) return false;
  if (synthesis !== null) return isUnmetBySynthesis ? false : synthesis.metCriteria.includes(id) || null;
  return found.filter(({ met }) => met === true).length >= VOTING.majority || null;
}
