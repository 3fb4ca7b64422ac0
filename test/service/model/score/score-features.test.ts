import { describe, expect, test } from "vitest";
import type { SanctionsFlag } from "../../../../service/model/features/types.ts";
import { AHS_2026_2 } from "../../../../service/model/score/policy.ts";
import type { Policy } from "../../../../service/model/score/policy-shape.ts";
import type {
  Feature,
  FeatureLine,
  MeasuredWallet,
  Pattern,
} from "../../../../service/model/score/record.ts";
import { scoreFeatures } from "../../../../service/model/score/score-features.ts";
import { account, asOfTime, DAY, START } from "../features/histories.ts";

const AS_OF = asOfTime(START + 100 * DAY);
const LISTED: SanctionsFlag = {
  source: "ofac-sdn",
  reference: "SDN 1",
  detected_at: "2026-01-01T00:00:00.000Z",
};

/** With weights of D1 that these tests compute with. */
const POLICY: Policy = {
  ...AHS_2026_2,
  features: AHS_2026_2.features.map((rule) => {
    const weightPercent = new Map([
      ["success_rate", 30],
      ["gas_efficiency", 20],
      ["portfolio_quality", 20],
      ["dust_and_spam", 10],
      ["risk_flags", 20],
    ]).get(rule.name);
    return weightPercent === undefined ? rule : { ...rule, weightPercent };
  }),
};

type Points = Partial<Record<string, number>>;

describe("the dimensions", () => {
  test("give the weight of what is unknown to what is measured", () => {
    const record = score({ success_rate: 80, gas_efficiency: 40 });
    // (30 · 80 + 20 · 40) / 50
    expect(record.outcome).toMatchObject({ d1Score: 64 });
    expect(lines(record.features, "D1")).toEqual([
      ["success_rate", 4800],
      ["gas_efficiency", 1600],
      ["portfolio_quality", null],
      ["dust_and_spam", null],
      ["risk_flags", null],
    ]);
  });

  test("show what rounding to an integer adds", () => {
    const record = score({ success_rate: 80, gas_efficiency: 41 });
    expect(record.outcome).toMatchObject({ d1Score: 64 });
    expect(lines(record.features, "D1").slice(0, 2)).toEqual([
      ["success_rate", 4800],
      ["gas_efficiency", 1640],
    ]);
    expect(lines(record.features, "D1").at(-1)).toEqual(["rounding", -40]);
  });

  test("half up: 64.5 is 65", () => {
    expect(score({ success_rate: 80, gas_efficiency: 41.25 }).outcome).toMatchObject({ d1Score: 65 });
  });

  test("with under half of the weight measured leave the wallet unscored, its lines without contributions", () => {
    const record = score({ success_rate: 80 });
    expect(record.outcome).toEqual({ kind: "insufficient" });
    expect(record.confidenceLevel).toBe("INSUFFICIENT");
    expect(record.confidenceMicros).toBe(199_000);
    expect(record.features.map((line) => line.contribution)).toEqual(Array(11).fill(null));
    expect(record.features.at(-1)).toMatchObject({
      ...{ dimension: "AHS", name: "evidence", reason: "too few of its features can be measured" },
    });
    expect(record.features[0]).toMatchObject({ name: "success_rate", score: 80, state: "measured" });
  });
});

describe("the total", () => {
  test("weighs the dimensions 30 to 70", () => {
    const record = score({ success_rate: 100, gas_efficiency: 100 }, { d2: 90 });
    expect(record.outcome).toEqual({ kind: "scored", ahsScore: 93, d1Score: 100, d2Score: 90, grade: "A" });
    expect(lines(record.features, "AHS")).toEqual([
      ["d1", 3000],
      ["d2", 6300],
    ]);
  });

  test("takes pattern effects off, each a line", () => {
    const patterns = [pattern("retry_storm", -4), pattern("stale_strategy", -6)];
    const record = score({ success_rate: 100, gas_efficiency: 100 }, { d2: 90, patterns });
    expect(record.outcome).toMatchObject({ ahsScore: 83 });
    expect(lines(record.features, "AHS").slice(2)).toEqual([
      ["retry_storm", -400],
      ["stale_strategy", -600],
    ]);
    expect(record.patterns).toEqual(patterns);
  });

  test("takes at most 15 points off for patterns", () => {
    const patterns = [
      pattern("retry_storm", -6),
      pattern("stale_strategy", -6),
      pattern("cascading_failure", -8),
    ];
    const record = score({ success_rate: 100, gas_efficiency: 100 }, { d2: 90, patterns });
    expect(record.outcome).toMatchObject({ ahsScore: 78 });
    expect(lines(record.features, "AHS").at(-1)).toEqual(["pattern_limit", 500]);
  });

  test("is never below 0", () => {
    const record = score({ success_rate: 0, gas_efficiency: 0 }, { d2: 5, patterns: [pattern("x", -8)] });
    expect(record.outcome).toMatchObject({ ahsScore: 0, grade: "F" });
    expect(lines(record.features, "AHS").slice(2)).toEqual([
      ["x", -800],
      ["pattern_limit", 450],
    ]);
  });

  test("loses points for each that D1 is too far below D2, and none for the reverse", () => {
    const { above, perPoint } = AHS_2026_2.weakLink;
    const low = score({ success_rate: 0, gas_efficiency: 50 }, { d2: 95 });
    const loss = (95 - 20 - above) * perPoint;
    // 0.3 · 20 + 0.7 · 95 = 72.5.
    expect(low.outcome).toMatchObject({ ahsScore: Math.round(72.5 - loss), d1Score: 20, d2Score: 95 });
    expect(lines(low.features, "AHS")).toContainEqual(["weak_link", Math.round(-100 * loss)]);
    const other = score({ success_rate: 100, gas_efficiency: 100 }, { d2: 20 });
    expect(lines(other.features, "AHS")).toEqual([
      ["d1", 3000],
      ["d2", 1400],
    ]);
  });

  test("never rises as a dimension falls", () => {
    const points = Array.from({ length: 101 }, (_, i) => i);
    const total = (d1: number, d2: number) => {
      const { outcome } = score({ success_rate: d1, gas_efficiency: d1 }, { d2 });
      return outcome.kind === "scored" ? outcome.ahsScore : Number.NaN;
    };
    for (const fixed of [0, 30, 60, 100]) {
      for (const totals of [points.map((d1) => total(d1, fixed)), points.map((d2) => total(fixed, d2))])
        expect(totals).toEqual(totals.toSorted((a, b) => a - b));
    }
  });

  test("does not fall with a ring, which proves nothing", () => {
    const record = score(
      { success_rate: 100, gas_efficiency: 100 },
      { d2: 90, evidence: { ringShare: 0.5 } },
    );
    expect(record.outcome).toMatchObject({ ahsScore: 93, grade: "A" });
    const ring = score({ success_rate: 100, gas_efficiency: 100 }, { d2: 90, evidence: { ringShare: 0.9 } });
    expect(ring.outcome).toEqual({ kind: "insufficient" });
  });
});

describe("a sanctioned wallet", () => {
  test("has D1 0, a total of 0 and F, and lines that say so", () => {
    const record = score({ success_rate: 80, gas_efficiency: 41 }, { d2: 90, sanctions: [LISTED] });
    expect(record).toMatchObject({
      outcome: { kind: "scored", ahsScore: 0, d1Score: 0, d2Score: 90, grade: "F" },
      confidenceMicros: 1_000_000,
      confidenceLevel: "HIGH",
      sanctionsFlags: [LISTED],
    });
    expect(lines(record.features, "D1").slice(-2)).toEqual([
      ["rounding", -40],
      ["sanctions", -6400],
    ]);
    const loss = 100 * (90 - AHS_2026_2.weakLink.above) * AHS_2026_2.weakLink.perPoint;
    expect(lines(record.features, "AHS")).toEqual([
      ["d1", 0],
      ["d2", 6300],
      ["weak_link", Math.round(-loss)],
      ["sanctions", Math.round(loss - 6300)],
    ]);
  });

  test("is F without any history too: a dimension that cannot be measured counts 0, and a line says so", () => {
    const record = scoreFeatures({ ...measured({}), ...nothing(), sanctions: [LISTED] }, AS_OF, AHS_2026_2);
    expect(record.outcome).toEqual({ kind: "scored", ahsScore: 0, d1Score: 0, d2Score: 0, grade: "F" });
    expect(record.confidenceLevel).toBe("HIGH");
    expect(record.features.filter((line) => line.contribution !== null)).toMatchObject([
      { dimension: "D1", name: "sanctions", contribution: 0 },
      { dimension: "D2", name: "sanctions", contribution: 0 },
      { dimension: "AHS", name: "d1", contribution: 0 },
      { dimension: "AHS", name: "d2", contribution: 0 },
    ]);
  });
});

function score(d1: Points, parts: { d2?: number } & Parts = {}) {
  return scoreFeatures(measured(d1, parts), AS_OF, POLICY);
}

type Parts = {
  readonly patterns?: readonly Pattern[];
  readonly sanctions?: readonly SanctionsFlag[];
  readonly evidence?: Partial<MeasuredWallet["evidence"]>;
};

function measured(
  d1: Points,
  { d2 = 64, patterns = [], sanctions = [], evidence = {} }: { d2?: number } & Parts = {},
): MeasuredWallet {
  return {
    chainId: 31337,
    wallet: account(1),
    sanctions,
    coverage: { fromBlock: 0, fromTimestamp: START, toBlock: 1, complete: true, sources: ["index"] },
    chainStartTimestamp: START,
    features: AHS_2026_2.features.map(({ dimension, name }) =>
      feature(name, dimension === "D1" ? d1[name] : d2),
    ),
    patterns,
    evidence: {
      ownCalls: 100,
      failableNanos: 80e9,
      creditedNanos: 80e9,
      creditedShare: 1,
      ringShare: 0,
      activeWeeks: 14,
      firstCallAt: START + DAY,
      lastCallAt: START + 99 * DAY,
      ...evidence,
    },
  };
}

function nothing(): Pick<MeasuredWallet, "features" | "evidence"> {
  return {
    features: AHS_2026_2.features.map(({ name }) => feature(name, undefined)),
    evidence: {
      ownCalls: 0,
      failableNanos: 0,
      creditedNanos: 0,
      creditedShare: null,
      ringShare: 0,
      activeWeeks: 0,
      firstCallAt: null,
      lastCallAt: null,
    },
  };
}

function feature(name: string, points: number | undefined): Feature {
  if (points === undefined)
    return { name, state: "unknown", value: null, scoreMicros: null, samples: 0, reason: "" };
  return {
    name,
    state: "measured",
    value: points,
    scoreMicros: points * 1_000_000,
    sharePercent: 100,
    samples: 10,
    reason: null,
  };
}

function pattern(name: string, effect: number): Pattern {
  return { name, severity: "warning", effect, evidence: "" };
}

function lines(
  features: readonly FeatureLine[],
  dimension: string,
): readonly (readonly [string, number | null])[] {
  return features
    .filter((line) => line.dimension === dimension)
    .map((line) => [line.name, line.contribution] as const);
}
