import { parseArgs } from "node:util";
import { type Address, getAddress, isAddress } from "viem";
import { featureCurves } from "../../service/model/score/curve.ts";
import { AHS_2026_2 } from "../../service/model/score/policy.ts";
import type { Curve, Policy } from "../../service/model/score/policy-shape.ts";
import {
  type FeatureLine,
  type Grade,
  gradeLabel,
  type ScoreRecord,
} from "../../service/model/score/record.ts";
import { sentenceOf } from "../../service/reports/explain-score.ts";
import { compareOnSnapshot } from "../../service/scores/compare-policies.ts";
import { type ScoringContext, scoreAtFinalized } from "../../service/scores/score-wallets.ts";
import { indexedDeployment, withDatabase } from "../command.ts";
import type { Invocation } from "../config.ts";
import { renderTable } from "../render-table.ts";
import { readPolicy } from "../score/read-policy.ts";

/** Usage of `ahs score`. */
export const USAGE = `Usage: ahs score ADDRESS [--explain]
       ahs score --policy FILE --compare [ADDRESS...]`;

/**
 * `ahs score`: what the model says of a wallet at the newest finalized and enriched block; --explain lists every line,
 * --policy FILE --compare what another policy would move. Stores nothing.
 */
export async function run({ config, args, out }: Invocation): Promise<void> {
  const wanted = parse(args);
  const deployment = indexedDeployment(config);
  await withDatabase(config, "score", async (db) => {
    const context = { db, chainId: deployment.chainId, chain: deployment, policy: AHS_2026_2 };
    const lines = wanted.kind === "compare" ? await compare(context, wanted) : await explain(context, wanted);
    for (const line of lines) out(line);
  });
}

type Wanted =
  | { readonly kind: "explain"; readonly wallet: Address; readonly whole: boolean }
  | { readonly kind: "compare"; readonly policyFile: string; readonly wallets: readonly Address[] };

function parse(args: readonly string[]): Wanted {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: {
      explain: { type: "boolean", default: false },
      compare: { type: "boolean", default: false },
      policy: { type: "string" },
    },
    allowPositionals: true,
  });
  const wallets = positionals.map(toWallet);
  if (values.compare !== (values.policy !== undefined))
    throw new Error(`--policy and --compare go together\n${USAGE}`);
  if (values.policy !== undefined) {
    if (values.explain) throw new Error(`--explain and --compare do not go together\n${USAGE}`);
    return { kind: "compare", policyFile: values.policy, wallets };
  }
  const [wallet, ...more] = wallets;
  if (wallet === undefined || more.length > 0)
    throw new Error(`expected one address, got "${positionals.join(" ")}"\n${USAGE}`);
  return { kind: "explain", wallet, whole: values.explain };
}

/** The index holds addresses in lower case. */
function toWallet(given: string): Address {
  if (!isAddress(given, { strict: given !== given.toLowerCase() }))
    throw new Error(`expected an address, got "${given}"\n${USAGE}`);
  return given.toLowerCase() as Address;
}

async function explain(
  context: ScoringContext,
  { wallet, whole }: Wanted & { readonly kind: "explain" },
): Promise<readonly string[]> {
  const scored = await scoreAtFinalized(context, [wallet]);
  if (scored === null) throw new Error("no block is both final and enriched yet");
  const record = scored.records[0]?.record;
  if (record === undefined) throw new Error(`the index does not follow ${getAddress(wallet)}`);
  return [summaryOf(record), ...(whole ? ["", ...explainRecord(record, context.policy)] : [])];
}

async function compare(
  context: ScoringContext,
  { policyFile, wallets }: Wanted & { readonly kind: "compare" },
): Promise<readonly string[]> {
  const other = readPolicy(policyFile, context.policy);
  const compared = await compareOnSnapshot(context, {
    other,
    wallets: wallets.length === 0 ? null : wallets,
  });
  if (compared === null) throw new Error("no block is both final and enriched yet");
  const { asOf, pairs } = compared;
  return [`${pairs.length} wallets as of block ${asOf.blockNumber}`, "", ...comparePolicies(pairs)];
}

function summaryOf({
  wallet,
  modelVersion,
  asOf,
  outcome,
  confidenceMicros,
  confidenceLevel,
}: ScoreRecord): string {
  const confidence = `confidence ${(confidenceMicros / 1_000_000).toFixed(3)} ${confidenceLevel}`;
  const points =
    outcome.kind === "insufficient"
      ? gradeLabel(null)
      : `AHS ${outcome.ahsScore} ${outcome.grade} (${gradeLabel(outcome.grade)}), D1 ${outcome.d1Score}, D2 ${outcome.d2Score}`;
  return `${getAddress(wallet)}: ${points}, ${confidence}; ${modelVersion} as of block ${asOf.blockNumber}`;
}

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
      sentenceOf(line),
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

/** The records of one wallet by two policies on the same rows. */
type RecordPair = { readonly before: ScoreRecord; readonly after: ScoreRecord };

type ShownGrade = Grade | "INSUFFICIENT";

const SHOWN_GRADES: readonly ShownGrade[] = ["A", "B", "C", "D", "E", "F", "INSUFFICIENT"];

/** Effect of a change of policy: wallets per grade, wallets that change grade, and differences of scores. */
export function comparePolicies(pairs: readonly RecordPair[]): readonly string[] {
  const changed = pairs.filter(({ before, after }) => shownGradeOf(before) !== shownGradeOf(after));
  return [
    ...gradeTable(pairs),
    "",
    movesLine(pairs),
    "",
    changed.length === 0 ? "no wallet changes its grade" : `${changed.length} wallets change their grade:`,
    ...(changed.length === 0 ? [] : changeTable(changed)),
  ];
}

function gradeTable(pairs: readonly RecordPair[]): readonly string[] {
  const [first] = pairs;
  const count = (side: keyof RecordPair, grade: ShownGrade) =>
    pairs.filter((pair) => shownGradeOf(pair[side]) === grade).length;
  return renderTable([
    ["grade", first?.before.modelVersion ?? "before", first?.after.modelVersion ?? "after", "change"],
    ...SHOWN_GRADES.map((grade) => {
      const [before, after] = [count("before", grade), count("after", grade)];
      return [grade, String(before), String(after), signed(after - before)];
    }),
  ]);
}

function movesLine(pairs: readonly RecordPair[]): string {
  const moves = pairs.flatMap(({ before, after }) =>
    before.outcome.kind === "scored" && after.outcome.kind === "scored"
      ? [after.outcome.ahsScore - before.outcome.ahsScore]
      : [],
  );
  if (moves.length === 0) return "no wallet is scored under both policies";
  const mean = moves.reduce((sum, move) => sum + move, 0) / moves.length;
  const largest = moves.reduce((most, move) => (Math.abs(move) > Math.abs(most) ? move : most), 0);
  const moved = moves.filter((move) => move !== 0).length;
  return `${moves.length} wallets scored under both: ${moved} move, by ${signed(Number(mean.toFixed(2)))} on average and ${signed(largest)} at most`;
}

function changeTable(changed: readonly RecordPair[]): readonly string[] {
  return renderTable([
    ["wallet", "before", "after", "move"],
    ...changed.map(({ before, after }) => [
      getAddress(before.wallet),
      shown(before),
      shown(after),
      before.outcome.kind === "scored" && after.outcome.kind === "scored"
        ? signed(after.outcome.ahsScore - before.outcome.ahsScore)
        : "–",
    ]),
  ]);
}

function shownGradeOf({ outcome }: ScoreRecord): ShownGrade {
  return outcome.kind === "scored" ? outcome.grade : "INSUFFICIENT";
}

function shown({ outcome }: ScoreRecord): string {
  return outcome.kind === "scored" ? `${outcome.ahsScore} ${outcome.grade}` : "INSUFFICIENT";
}

function signed(value: number): string {
  return value > 0 ? `+${value}` : String(value);
}
