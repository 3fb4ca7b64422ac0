import { describe, expect, test } from "vitest";
import { AHS_2026_2 } from "../../../../service/model/score/policy.ts";
import { causeOf, findFailureGroups } from "../../../../service/reports/diagnosis/failures.ts";
import { causeOf as retryCauseOf } from "../../../../service/reports/recovery/recover-failures.ts";
import { account, callsOf, GWEI, START, type Step } from "../../model/features/histories.ts";
import { factsOfSteps } from "./reports.ts";

const VENUE = account(7);

function groupsOf(steps: readonly Step[]) {
  return findFailureGroups(factsOfSteps(steps).paid.calls, AHS_2026_2);
}

describe("the cause of a failure", () => {
  test.each([
    ["all of the limit used", { gasLimit: 100_000n, gasUsed: 100_000n }, "out_of_gas"],
    ["98% of the limit used", { gasLimit: 100_000n, gasUsed: 98_000n }, "out_of_gas"],
    ["less than 98% used", { gasLimit: 100_000n, gasUsed: 97_999n }, "reverted"],
    ["no limit of its own", { gasLimit: 0n, gasUsed: 50_000n }, "reverted"],
  ])("with %s", (_case, gas, cause) => {
    const [call] = callsOf([{ at: START, ok: false, ...gas }]);
    if (call === undefined) throw new Error("one step makes one call");
    expect(causeOf(call, AHS_2026_2)).toBe(cause);
  });
});

describe("that a call ran out of gas", () => {
  test("is said by the health report and by the retries of the same calls", () => {
    for (const gasUsed of [94_999n, 95_000n, 96_000n, 97_999n, 98_000n, 100_000n]) {
      const [call] = callsOf([{ at: START, ok: false, gasLimit: 100_000n, gasUsed }]);
      if (call === undefined) throw new Error("one step makes one call");
      expect(causeOf(call, AHS_2026_2)).toBe(retryCauseOf(call, null, AHS_2026_2).kind);
    }
  });
});

describe("failures by contract, method and cause", () => {
  test("show the fees that they burnt, how often in a row they came, and whether a call succeeded since", () => {
    const groups = groupsOf([
      { at: START, to: VENUE },
      { at: START + 10, to: VENUE, ok: false },
      { at: START + 20, to: VENUE, ok: false, gasUsed: 100_000n },
      { at: START + 30, to: VENUE, ok: false },
      { at: START + 40, to: VENUE },
      { at: START + 50, to: account(8), ok: false, gasUsed: 20_000n },
    ]);
    const pair = {
      contract: VENUE,
      selector: "0x12345678",
      attempts: 5,
      longestRun: 3,
      succeededSince: true,
    };
    expect(groups).toEqual([
      {
        ...pair,
        cause: "reverted",
        failures: 2,
        wasted: { wei: 140_000n * GWEI, microUsd: 280_000 },
        firstAt: START + 10,
        lastAt: START + 30,
        lastHash: expect.stringMatching(/4$/),
      },
      {
        ...pair,
        cause: "out_of_gas",
        failures: 1,
        wasted: { wei: 100_000n * GWEI, microUsd: 200_000 },
        firstAt: START + 20,
        lastAt: START + 20,
        lastHash: expect.stringMatching(/3$/),
      },
      {
        contract: account(8),
        selector: "0x12345678",
        cause: "reverted",
        failures: 1,
        attempts: 1,
        wasted: { wei: 20_000n * GWEI, microUsd: 40_000 },
        firstAt: START + 50,
        lastAt: START + 50,
        lastHash: expect.stringMatching(/6$/),
        longestRun: 1,
        succeededSince: false,
      },
    ]);
  });

  test("are empty where nothing failed", () => {
    expect(groupsOf([{ at: START }])).toEqual([]);
  });
});
