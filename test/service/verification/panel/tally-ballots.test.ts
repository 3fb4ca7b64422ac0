import { describe, expect, it } from "vitest";
import { tally } from "../../../../service/verification/panel/tally.ts";
import { GENERATOR_ROLES } from "../../../../service/verification/panel/types.ts";
import { ABSTAINED, aCritique, answer, aTallyInput, ballotsOf, decided } from "./a-tally-input.ts";

describe("rule 1, votes", () => {
  it.each([
    { score: 100, vote: "ALLOW" },
    { score: 65, vote: "ALLOW" },
    { score: 64, vote: "HOLD" },
    { score: 40, vote: "HOLD" },
    { score: 39, vote: "REJECT" },
    { score: 0, vote: "REJECT" },
  ])("a sure ballot of $score votes $vote", ({ score, vote }) => {
    expect(decided({ ballots: ballotsOf([{ score }, {}, {}, {}]) }).votes.criteria_auditor).toBe(vote);
  });

  it.each([
    { domain: "content", threshold: 0.5 },
    { domain: "data_pipeline", threshold: 0.65 },
    { domain: "default", threshold: 0.7 },
    { domain: "code", threshold: 0.75 },
    { domain: "financial", threshold: 0.8 },
    { domain: "poetry", threshold: 0.7 },
    { domain: "constructor", threshold: 0.7 },
    { domain: "__proto__", threshold: 0.7 },
    { domain: "", threshold: 0.7 },
  ])("in $domain a ballot is sure from $threshold on", ({ domain, threshold }) => {
    const { votes } = decided({
      domain,
      ballots: ballotsOf([{ confidence: threshold }, { confidence: threshold - 0.0001 }, {}, {}]),
    });
    expect(votes).toMatchObject({ criteria_auditor: "ALLOW", domain_expert: "HOLD" });
  });

  const unsure = Array.from({ length: 4 }, () => ({ uncheckableClaims: ["Sales rose by 40 %."] }));

  it("holds where claims that nobody can check meet no criteria, and says so", () => {
    const outcome = decided({ hasCriteria: false, ballots: ballotsOf(unsure) });
    expect(outcome).toMatchObject({
      verdict: "HOLD",
      generatorMajority: "HOLD",
      confidence: 0.6,
      rulesFired: ["uncheckable_without_criteria"],
    });
  });

  it("leaves such claims alone where there are criteria", () => {
    expect(decided({ ballots: ballotsOf(unsure) })).toMatchObject({ verdict: "ALLOW", rulesFired: [] });
  });

  it("counts the cap in the confidence of content, whose threshold it reaches", () => {
    const outcome = decided({ domain: "content", hasCriteria: false, ballots: ballotsOf(unsure) });
    expect(outcome).toMatchObject({ verdict: "ALLOW", confidence: 0.6, rulesFired: [] });
  });

  it("names the cap where it is what a rejection of content falls short by", () => {
    const outcome = decided({
      domain: "content",
      hasCriteria: false,
      providerHasScore: false,
      ballots: ballotsOf(unsure.map((ballot) => ({ ...ballot, score: 10 }))),
    });
    expect(outcome).toMatchObject({
      verdict: "HOLD",
      rulesFired: ["uncheckable_without_criteria", "zero_history"],
    });
  });
});

describe("rule 2, answers that count", () => {
  const [auditor, expert, checker, advocate] = GENERATOR_ROLES;

  it("decides with three ballots", () => {
    expect(decided({ ballots: ballotsOf([{}, {}, {}, null]) }).verdict).toBe("ALLOW");
  });

  it.each([
    { name: "two ballots", ballots: [{}, null, {}, null], missing: [expert, advocate] },
    { name: "none", ballots: [null, null, null, null], missing: [auditor, expert, checker, advocate] },
    {
      name: "a score above the scale",
      ballots: [{}, {}, { score: 101 }, null],
      missing: [checker, advocate],
    },
    {
      name: "a score with a fraction",
      ballots: [{}, {}, { score: 64.5 }, null],
      missing: [checker, advocate],
    },
    {
      name: "a confidence that is no number",
      ballots: [{}, {}, { confidence: Number.NaN }, null],
      missing: [checker, advocate],
    },
    {
      name: "a confidence below the scale",
      ballots: [{}, {}, { confidence: -0.1 }, null],
      missing: [checker, advocate],
    },
  ] as const)("fails with $name, naming who is missing", ({ ballots, missing }) => {
    expect(tally(aTallyInput({ ballots: ballotsOf(ballots) }))).toEqual({ kind: "failed", missing });
  });

  it("fails without a critique, whatever the ballots", () => {
    expect(tally(aTallyInput({ critique: ABSTAINED }))).toEqual({ kind: "failed", missing: ["critic"] });
  });

  it("fails with a critique that is off its scale", () => {
    const critique = answer(aCritique({ confidence: 1.2 }));
    expect(tally(aTallyInput({ critique }))).toEqual({ kind: "failed", missing: ["critic"] });
  });

  it("names ballots and critic where both are missing", () => {
    const input = aTallyInput({ critique: ABSTAINED, ballots: ballotsOf([{}, null, null, {}]) });
    expect(tally(input)).toEqual({ kind: "failed", missing: [expert, checker, "critic"] });
  });
});
