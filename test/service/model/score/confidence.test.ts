import { describe, expect, test } from "vitest";
import { confidenceOf } from "../../../../service/model/score/confidence.ts";
import { AHS_2026_1 } from "../../../../service/model/score/policy.ts";
import type { Feature } from "../../../../service/model/score/record.ts";
import { DAY, START } from "../features/histories.ts";
import { LAST, measuredWallet } from "./measured.ts";

describe("confidence", () => {
  test("is the product of evidence, duration, freshness, coverage and what is measured", () => {
    // 45/(45+15) · 90/(90+10) · 1 · 1 · 1
    expect(confidenceOf(measuredWallet(), LAST, AHS_2026_1)).toEqual({ micros: 675_000, level: "MEDIUM" });
  });

  test.each([
    ["halves in 60 idle days", {}, LAST + 60 * DAY, 337_500, "LOW"],
    ["is HIGH from 0.75", { weightNanos: 85e9 }, LAST, 765_000, "HIGH"],
    ["counts seven days for each active week", { activeWeeks: 10 }, LAST, 656_250, "MEDIUM"],
    ["is insufficient below 0.20", {}, LAST + 120 * DAY, 168_750, "INSUFFICIENT"],
    ["is insufficient with nine calls, whatever they weigh", { ownCalls: 9 }, LAST, 199_000, "INSUFFICIENT"],
    ["is insufficient with a weight below five", { weightNanos: 4.9e9 }, LAST, 199_000, "INSUFFICIENT"],
    [
      "is nothing without a call",
      { ownCalls: 0, weightNanos: 0, firstCallAt: null, lastCallAt: null },
      LAST,
      0,
      "INSUFFICIENT",
    ],
  ] as const)("%s", (_, evidence, now, micros, level) => {
    expect(
      confidenceOf(
        measuredWallet({ evidence: { ...measuredWallet().evidence, ...evidence } }),
        now,
        AHS_2026_1,
      ),
    ).toEqual({
      micros,
      level,
    });
  });

  test("falls with the weight that is not indexed, but not with what the wallet cannot have", () => {
    const without = (name: string, state: "unknown" | "not_applicable") =>
      measuredWallet({
        features: measuredWallet().features.map(
          (feature): Feature =>
            feature.name === name
              ? { name, state, value: null, scoreMicros: null, samples: 0, reason: "" }
              : feature,
        ),
      });
    // Adaptation is 0.20 of a D2 that is 0.70 of all.
    expect(confidenceOf(without("adaptation", "unknown"), LAST, AHS_2026_1).micros).toBe(580_500);
    expect(confidenceOf(without("adaptation", "not_applicable"), LAST, AHS_2026_1).micros).toBe(675_000);
  });

  test.each([
    ["the covered part of the time since the chain began", START, START + 50 * DAY, 337_500],
    ["the covered part of the window where the chain is older", null, START + 10 * DAY, 337_500],
    ["nothing lost where the window starts later", null, LAST - 200 * DAY, 675_000],
  ])("falls to %s", (_, chainStartTimestamp, fromTimestamp, micros) => {
    const coverage = { ...measuredWallet().coverage, complete: false, fromTimestamp };
    expect(confidenceOf(measuredWallet({ coverage, chainStartTimestamp }), LAST, AHS_2026_1).micros).toBe(
      micros,
    );
  });
});
