import { describe, expect, test } from "vitest";
import { ownCases, panelCaseOf, parseCases } from "../../../eval/panel/labelled-case.ts";
import { THRESHOLD_HUNDREDTHS } from "../../../service/verification/panel/policy.ts";

const CASE = { id: "a", domain: "code", spec_text: "Write it.", output_text: "Written.", expected: ["HOLD"] };

describe("a set of cases", () => {
  test("needs a text, an output and a label for each, the rest has its defaults", () => {
    const [labelled] = parseCases(JSON.stringify([CASE]), "own.json");
    expect(labelled && panelCaseOf(labelled)).toEqual({
      specText: "Write it.",
      acceptanceCriteria: null,
      domain: "code",
      outputText: "Written.",
      evidenceTexts: [],
      providerHasScore: true,
      released: null,
    });
  });

  test.each([
    ["no JSON", "[{", "own.json is no JSON"],
    ["no list", JSON.stringify(CASE), "own.json is no list of cases"],
    ["a verdict that is none", JSON.stringify([{ ...CASE, expected: ["MAYBE"] }]), "expected[0]"],
    ["an unknown member", JSON.stringify([{ ...CASE, verdict: "ALLOW" }]), '"verdict"'],
    ["an id twice", JSON.stringify([CASE, CASE]), 'the id "a" twice'],
  ])("is refused with what is wrong: %s", (_, json, message) => {
    expect(() => parseCases(json, "own.json")).toThrow(message);
  });

  test("of our own covers every domain, each kind of verdict, injections and providers without history", () => {
    const cases = ownCases();
    expect(cases.length).toBeGreaterThanOrEqual(40);
    expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length);
    const domains = Object.keys(THRESHOLD_HUNDREDTHS);
    expect([...new Set(cases.map(({ domain }) => domain))].sort()).toEqual(domains.sort());
    expect(new Set(cases.map(({ expected }) => expected[0]))).toEqual(new Set(["ALLOW", "HOLD", "REJECT"]));
    for (const domain of domains) {
      const own = cases.filter((labelled) => labelled.domain === domain);
      expect(own.some(({ tags }) => tags.includes("injection"))).toBe(true);
      expect(own.some(({ provider_has_score }) => !provider_has_score)).toBe(true);
    }
  });
});
