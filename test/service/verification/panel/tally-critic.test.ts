import { describe, expect, it } from "vitest";
import type { Critique } from "../../../../service/verification/panel/types.ts";
import { aCritique, answer, ballotsOf, decided, scores } from "./a-tally-input.ts";

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
