import { describe, expect, it, test } from "vitest";
import { environment } from "../../bin/environment.ts";
import { costToDeny, unpriced } from "../../eval/deny/cost-to-deny.ts";

describe("to stop a function for others during a day", () => {
  it.each(costToDeny())("costs the bar of $barUsd USD or more: $name", ({ usd, barUsd }) => {
    expect(usd).toBeGreaterThanOrEqual(barUsd);
  });

  it.each(costToDeny())("costs the operator at most four times as much: $name", ({ usd, operatorUsd }) => {
    expect(operatorUsd).toBeLessThanOrEqual(4 * usd);
  });

  it.each([
    [
      "PANEL_TOKENS_PER_DAY",
      "100000000",
      ["Verdicts of jobs", "Verdicts without a job", "Re-runs by evidence and at half of a job's time"],
    ],
    ["ENROLMENTS_PER_DAY", "100", ["Following of wallets whose score was paid for"]],
    ["VALIDATIONS_PER_DAY", "20000", ["Answers to validation requests"]],
    ["FEEDBACK_DAILY_WEI", "5000000000000000", ["First feedback of an agent"]],
  ])("costs less than its bar with %s of %s", (name, value, expected) => {
    const low = costToDeny(environment.parse({ [name]: value })).filter(({ usd, barUsd }) => usd < barUsd);
    expect(low.map((row) => row.name)).toEqual(expected);
  });
});

test("each function without a bar says what its users do", () => {
  for (const { usd, instead } of unpriced()) {
    expect(usd).toBeLessThan(50);
    expect(instead).not.toBe("");
  }
});
