import { describe, expect, it } from "vitest";
import { tally } from "../../../../service/verification/panel/tally.ts";
import type { Ballot } from "../../../../service/verification/panel/types.ts";
import { ABSTAINED, aTallyInput, ballotsOf, decided, scores } from "./a-tally-input.ts";

const rejected = (...confidences: number[]) =>
  ballotsOf(confidences.map((confidence) => ({ score: 20, confidence })));

it("decides everything that is asked of four ballots which agree", () => {
  expect(tally(aTallyInput({ ballots: scores(80, 90, 70, 85) }))).toEqual({
    kind: "decided",
    verdict: "ALLOW",
    finalScore: 81,
    confidence: 0.9,
    mdi: 0.1479,
    generatorMajority: "ALLOW",
    votes: {
      criteria_auditor: "ALLOW",
      domain_expert: "ALLOW",
      evidence_checker: "ALLOW",
      user_advocate: "ALLOW",
    },
    criticOverrideApplied: false,
    rejectionAsymmetryApplied: false,
    zeroHistoryAdjustmentApplied: false,
    rulesFired: [],
  });
});

describe("rule 3, majority and measures", () => {
  it.each([
    { given: [80, 80, 80, 50], majority: "ALLOW", rules: [] },
    { given: [80, 80, 50, 50], majority: "HOLD", rules: ["no_majority"] },
    { given: [50, 50, 50, 80], majority: "HOLD", rules: [] },
    { given: [20, 20, 20, 50], majority: "REJECT", rules: [] },
    { given: [20, 20, 80, 80], majority: "HOLD", rules: ["no_majority"] },
  ] as const)("$given make $majority", ({ given, majority, rules }) => {
    const outcome = decided({ ballots: scores(...given) });
    expect(outcome).toMatchObject({ verdict: majority, generatorMajority: majority, rulesFired: rules });
  });

  it("needs all three where one abstained", () => {
    const ballots = ballotsOf([{}, {}, { score: 50 }, null]);
    expect(decided({ ballots })).toMatchObject({ verdict: "HOLD", rulesFired: ["no_majority"] });
  });

  it.each([
    { given: [70, 71, 70, 71], finalScore: 71 },
    { given: [70, 70, 70, 71], finalScore: 70 },
    { given: [100, 100, 100, 100], finalScore: 100 },
    { given: [0, 0, 0, 1], finalScore: 0 },
  ])("the mean of $given is $finalScore, halves up", ({ given, finalScore }) => {
    expect(decided({ ballots: scores(...given) }).finalScore).toBe(finalScore);
  });

  it.each([
    { given: [0, 0, 100, 100], mdi: 1 },
    { given: [50, 50, 50, 50], mdi: 0 },
    { given: [70, 80, 90, 80], mdi: 0.1414 },
  ])("scores of $given disagree by $mdi", ({ given, mdi }) => {
    expect(decided({ ballots: scores(...given) }).mdi).toBe(mdi);
  });

  it("takes confidence from the ballots of the majority alone", () => {
    const ballots = ballotsOf([
      { confidence: 0.8 },
      { confidence: 0.9 },
      { confidence: 0.85 },
      { score: 50, confidence: 1 },
    ]);
    expect(decided({ ballots }).confidence).toBe(0.85);
  });

  it("takes confidence from all ballots where they hold", () => {
    const ballots = ballotsOf([0.1, 0.2, 0.3, 0.4].map((confidence) => ({ confidence })));
    expect(decided({ ballots })).toMatchObject({ generatorMajority: "HOLD", confidence: 0.25 });
  });

  it("rounds confidence to hundredths, half up, without a binary fraction's error", () => {
    const ballots = ballotsOf([0.7, 0.71, 0.72, 0.73].map((confidence) => ({ confidence })));
    expect(decided({ ballots }).confidence).toBe(0.72);
  });
});

describe("rule 4, disagreement", () => {
  it.each([
    { given: [80, 80, 80, 40], verdict: "ALLOW", rules: [] },
    { given: [80, 80, 80, 39], verdict: "HOLD", rules: ["disagreement"] },
    { given: [20, 20, 20, 64], verdict: "REJECT", rules: [] },
    { given: [20, 20, 20, 65], verdict: "HOLD", rules: ["disagreement"] },
    { given: [80, 80, 39, 39], verdict: "HOLD", rules: ["no_majority"] },
  ] as const)("scores of $given end in $verdict", ({ given, verdict, rules }) => {
    expect(decided({ ballots: scores(...given) })).toMatchObject({ verdict, rulesFired: rules });
  });

  it("hears a score against ALLOW even of a ballot that is not sure", () => {
    const ballots = ballotsOf([{}, {}, {}, { score: 10, confidence: 0.1 }]);
    expect(decided({ ballots })).toMatchObject({ verdict: "HOLD", rulesFired: ["disagreement"] });
  });
});

describe("rules 7 and 8, rejections", () => {
  it.each([
    { confidences: [0.8, 0.8, 0.8, 0.8], scored: true, verdict: "REJECT", rules: [] },
    { confidences: [0.79, 0.79, 0.79, 0.79], scored: true, verdict: "HOLD", rules: ["rejection_asymmetry"] },
    { confidences: [0.8, 0.8, 0.8, 0.8], scored: false, verdict: "HOLD", rules: ["zero_history"] },
    { confidences: [0.84, 0.84, 0.84, 0.84], scored: false, verdict: "HOLD", rules: ["zero_history"] },
    { confidences: [0.85, 0.85, 0.85, 0.85], scored: false, verdict: "REJECT", rules: [] },
    { confidences: [0.79, 0.79, 0.79, 0.79], scored: false, verdict: "HOLD", rules: ["rejection_asymmetry"] },
  ] as const)("$confidences against a provider with a score ($scored) end in $verdict", (given) => {
    const ballots = rejected(...given.confidences);
    expect(decided({ ballots, providerHasScore: given.scored })).toMatchObject({
      verdict: given.verdict,
      rulesFired: given.rules,
      rejectionAsymmetryApplied: (given.rules as readonly string[]).includes("rejection_asymmetry"),
      zeroHistoryAdjustmentApplied: (given.rules as readonly string[]).includes("zero_history"),
    });
  });

  it("an approval needs no more than its threshold, score or none", () => {
    const ballots = ballotsOf([0.7, 0.7, 0.7, 0.7].map((confidence) => ({ confidence })));
    expect(decided({ ballots, providerHasScore: false })).toMatchObject({ verdict: "ALLOW", rulesFired: [] });
  });

  it("a fourth ballot that is not sure takes nothing from a rejection that three are sure of", () => {
    const sure: Partial<Ballot> = { score: 20, confidence: 0.81 };
    const ballots = ballotsOf([sure, sure, sure, { score: 50, confidence: 0.3 }]);
    expect(decided({ ballots })).toMatchObject({ verdict: "REJECT", confidence: 0.81 });
  });

  it("are measured by the confidence that is told: the ballots of the majority alone", () => {
    const given = [
      { score: 29, confidence: 1 },
      { score: 32, confidence: 1 },
      { score: 39, confidence: 0.77 },
      { score: 40, confidence: 0.8 },
    ];
    expect(decided({ domain: "code", providerHasScore: false, ballots: ballotsOf(given) })).toMatchObject({
      verdict: "REJECT",
      confidence: 0.92,
      rulesFired: [],
    });
  });

  it("need a confidence that is rounded once", () => {
    const given = [0.64496, 0.64496, 0.64496, 0.64496].map((confidence) => ({ score: 20, confidence }));
    expect(decided({ domain: "content", providerHasScore: false, ballots: ballotsOf(given) })).toMatchObject({
      verdict: "HOLD",
      confidence: 0.64,
      rulesFired: ["zero_history"],
    });
  });
});

it("rule 9: without a synthesis the verdict stands, and it is told", () => {
  for (const ballots of [scores(80, 80, 80, 80), scores(20, 20, 20, 20), scores(50, 50, 50, 50)]) {
    const complete = decided({ ballots });
    const without = decided({ ballots, synthesis: ABSTAINED });
    expect(without).toEqual({ ...complete, rulesFired: ["synthesis_missing"] });
  }
});
