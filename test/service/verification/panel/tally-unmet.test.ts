import { describe, expect, it } from "vitest";
import type { CheckName, TallyInput } from "../../../../service/verification/panel/types.ts";
import { answer, aSynthesis, ballotsOf, decided, scores } from "./a-tally-input.ts";

describe("rule 6, criteria and the output's own faults", () => {
  const unmet = (evidence = "There is no table.", id = "c1") => ({
    criteria: [{ id, met: false, evidence }],
  });
  const synthesised = answer(aSynthesis({ unmetCriteria: [{ id: "c1", evidence: "No table." }] }));

  it.each<[string, Partial<TallyInput>, boolean]>([
    ["two ballots show it", { ballots: ballotsOf([unmet(), unmet(), {}, {}]) }, true],
    ["one ballot shows it", { ballots: ballotsOf([unmet(), {}, {}, {}]) }, false],
    [
      "one ballot shows it twice",
      { ballots: ballotsOf([{ criteria: [...unmet().criteria, ...unmet().criteria] }, {}, {}, {}]) },
      false,
    ],
    [
      "two ballots show different ones",
      { ballots: ballotsOf([unmet(), unmet("None.", "c2"), {}, {}]) },
      false,
    ],
    [
      "two ballots say so and one shows nothing",
      { ballots: ballotsOf([unmet(), unmet(" "), {}, {}]) },
      false,
    ],
    [
      "one ballot and the synthesis show it",
      { ballots: ballotsOf([unmet(), {}, {}, {}]), synthesis: synthesised },
      true,
    ],
    ["the synthesis alone shows it", { synthesis: synthesised }, false],
    [
      "a ballot and the synthesis show different ones",
      { ballots: ballotsOf([unmet("None.", "c2"), {}, {}, {}]), synthesis: synthesised },
      false,
    ],
    [
      "two ballots cannot tell",
      {
        ballots: ballotsOf(
          [0, 1, 2, 3].map(() => ({ criteria: [{ id: "c1", met: null, evidence: "Unclear." }] })),
        ),
      },
      false,
    ],
  ])("%s", (_, change, holds) => {
    expect(decided(change)).toMatchObject(
      holds ? { verdict: "HOLD", rulesFired: ["criterion_unmet"] } : { verdict: "ALLOW", rulesFired: [] },
    );
  });

  it.each<[CheckName, string | null, readonly string[]]>([
    ["padded", null, ["output_padded"]],
    ["copied_from_spec", null, ["output_copied_from_spec"]],
    ["hidden_characters", null, ["output_hidden_characters"]],
    ["not_json", "c2", ["criterion_unmet"]],
    ["not_json", null, ["criterion_unmet"]],
    ["wrong_language", "c1", ["criterion_unmet"]],
    ["empty", null, ["criterion_unmet"]],
  ])("a check that finds %s of %s holds what would be allowed", (name, criterion, rulesFired) => {
    const checks = [{ name, finding: "It is.", criterion }];
    expect(decided({ checks })).toMatchObject({ verdict: "HOLD", rulesFired });
    const rejects = decided({ checks, ballots: scores(20, 20, 20, 20) });
    expect(rejects).toMatchObject({ verdict: "REJECT", rulesFired: [] });
  });
});
