import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AHS_2026_2 } from "../../../../service/model/score/policy.ts";
import type { FeatureLine, Pattern } from "../../../../service/model/score/record.ts";
import {
  infrastructureLines,
  type ProbeFact,
  type ScoredRecord,
  scoreInfrastructure,
  scoreWithInfrastructure,
} from "../../../../service/model/score/score-infrastructure.ts";
import { integerPoints, plainLine, scoreTotal } from "../../../../service/model/score/score-total.ts";

const NOW = 1_800_000_000;
const HOUR = 3_600;

const ok: Omit<ProbeFact, "at"> = { alive: true, latencyMs: 200, valid: null };
const down: Omit<ProbeFact, "at"> = { alive: false, latencyMs: null, valid: null };

/** One probe an hour up to now, the newest first. */
function hourly(count: number, kindAt: (i: number) => Omit<ProbeFact, "at">): ProbeFact[] {
  return Array.from({ length: count }, (_, i) => ({ at: NOW - i * HOUR, ...kindAt(i) }));
}

function d3Of(probes: readonly ProbeFact[]) {
  const scored = scoreInfrastructure(probes, NOW, AHS_2026_2);
  return { scored, points: scored.dimension.points };
}

describe("D3", () => {
  test("has features whose weights add up to 100 percent, as do those of the dimensions with it", () => {
    const { features, dimensionPercent } = AHS_2026_2.infrastructure;
    expect(features.reduce((sum, { weightPercent }) => sum + weightPercent, 0)).toBe(100);
    expect(dimensionPercent.D1 + dimensionPercent.D2 + dimensionPercent.D3).toBe(100);
  });

  test.each([
    ["quick and never down", hourly(100, () => ok), 100],
    // (14 + 12.5 + 0 + 6.25 + 0) of 91: only the failures count for validity
    ["quick, down every tenth hour", hourly(100, (i) => (i % 10 === 9 ? down : ok)), 36],
    [
      "never down, an answer in one and a half seconds",
      hourly(100, () => ({ ...ok, latencyMs: 1_500 })),
      // 40 + 0.125 · 60 + 0.125 · 82.5 + 25 of 90
      92,
    ],
    ["always down", hourly(100, () => down), 0],
    [
      "quick, and serving what it must half of the time",
      hourly(100, (i) => ({ ...ok, valid: i % 2 === 0 })),
      90,
    ],
  ])("%s", (_name, probes, expected) => {
    const { points } = d3Of(probes);
    expect(points === null ? null : integerPoints(points)).toBe(expected);
  });

  test.each([
    [
      "19 probes",
      hourly(19, () => ok).map((p, i) => ({ ...p, at: NOW - i * 2 * HOUR })),
      "19 of at least 20 probes, over 36 of at least 24 hours",
    ],
    [
      "a hundred probes within 23 hours",
      hourly(100, () => ok).map((p, i) => ({ ...p, at: NOW - i * 840 })),
      "100 of at least 20 probes, over 23 of at least 24 hours",
    ],
    ["none", [], "0 of at least 20 probes, over 0 of at least 24 hours"],
    [
      "probes of the week before",
      hourly(100, () => ok).map((p) => ({ ...p, at: p.at - 7 * 24 * HOUR })),
      "0 of at least 20 probes, over 0 of at least 24 hours",
    ],
  ])("%s are no score, and the reason says why", (_name, probes, reason) => {
    const { scored, points } = d3Of(probes);
    expect([points, scored.reason]).toEqual([null, reason]);
    expect(infrastructureLines(scored).map(({ contribution }) => contribution)).toEqual(Array(5).fill(null));
  });

  test("twenty probes over a day are enough", () => {
    expect(d3Of(hourly(25, () => ok)).points).toBe(100_000_000);
    expect(d3Of([...hourly(19, () => ok), { at: NOW - 24 * HOUR, ...ok }]).points).toBe(100_000_000);
  });

  test("lines name every feature with its figure and add up to the score", () => {
    const { scored } = d3Of(hourly(100, (i) => (i < 2 ? down : { ...ok, valid: true })));
    expect(
      infrastructureLines(scored).map(({ name, value, unit, samples }) => [name, value, unit, samples]),
    ).toEqual([
      ["availability", 0.98, "share of probes", 100],
      ["latency_p50", 200, "milliseconds", 100],
      ["latency_p95", 200, "milliseconds", 100],
      ["error_rate", 0.02, "share of probes", 100],
      ["validity", 0.98, "share of probes", 100],
      ["rounding", expect.any(Number), "points", 0],
    ]);
  });
});

const anyProbe = fc.record({
  at: fc.integer({ min: NOW - 8 * 24 * HOUR, max: NOW }),
  alive: fc.boolean(),
  latencyMs: fc.option(fc.integer({ min: 0, max: 12_000 })),
  valid: fc.option(fc.boolean()),
});
/** Always enough for a score. */
const anyProbes = fc
  .array(anyProbe, { minLength: 18, maxLength: 60 })
  .map((probes) => [
    ...probes,
    { at: NOW, ...ok },
    { at: NOW - 25 * HOUR, ...down },
    ...hourly(18, () => ok),
  ]);

describe("whatever the probes are", () => {
  test("a failing probe in place of another, or one more, never raises D3", () => {
    fc.assert(
      fc.property(
        anyProbes,
        fc.nat(),
        fc.integer({ min: NOW - 7 * 24 * HOUR + 1, max: NOW }),
        (probes, at, when) => {
          const before = pointsOf(probes);
          const place = at % probes.length;
          const flipped = probes.map((probe, i) => (i === place ? { ...down, at: probe.at } : probe));
          expect(pointsOf(flipped)).toBeLessThanOrEqual(before);
          expect(pointsOf([...probes, { ...down, at: when }])).toBeLessThanOrEqual(before);
        },
      ),
      { numRuns: 500 },
    );
  });

  test("the score is from 0 to 100, the same in any order, and explained to the hundredth", () => {
    fc.assert(
      fc.property(anyProbes, (probes) => {
        const { scored } = d3Of(probes);
        const points = pointsOf(probes);
        expect(points).toBeGreaterThanOrEqual(0);
        expect(points).toBeLessThanOrEqual(100_000_000);
        expect(pointsOf(probes.toReversed())).toBe(points);
        const lines = infrastructureLines(scored);
        expect(lines.reduce((sum, { contribution }) => sum + (contribution ?? 0), 0)).toBe(
          100 * integerPoints(points),
        );
      }),
    );
  });
});

function pointsOf(probes: readonly ProbeFact[]): number {
  const { points } = d3Of(probes);
  if (points === null) throw new Error("too few probes were made");
  return points;
}

describe("a record with D3", () => {
  const { scored: perfect } = d3Of(hourly(100, () => ok));
  const { scored: dead } = d3Of(hourly(100, () => down));
  const withD3 = (parts: Parameters<typeof record>[0], d3 = perfect) =>
    scoreWithInfrastructure(record(parts), d3, AHS_2026_2);

  test("weighs 25, 45 and 30 percent, from the unrounded dimensions", () => {
    const scored = withD3({ d1: 80_400_000, d2: 70_400_000 });
    // 20.1 + 31.68 + 30
    expect(scored).toMatchObject({ ahsScore: 82, d3Score: 100, grade: "B" });
    expect(totalLines(scored?.features)).toEqual([
      ["d1", 2010],
      ["d2", 3168],
      ["d3", 3000],
      ["rounding", 22],
    ]);
  });

  test("keeps the effects of patterns", () => {
    const patterns: Pattern[] = [{ name: "retry_storm", severity: "warning", effect: -4, evidence: "ten" }];
    const scored = withD3({ d1: 80_000_000, d2: 80_000_000, patterns });
    expect(scored?.ahsScore).toBe(82);
  });

  test("does not hide a weak D1 of the wallet", () => {
    const { above, perPoint } = AHS_2026_2.weakLink;
    const scored = withD3({ d1: 30_000_000, d2: 90_000_000 });
    // 7.5 + 40.5 + 30
    expect(scored?.ahsScore).toBe(Math.round(78 - (90 - 30 - above) * perPoint));
  });

  test("leaves a sanctioned wallet at 0", () => {
    const scored = withD3({ d1: 0, d2: 90_000_000, sanctioned: true });
    expect(scored).toMatchObject({ ahsScore: 0, grade: "F", d3Score: 100 });
  });

  test("can fall as well", () => {
    const scored = withD3({ d1: 90_000_000, d2: 90_000_000 }, dead);
    expect(scored).toMatchObject({ ahsScore: 63, d3Score: 0 });
  });

  test("is null without enough probes, or for a record without a score", () => {
    const { scored: few } = d3Of(hourly(3, () => ok));
    expect(withD3({ d1: 1, d2: 1 }, few)).toBeNull();
    const insufficient = { features: [], patterns: [], sanctioned: false };
    expect(scoreWithInfrastructure(insufficient, perfect, AHS_2026_2)).toBeNull();
  });
});

/** As stored: what JSON made of it included. */
function record(parts: {
  d1: number;
  d2: number;
  patterns?: readonly Pattern[];
  sanctioned?: boolean;
}): ScoredRecord {
  const { d1, d2, patterns = [], sanctioned = false } = parts;
  const { lines } = scoreTotal({ d1, d2, patterns, sanctioned }, AHS_2026_2);
  const features = [plainLine("D1", "success_rate", 100), plainLine("D2", "adaptation", 100), ...lines];
  return { features: JSON.parse(JSON.stringify(features)) as FeatureLine[], patterns, sanctioned };
}

function totalLines(features: readonly FeatureLine[] | undefined) {
  return features
    ?.filter(({ dimension }) => dimension === "AHS")
    .map(({ name, contribution }) => [name, contribution]);
}
