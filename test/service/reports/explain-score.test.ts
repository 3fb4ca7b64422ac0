import { describe, expect, it } from "vitest";
import { scoreWallet } from "../../../service/model/features/score-wallet.ts";
import type { SanctionsFlag } from "../../../service/model/features/types.ts";
import { AHS_2026_2 } from "../../../service/model/score/policy.ts";
import type { FeatureLine, ScoreRecord } from "../../../service/model/score/record.ts";
import { shownLines } from "../../../service/model/score/shown-lines.ts";
import {
  bestImprovement,
  gradeReason,
  isFeature,
  sentenceOf,
  titleOf,
} from "../../../service/reports/explain-score.ts";
import { alwaysFailing, halfFailing, keeper, paymentAgent } from "../model/features/archetypes.ts";
import { asOfLast, callsOf, rowsOf, type Step } from "../model/features/histories.ts";

function line(changes: Partial<FeatureLine>): FeatureLine {
  return {
    ...{ dimension: "D1", name: "success_rate", value: 0.911, unit: "share of calls", samples: 1 },
    ...{ state: "measured", score: 1, weight: 1, contribution: 1, reason: null },
    ...changes,
  };
}

const LISTING = { source: "ofac-sdn", reference: "1", detected_at: "2026-11-05T13:58:30.000Z" } as const;

describe("the sentence of a feature", () => {
  it("exists for every feature of the model, with and without inputs", () => {
    for (const { dimension, name } of AHS_2026_2.features) {
      expect(isFeature(line({ dimension, name }))).toBe(true);
      expect(titleOf(name)).toMatch(/^[A-Z]/);
      expect(sentenceOf(line({ name }))).toMatch(/^[A-Z0-9].*[^.]$/);
    }
  });

  it.each<readonly [string, FeatureLine["inputs"], string]>([
    ["success_rate", { calls: 225, succeeded: 223 }, "223 of 225 calls to others succeeded (99.1%)"],
    [
      "success_rate",
      { calls: 100, succeeded: 90, recent_calls: 10, recent_succeeded: 2, recent_days: 3 },
      "90 of 100 calls to others succeeded (90%), in its last 3 days 2 of 10",
    ],
    [
      "gas_efficiency",
      { burnt_share: 0.0001, gas_price_points: 99.6, gas_limit_points: 87 },
      "Under 0.1% of its fees were spent on failed calls, gas prices 100 of 100, gas limits 87 of 100",
    ],
    ["failure_recovery", { failed: 0, recovered: 0 }, "No failed call"],
    ["failure_recovery", { failed: 2, recovered: 2 }, "2 failed calls, all later retried successfully"],
    [
      "failure_recovery",
      { failed: 94, recovered: 1 },
      "93 of 94 failed calls were never retried successfully",
    ],
    [
      "risk_flags",
      { risky_approvals: 2, risky_delegations: 1, listed_share: 0.12 },
      "2 unlimited approvals to new or unknown spenders; runs the code of a new or unknown account; 12% of its outgoing value went to listed accounts",
    ],
    [
      "dust_and_spam",
      { tokens: 5, dust_or_spam_tokens: 1 },
      "1 of 5 tokens that it acquired is dust or spam",
    ],
    [
      "counterparty_diversity",
      { counterparties: 12, counted_share: 0 },
      "12 counterparties, as varied as 0.9 used equally; nothing of it counts, because too few calls succeed",
    ],
    ["consistency", { active_weeks: 14 }, "Active in 14 weeks"],
  ])("of %s with %j is plain", (name, inputs, sentence) => {
    expect(sentenceOf(line({ name, ...(inputs === undefined ? {} : { inputs }) }))).toBe(sentence);
  });

  it("says what is not known or does not apply, and why", () => {
    const unknown = line({ state: "unknown", value: null, reason: "the approvals were not read" });
    expect(sentenceOf(unknown)).toBe("Not known: the approvals were not read");
    expect(sentenceOf(line({ state: "not_applicable", value: null }))).toBe("Does not apply");
  });
});

describe("the reason of a grade", () => {
  const explained = (record: ScoreRecord) => ({
    ahsScore: record.outcome.kind === "scored" ? record.outcome.ahsScore : null,
    grade: record.outcome.kind === "scored" ? record.outcome.grade : null,
    sanctioned: record.sanctionsFlags.length > 0,
    ...{ features: record.features, patterns: record.patterns },
  });
  const recordOf = (steps: readonly Step[], sanctions: readonly SanctionsFlag[] = []) => {
    const calls = callsOf(steps);
    return scoreWallet({ rows: rowsOf(calls, { sanctions }), asOf: asOfLast(calls), policy: AHS_2026_2 });
  };
  const plan = { days: 60, seed: 1 };
  const newcomer = keeper(plan).slice(0, 3);

  it.each([
    [
      "a keeper",
      recordOf(keeper(plan)),
      /^Grade A: \d+ of \d+ calls to others succeeded .*; (largest loss: .* points\)|no feature costs .*)\.$/,
    ],
    ["a failing wallet", recordOf(alwaysFailing(plan)), /^Grade F: \d+ .* points\) and .* points\)\.$/],
    ["a half failing one", recordOf(halfFailing(plan)), /^Grade [C-F]: .* points\)( and .* points\))?\.$/],
    [
      "a newcomer",
      recordOf(newcomer),
      /^No grade: it made 3 of the 10 calls that a grade needs; this is no sign of risk\.$/,
    ],
    [
      "a listed wallet",
      recordOf(paymentAgent(plan), [LISTING]),
      /^Grade F: the wallet is on a sanctions list/,
    ],
  ])("of %s is one sentence", (_, record, sentence) => {
    expect(gradeReason(explained(record), AHS_2026_2)).toMatch(sentence);
  });

  it("without a grade names what was found instead of saying that there is no sign of risk", () => {
    const ring = {
      name: "self_dealing_ring",
      severity: "critical",
      effect: 0,
      evidence: "32 calls",
    } as const;
    const { features } = recordOf(newcomer);
    const unscored = { ahsScore: null, grade: null, sanctioned: false };
    expect(gradeReason({ ...unscored, features, patterns: [ring] }, AHS_2026_2)).toBe(
      "No grade: it made 3 of the 10 calls that a grade needs; seen so far: self-dealing ring (32 calls).",
    );
    expect(gradeReason({ ...unscored, features: [], patterns: [] }, AHS_2026_2)).toBe(
      "No grade: too little history, or none that is recent; this is no sign of risk.",
    );
  });

  it("comes with the change that raises the score most, but not for a listed or unscored wallet", () => {
    const improvementOf = (record: ScoreRecord) => bestImprovement(explained(record), AHS_2026_2);
    expect(improvementOf(recordOf(alwaysFailing(plan)))).toMatchObject({
      ...{ feature: "adaptation", title: "Adaptation", points: expect.any(Number) },
    });
    expect(improvementOf(recordOf(newcomer))).toBeNull();
    expect(improvementOf(recordOf(paymentAgent(plan), [LISTING]))).toBeNull();
  });

  it("rests on lines that add up to the score in points", () => {
    for (const steps of [keeper(plan), alwaysFailing(plan), halfFailing(plan)]) {
      const record = recordOf(steps);
      const { features, dimensions, adjustments } = shownLines(record.features);
      const sumOf = (numbers: readonly number[]) =>
        Math.round(100 * numbers.reduce((sum, one) => sum + one, 0)) / 100;
      const pointsOf = (of: string) =>
        adjustments.filter(({ dimension }) => dimension === of).map(({ points }) => points);
      const contributions = features
        .filter(({ dimension }) => dimension === "D1")
        .map(({ contribution }) => contribution ?? 0);
      const total = dimensions.map(({ points }) => points);
      expect([sumOf([...contributions, ...pointsOf("D1")]), sumOf([...total, ...pointsOf("AHS")])]).toEqual(
        record.outcome.kind === "scored" ? [record.outcome.d1Score, record.outcome.ahsScore] : [],
      );
    }
  });
});
