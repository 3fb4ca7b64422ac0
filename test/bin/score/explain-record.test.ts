import { expect, test } from "vitest";
import { explainRecord } from "../../../bin/commands/score.ts";
import { scoreWallet } from "../../../service/model/features/score-wallet.ts";
import { AHS_2026_2 } from "../../../service/model/score/policy.ts";
import { retryStormer } from "../../service/model/features/archetypes.ts";
import { asOfLast, callsOf, rowsOf } from "../../service/model/features/histories.ts";

const calls = callsOf(retryStormer({ days: 90, seed: 1 }));
const record = scoreWallet({ rows: rowsOf(calls), asOf: asOfLast(calls), policy: AHS_2026_2 });
const lines = explainRecord(record, AHS_2026_2);

test("shows every feature with its state, samples, curves and points", () => {
  for (const { name } of AHS_2026_2.features) {
    const shown = record.features.find((line) => line.name === name);
    const row = lines.find((line) => line.split(/ {2,}/)[1] === name);
    expect(row).toContain(shown?.state);
    expect(row).toContain(String(shown?.samples));
    if (shown?.contribution !== null && shown !== undefined)
      expect(row).toContain((shown.contribution / 100).toFixed(2));
  }
  const anchors = AHS_2026_2.success.curve.map(([x, y]) => `${x}→${y}`).join("  ");
  expect(lines).toContain(`      success, share of calls: ${anchors}`);
});

test("shows what else moves the total, and the patterns, each as a line; the points of all lines add up", () => {
  expect(record.patterns.map(({ name }) => name)).toContain("retry_storm");
  for (const pattern of record.patterns) {
    expect(lines).toContain(
      `pattern ${pattern.name} (${pattern.severity}, ${pattern.effect} points): ${pattern.evidence}`,
    );
  }
  const total = record.features
    .filter(({ dimension }) => dimension === "AHS")
    .reduce((sum, { contribution }) => sum + (contribution ?? 0), 0);
  if (record.outcome.kind !== "scored") throw new Error("the storm is scored");
  expect(total).toBe(100 * record.outcome.ahsScore);
  const rest = lines.slice(lines.indexOf(""));
  for (const name of ["d1", "d2"]) expect(rest.some((line) => line.split(/ {2,}/)[1] === name)).toBe(true);
});
