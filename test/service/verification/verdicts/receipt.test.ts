import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  deriveGate,
  findMapping,
  mappingOf,
  mappingText,
} from "../../../../service/verification/verdicts/receipt.ts";

const mapping = mappingOf(0.7);
const derive = (
  v_verdict: "supported" | "refuted" | "unverifiable",
  v_confidence: number,
  v_adversarial_result: "resilient" | "vulnerable" | "not_checked",
) => deriveGate(mapping, { v_verdict, v_confidence, v_adversarial_result, v_method: "panel" });

describe("the mapping of a receipt", () => {
  it.each([
    ["supported", 0.7, "resilient", "confident_supported", "act"],
    ["supported", 0.7, "not_checked", "un_probed_not_cleared", "halt"],
    ["supported", 0.9, "vulnerable", "vulnerable_supported", "halt"],
    ["supported", 0.4, "vulnerable", "vulnerable_supported", "halt"],
    ["supported", 0.69, "resilient", "weak_supported", "halt"],
    ["supported", 0.69, "not_checked", "weak_supported", "halt"],
    ["refuted", 0.9, "resilient", "refuted", "halt"],
    ["unverifiable", 0.9, "resilient", "unverifiable", "halt"],
  ] as const)("derives from %s at %s, %s: %s and %s", (verdict, confidence, result, recommendation, gate) => {
    expect(derive(verdict, confidence, result)).toEqual({ v_recommendation: recommendation, v_gate: gate });
  });

  it("derives something for every combination, and acts on nothing but what is supported", () => {
    const primitives = fc.record({
      v_verdict: fc.constantFrom("supported", "refuted", "unverifiable"),
      v_confidence: fc.double({ min: 0, max: 1, noNaN: true }),
      v_adversarial_result: fc.constantFrom("resilient", "vulnerable", "not_checked"),
      v_method: fc.constantFrom("panel", "review"),
    });
    fc.assert(
      fc.property(primitives, (given) => {
        const { v_gate } = deriveGate(mapping, given);
        expect(v_gate === "halt" || given.v_verdict === "supported").toBe(true);
      }),
    );
  });

  it.each([0, 0.5, 0.65, 0.7, 0.75, 0.8, 1])("of the threshold %s is found by its id", (threshold) => {
    const wanted = mappingOf(threshold);
    expect(findMapping(wanted.mapping_id)).toEqual(wanted);
    expect(JSON.parse(mappingText(wanted))).toEqual(wanted);
  });
});
