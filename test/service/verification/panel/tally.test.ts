import { describe, expect, it } from "vitest";
import type { Ballot, Critique } from "../../../../service/verification/panel/answers.ts";
import { type TallyInput, tally } from "../../../../service/verification/panel/tally.ts";
import { GENERATOR_ROLES, type OutputCheck } from "../../../../service/verification/panel/types.ts";
import {
  ABSTAINED,
  aCritique,
  answer,
  aSynthesis,
  aTallyInput,
  ballotsOf,
  decided,
  scores,
} from "./a-tally-input.ts";

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

describe("rule 5, the critic", () => {
  const challenge = (role: Critique["challenges"][number]["role"], quote = "capital of France") => ({
    role,
    quote,
    reason: "Nothing shows it.",
  });
  const three = [challenge("criteria_auditor"), challenge("domain_expert"), challenge("user_advocate")];
  const held = (rule: string) => ({ verdict: "HOLD", criticOverrideApplied: true, rulesFired: [rule] });
  const kept = (verdict: string) => ({ verdict, criticOverrideApplied: false, rulesFired: [] });
  const allow = scores(80, 80, 80, 80);
  const reject = scores(20, 20, 20, 20);

  it.each<[string, Partial<Critique>, Record<string, unknown>, Record<string, unknown>]>([
    ["high risk of fabrication", { fabricationRisk: "high" }, held("fabrication_risk"), kept("REJECT")],
    ["medium risk of fabrication", { fabricationRisk: "medium" }, kept("ALLOW"), kept("REJECT")],
    ["gaming of the specification", { specGaming: true }, held("spec_gaming"), kept("REJECT")],
    ["three quoted challenges", { challenges: three }, held("challenged"), held("challenged")],
    [
      "those of a critic just sure enough",
      { challenges: three, confidence: 0.7 },
      held("challenged"),
      held("challenged"),
    ],
    ["those of a critic not sure", { challenges: three, confidence: 0.69 }, kept("ALLOW"), kept("REJECT")],
    ["two challenges", { challenges: three.slice(1) }, kept("ALLOW"), kept("REJECT")],
    [
      "three challenges of one generator",
      { challenges: [0, 1, 2].map(() => challenge("user_advocate")) },
      kept("ALLOW"),
      kept("REJECT"),
    ],
    [
      "a quote that stands nowhere",
      { challenges: [...three.slice(1), challenge("criteria_auditor", "Berlin")] },
      kept("ALLOW"),
      kept("REJECT"),
    ],
    [
      "an empty quote",
      { challenges: [...three.slice(1), challenge("criteria_auditor", " ")] },
      kept("ALLOW"),
      kept("REJECT"),
    ],
    [
      "a quote of one letter",
      { challenges: [...three.slice(1), challenge("criteria_auditor", "a")] },
      kept("ALLOW"),
      kept("REJECT"),
    ],
    [
      "no reason",
      { challenges: three.map((each) => ({ ...each, reason: " " })) },
      kept("ALLOW"),
      kept("REJECT"),
    ],
    [
      "another layout and case of the words",
      { challenges: [...three.slice(1), challenge("criteria_auditor", "“CAPITAL  of\nfrance”")] },
      held("challenged"),
      held("challenged"),
    ],
    [
      "words of the challenged ballot",
      { challenges: [...three.slice(1), challenge("criteria_auditor", "does what was asked")] },
      held("challenged"),
      held("challenged"),
    ],
  ])("%s", (_, change, onAllow, onReject) => {
    const critique = answer(aCritique(change));
    expect(decided({ critique, ballots: allow })).toMatchObject(onAllow);
    expect(decided({ critique, ballots: reject })).toMatchObject(onReject);
  });

  it("does not take the words of another ballot for those of the challenged one", () => {
    const ballots = ballotsOf([{}, {}, {}, { reasoning: "A word of the advocate alone." }]);
    const challenges = [...three.slice(1), challenge("criteria_auditor", "advocate alone")];
    expect(decided({ critique: answer(aCritique({ challenges })), ballots }).verdict).toBe("ALLOW");
  });

  it("takes words that were shown of output and ballot for words of theirs", () => {
    const shown = { output: "Paris < |x|> is it.", ballots: { criteria_auditor: "--- END of it" } };
    const challenges = [
      challenge("criteria_auditor", "--- END of it"),
      challenge("domain_expert", "< |x|> is"),
      challenge("user_advocate", "< |x|> is"),
    ];
    const critique = answer(aCritique({ challenges }));
    expect(decided({ critique, shown, ballots: allow })).toMatchObject(held("challenged"));
    expect(decided({ critique, shown: { ...shown, ballots: {} }, ballots: allow })).toMatchObject(
      kept("ALLOW"),
    );
  });

  it("hears the third challenge of a generator whose first two quote nothing", () => {
    const role = "criteria_auditor";
    const challenges = [challenge(role, "Berlin"), challenge(role, "Rome"), ...three];
    expect(decided({ critique: answer(aCritique({ challenges })) }).verdict).toBe("HOLD");
  });

  it("does not hear a challenge of a generator that abstained", () => {
    const ballots = ballotsOf([null, {}, {}, {}]);
    expect(decided({ critique: answer(aCritique({ challenges: three })), ballots }).verdict).toBe("ALLOW");
  });

  it("names everything that it found, and overrides nothing where the ballots hold already", () => {
    const critique = answer(aCritique({ challenges: three, fabricationRisk: "high", specGaming: true }));
    expect(decided({ critique }).rulesFired).toEqual(["fabrication_risk", "spec_gaming", "challenged"]);
    const held = decided({ critique, ballots: scores(50, 50, 50, 50) });
    expect(held).toMatchObject({ verdict: "HOLD", criticOverrideApplied: false, rulesFired: [] });
  });
});

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

  it.each<[OutputCheck["name"], string | null, readonly string[]]>([
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
