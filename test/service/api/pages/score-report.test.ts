import { describe, expect, test } from "vitest";
import { renderScoreReport } from "../../../../service/api/pages/reports/score-report.ts";
import { type AhsRecord, ahsRecordSchema } from "../../../../service/api/schemas/ahs-record.ts";
import { renderExplanation } from "../../../../service/api/schemas/explanation.ts";
import { AHS_2026_2 } from "../../../../service/model/score/policy.ts";
import { plainLine, scoreTotal } from "../../../../service/model/score/score-total.ts";
import { exampleAnswer } from "../example-answer.ts";

type HistoryEntry = NonNullable<AhsRecord["history"]>[number];

const RECORD = ahsRecordSchema.parse(exampleAnswer("/ahs/{address}"));
const STORM = {
  name: "retry_storm",
  severity: "warning",
  effect: -3,
  evidence: "3 times 10 failures of one call within 60 minutes",
} as const;

async function shown(changes: Partial<AhsRecord>): Promise<string> {
  return String(await renderScoreReport({ ...RECORD, ...changes }));
}

/** One score of a history, so many minutes after 22:00 of 20 November. */
function entry(minutes: number, score: number | null): HistoryEntry {
  const at = new Date(Date.parse("2026-11-20T22:00:00.000Z") + minutes * 60_000);
  return {
    ahs_score: score,
    grade: score === null ? null : "B",
    d1_score: score,
    d2_score: score,
    confidence: 0.5,
    confidence_level: score === null ? "INSUFFICIENT" : "MEDIUM",
    as_of_block: 1,
    as_of_time: at.toISOString(),
    model_version: "AHS-2026.2",
    inputs_hash: RECORD.inputs_hash,
  };
}

describe("the report of a wallet", () => {
  test("shows every point between the parts and the score, and why the weak link took some", async () => {
    const { score, lines } = scoreTotal(
      { d1: 30_240_000, d2: 88_100_000, patterns: [STORM], sanctioned: false },
      AHS_2026_2,
    );
    const html = await shown({ ahs_score: score, ...renderExplanation(lines), patterns: [STORM] });
    const sum = html.slice(html.indexOf("From parts to score"), html.indexOf('id="patterns"'));
    for (const words of [
      "0.30 × 30.24 points",
      "0.70 × 88.10 points",
      "Retry storm",
      "Weak link",
      "Wallet hygiene scores more than 20 points below behaviour",
    ])
      expect(sum).toContain(words);
    const points = [...sum.matchAll(/>([+−])([0-9.]+)</g)].map(
      ([, sign, value]) => (sign === "−" ? -1 : 1) * Number(value),
    );
    // A quarter of 88.10 - 30.24 - 20.
    expect(points).toContain(-9.46);
    expect(Math.round(points.reduce((total, one) => total + one, 0))).toBe(score);
    expect(sum).toContain(`<b>${score}</b>`);
  });

  test("has no sum for a wallet without a score", async () => {
    expect(await shown({ ahs_score: null, dimensions: [] })).not.toContain("From parts to score");
  });

  test("does not call a capped score untroubled", async () => {
    const { score, lines } = scoreTotal(
      { d1: 30_240_000, d2: 88_100_000, patterns: [], sanctioned: false },
      AHS_2026_2,
    );
    const html = await shown({ ahs_score: score, ...renderExplanation(lines), patterns: [] });
    expect(html).toContain(
      "No pattern was found; the score is limited for another reason, see the sum above.",
    );
  });

  test("says under the heading why a dimension is nought above features that are not", async () => {
    const feature = { ...plainLine("D1", "success_rate", 9700), value: 0.98, score: 97, weight: 0.3 };
    const html = await shown({
      d1_score: 0,
      ...renderExplanation([
        feature,
        plainLine("D1", "rounding", 42),
        plainLine("D1", "sanctions", -9_700, "the wallet is on a sanctions list"),
      ]),
    });
    expect(html).toMatch(
      /Wallet hygiene: 0 of 100<\/h2>\s*<p class="notice alarm">The wallet is on a sanctions list: that takes 97 points, whatever was measured\.<\/p>/,
    );
    expect(html).not.toContain("Rounding");
  });

  test("draws a score as holding until the next one, and labels ends of one day by their hours", async () => {
    const html = await shown({ history: [entry(100, 60), entry(50, 80), entry(0, 80)] });
    const line = /<polyline[^>]*points="([^"]+)"/.exec(html)?.[1] ?? "";
    const steps = line.split(" ").map((point) => point.split(",").map(Number));
    // No two neighbours differ in both, which would be a slope.
    for (const [index, [x, y]] of steps.slice(1).entries())
      expect(x === steps[index]?.[0] || y === steps[index]?.[1]).toBe(true);
    expect(html).toContain("20 Nov 2026, 22:00 UTC</text>");
    expect(html).toContain("20 Nov 2026, 23:40 UTC</text>");
  });

  test("draws no line through scores of one block", async () => {
    const html = await shown({ history: [entry(0, 60), entry(0, 80)] });
    expect(html).not.toContain("<polyline");
    expect(html).toContain("All 2 scores are as of one block");
  });

  test("draws nothing where no look brought a score", async () => {
    const html = await shown({ history: [entry(50, null), entry(0, null)] });
    expect(html).not.toContain("<polyline");
    expect(html).toContain("None of its 2 stored records has a score");
  });
});
