import { describe, expect, it } from "vitest";
import { rankSteps } from "../../../../service/reports/diagnosis/rank-steps.ts";

const step = (name: string, severity: "high" | "medium" | "low") => ({ name, severity });

const namesOf = (lists: Parameters<typeof rankSteps<ReturnType<typeof step>>>[0]) =>
  rankSteps(lists).map(({ name }) => name);

describe("the steps of a plan", () => {
  it("stand by severity, whatever found them", () => {
    const first = [step("sanctioned", "high")];
    const sequence = [step("revoke", "high"), step("retry", "medium"), step("retry too", "medium")];
    const rest = [step("habit", "low"), step("unknown token", "medium"), step("dust", "low")];
    const order = ["sanctioned", "revoke", "retry", "retry too", "unknown token", "habit", "dust"];
    expect(namesOf({ first, sequence, rest })).toEqual(order);
  });

  it("keep transactions in their order: one before a graver one stands with it", () => {
    const sequence = [step("unused", "low"), step("retry", "medium"), step("unused too", "low")];
    const rest = [step("circle", "medium"), step("habit", "low")];
    expect(namesOf({ first: [], sequence, rest })).toEqual([
      "unused",
      "retry",
      "circle",
      "unused too",
      "habit",
    ]);
  });

  it("are none of nothing", () => {
    expect(namesOf({ first: [], sequence: [], rest: [] })).toEqual([]);
  });
});
