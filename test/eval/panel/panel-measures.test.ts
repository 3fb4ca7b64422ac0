import { describe, expect, test } from "vitest";
import type { CaseRow } from "../../../eval/panel/case-row.ts";
import { measurePanel, percentile } from "../../../eval/panel/panel-measures.ts";

const ROW: CaseRow = {
  id: "a",
  domain: "code",
  tags: [],
  expected: ["ALLOW"],
  verdict: "ALLOW",
  is_right: true,
  final_score: 95,
  confidence: 0.9,
  rules_fired: [],
  requests: 6,
  prompt_tokens: 100,
  completion_tokens: 10,
  cached_tokens: null,
  cost_usd: 0.01,
  latency_ms: 100,
  error: null,
};

const wrongAllow: CaseRow = {
  ...ROW,
  domain: "content",
  expected: ["REJECT", "HOLD"],
  is_right: false,
  confidence: 0.7,
  latency_ms: 300,
};
const held: CaseRow = {
  ...ROW,
  expected: ["REJECT", "HOLD"],
  verdict: "HOLD",
  confidence: 0.2,
  latency_ms: 200,
};
const wrongReject: CaseRow = { ...ROW, verdict: "REJECT", is_right: false, confidence: 1 };
const broken: CaseRow = {
  ...ROW,
  verdict: null,
  is_right: null,
  confidence: null,
  latency_ms: 9_000,
  cost_usd: 0.002,
  error: "the model server is down",
};

describe("the measures of an evaluation", () => {
  test("count what was right by every verdict that is expected, and confusion by the best one", () => {
    const measures = measurePanel([ROW, wrongAllow, held, wrongReject]);
    expect(measures.accuracy).toMatchObject({ count: 2, of: 4, value: 0.5 });
    expect(measures.confusion).toEqual({
      ALLOW: { ALLOW: 1, HOLD: 0, REJECT: 1 },
      HOLD: { ALLOW: 0, HOLD: 0, REJECT: 0 },
      REJECT: { ALLOW: 1, HOLD: 1, REJECT: 0 },
    });
    expect(measures.byDomain).toEqual({
      code: { verdicts: 3, accuracy: 2 / 3 },
      content: { verdicts: 1, accuracy: 0 },
    });
  });

  test("count false ALLOW and false REJECT, each among the cases where it is false", () => {
    expect(measurePanel([ROW, wrongAllow, held, wrongReject])).toMatchObject({
      falseAllow: { count: 1, of: 2 },
      falseReject: { count: 1, of: 2 },
    });
    expect(measurePanel([ROW])).toMatchObject({
      falseAllow: { of: 0, value: null, interval: null },
      falseReject: { count: 0, of: 1, value: 0 },
    });
  });

  test("count decided cases and HOLD among all, and what is right among the decided", () => {
    expect(measurePanel([ROW, wrongAllow, held, broken])).toMatchObject({
      coverage: { count: 2, of: 4 },
      holdRate: { count: 1, of: 4 },
      decidedAccuracy: { count: 1, of: 2 },
    });
  });

  test("calibrate by verdicts that adjudicate alone, full confidence in the last bin", () => {
    const { calibration } = measurePanel([ROW, wrongAllow, held, wrongReject]);
    expect(calibration.bins).toEqual([
      { from: 0.7, verdicts: 1, meanConfidence: 0.7, shareRight: 0 },
      { from: 0.9, verdicts: 2, meanConfidence: 0.95, shareRight: 0.5 },
    ]);
    expect(calibration.brier).toBeCloseTo((0.01 + 0.49 + 1) / 3);
    expect(calibration.ece).toBeCloseTo((0.7 + 2 * 0.45) / 3);
  });

  test("give tokens and cost of a verdict by their percentiles, and cached tokens where a server reports them", () => {
    const dear: CaseRow = { ...ROW, prompt_tokens: 900, cost_usd: 0.09, requests: 4, cached_tokens: 50 };
    expect(measurePanel([ROW, dear, broken])).toMatchObject({
      tokensEach: { p50: 110, p95: 910 },
      costUsdEach: { p50: 0.01, p95: 0.09 },
      cachedTokens: 50,
      requests: 16 / 3,
    });
    expect(measurePanel([ROW]).cachedTokens).toBeNull();
  });

  test("leave a run without a verdict out of all but usage", () => {
    expect(measurePanel([ROW, broken])).toMatchObject({
      cases: 2,
      broken: 1,
      accuracy: { value: 1, of: 1 },
      costUsd: 0.012,
      promptTokens: 200,
      completionTokens: 20,
      latencyMs: { p50: 100, p95: 100 },
    });
  });

  test("have no cost where one run has none, and no values for no rows", () => {
    expect(measurePanel([ROW, { ...ROW, cost_usd: null }]).costUsd).toBeNull();
    expect(measurePanel([])).toMatchObject({
      accuracy: { value: null },
      falseAllow: { value: null },
      calibration: { bins: [], brier: null, ece: null },
      latencyMs: { p50: null, p95: null },
    });
  });
});

test.each([
  [[5, 1, 4, 2, 3], 0.5, 3],
  [[5, 1, 4, 2, 3], 0.95, 5],
  [[7], 0.5, 7],
  [[], 0.5, null],
])("of %o the percentile %d is %o", (values, share, expected) => {
  expect(percentile(values, share)).toBe(expected);
});
