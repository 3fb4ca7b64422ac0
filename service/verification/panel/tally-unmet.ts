import { UNMET } from "./policy.ts";
import type { CountedBallot } from "./tally-ballots.ts";
import type { CheckName, Decision, OutputCheck, RuleName, TallyInput } from "./types.ts";

/** What tells of an output's own faults. */
export type OutputFaults = {
  readonly ballots: readonly CountedBallot[];
  readonly synthesis: TallyInput["synthesis"];
  readonly checks: readonly OutputCheck[];
};

/** Rules that a check of the output as a whole has of its own; all others show that something asked for is not there. */
const RULE_OF_CHECK: Readonly<Record<CheckName, RuleName>> = {
  padded: "output_padded",
  copied_from_spec: "output_copied_from_spec",
  hidden_characters: "output_hidden_characters",
  not_json: "criterion_unmet",
  wrong_language: "criterion_unmet",
  empty: "criterion_unmet",
};

/** The rules on unmet criteria and on the output's own faults that turn ALLOW into HOLD. */
export function outputRules(outcome: Decision, faults: OutputFaults): readonly RuleName[] {
  if (outcome !== "ALLOW") return [];
  const rules = new Set<RuleName>();
  if (hasUnmetCriterion(faults)) rules.add("criterion_unmet");
  for (const { name, criterion } of faults.checks) {
    rules.add(RULE_OF_CHECK[name]);
    if (criterion !== null) rules.add("criterion_unmet");
  }
  return [...rules];
}

/** Unmet with evidence in two ballots, or in one and the synthesis. */
function hasUnmetCriterion({ ballots, synthesis }: OutputFaults): boolean {
  const synthesised = new Set(synthesis.kind === "answer" ? shownUnmet(synthesis.answer.unmetCriteria) : []);
  const times = new Map<string, number>();
  for (const { ballot } of ballots) {
    for (const id of new Set(shownUnmet(ballot.criteria.filter(({ met }) => met === false)))) {
      times.set(id, (times.get(id) ?? 0) + 1);
    }
  }
  return [...times].some(
    ([id, count]) => count >= (synthesised.has(id) ? UNMET.ballotsWithSynthesis : UNMET.ballots),
  );
}

function shownUnmet(
  findings: readonly { readonly id: string; readonly evidence: string }[],
): readonly string[] {
  return findings.filter(({ evidence }) => evidence.trim() !== "").map(({ id }) => id);
}
