import { featureCurves } from "../../service/model/score/curve.ts";
import type { Curve, Policy } from "../../service/model/score/policy-shape.ts";
import type { FeatureLine, ScoreRecord } from "../../service/model/score/record.ts";
import { renderTable } from "../render-table.ts";

/**
 * Every line of a record: first a table of the features with the anchors of the curves that they read, then everything
 * else that moves the score (dimensions, patterns, caps, roundings), then the patterns with their evidence.
 */
export function explainRecord(record: ScoreRecord, policy: Policy): readonly string[] {
  const rules = new Map(policy.features.map((rule) => [`${rule.dimension} ${rule.name}`, rule]));
  const isFeature = ({ dimension, name }: FeatureLine) => rules.has(`${dimension} ${name}`);
  return [
    ...featureTable(record.features.filter(isFeature), policy),
    "",
    ...totalTable(record.features.filter((line) => !isFeature(line))),
    ...record.patterns.flatMap((pattern, place) => [
      ...(place === 0 ? [""] : []),
      `pattern ${pattern.name} (${pattern.severity}, ${pattern.effect} points): ${pattern.evidence}`,
    ]),
  ];
}

function featureTable(lines: readonly FeatureLine[], policy: Policy): readonly string[] {
  const curves = featureCurves(policy);
  const header = ["part", "feature", "state", "samples", "value", "unit", "score", "weight", "points", "why"];
  const table = renderTable([
    header,
    ...lines.map((line) => [
      line.dimension,
      line.name,
      line.state,
      String(line.samples),
      number(line.value, 4),
      line.unit,
      number(line.score, 1),
      number(line.weight, 3),
      points(line.contribution),
      line.reason ?? "",
    ]),
  ]);
  return table.flatMap((row, place) => {
    const name = lines[place - 1]?.name;
    const read = name === undefined ? [] : (curves.get(name) ?? []);
    return [row, ...read.map((each) => `      ${each.name}, ${each.xUnit}: ${anchors(each.curve)}`)];
  });
}

function totalTable(lines: readonly FeatureLine[]): readonly string[] {
  return renderTable([
    ["part", "line", "score", "weight", "points", "why"],
    ...lines.map((line) => [
      line.dimension,
      line.name,
      number(line.score, 1),
      line.weight === 0 ? "–" : number(line.weight, 2),
      points(line.contribution),
      line.reason ?? "",
    ]),
  ]);
}

function anchors(curve: Curve): string {
  return curve.map(([x, y]) => `${x}→${y}`).join("  ");
}

function points(hundredths: number | null): string {
  return hundredths === null ? "–" : (hundredths / 100).toFixed(2);
}

function number(value: number | null, digits: number): string {
  return value === null ? "–" : String(Number(value.toFixed(digits)));
}
