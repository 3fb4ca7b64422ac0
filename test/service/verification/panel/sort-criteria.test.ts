import { describe, expect, it } from "vitest";
import { sortCriteria } from "../../../../service/verification/panel/sort-criteria.ts";
import type { Ballot, Synthesis } from "../../../../service/verification/panel/types.ts";
import { aBallot, aSynthesis } from "./a-tally-input.ts";

const CRITERIA = [{ id: "c1", text: "Names the moon" }];
const MET = { metCriteria: ["Names the moon"], unmetCriteria: [] };
const UNMET = { metCriteria: [], unmetCriteria: ["Names the moon"] };
const OPEN = { metCriteria: [], unmetCriteria: [] };

const ballot = (met: boolean | null, evidence = "shown"): Ballot =>
  aBallot({ criteria: [{ id: "c1", met, evidence }] });
const synthesis = (met: boolean | null): Synthesis =>
  aSynthesis({
    metCriteria: met === true ? ["c1"] : [],
    unmetCriteria: met === false ? [{ id: "c1", evidence: "shown" }] : [],
  });
const [yes, no, unclear] = [ballot(true), ballot(false), ballot(null)];

describe("sortCriteria", () => {
  it.each([
    ["what the synthesis calls met", [yes, yes, yes, no], synthesis(true), MET],
    [
      "what two ballots show to be unmet, though the synthesis calls it met",
      [yes, yes, no, no],
      synthesis(true),
      UNMET,
    ],
    ["what the synthesis calls unmet", [yes, yes, yes, yes], synthesis(false), UNMET],
    ["what the synthesis leaves open", [yes, yes, yes, no], synthesis(null), OPEN],
    ["without a synthesis, what three ballots call met", [yes, yes, yes, no], null, MET],
    ["without a synthesis, what two call met", [yes, yes, unclear, unclear], null, OPEN],
    ["without a synthesis, what two show to be unmet", [yes, yes, no, no], null, UNMET],
    [
      "what is called unmet with nothing to show for it",
      [ballot(false, " "), ballot(false, ""), yes],
      null,
      OPEN,
    ],
  ])("%s", (_, ballots, given, sorted) => {
    expect(sortCriteria(CRITERIA, { ballots, synthesis: given, checks: [] })).toEqual(sorted);
  });

  it("what code found to be unmet is unmet, whoever calls it met", () => {
    const checks = [{ name: "not_json", finding: "It is no JSON.", criterion: "c1" }] as const;
    const findings = { ballots: [yes, yes, yes, yes], synthesis: synthesis(true), checks };
    expect(sortCriteria(CRITERIA, findings)).toEqual(UNMET);
  });
});
