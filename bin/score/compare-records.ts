import { getAddress } from "viem";
import type { Grade, ScoreRecord } from "../../service/model/score/record.ts";
import { renderTable } from "../render-table.ts";

/** What two policies say of one wallet on the same rows. */
export type RecordPair = { readonly before: ScoreRecord; readonly after: ScoreRecord };

type Standing = Grade | "INSUFFICIENT";

const STANDINGS: readonly Standing[] = ["A", "B", "C", "D", "E", "F", "INSUFFICIENT"];

/** What a change of policy would move: wallets per grade, those that change it, and how far scores go. */
export function comparePolicies(pairs: readonly RecordPair[]): readonly string[] {
  const changed = pairs.filter(({ before, after }) => standingOf(before) !== standingOf(after));
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
  const count = (side: keyof RecordPair, standing: Standing) =>
    pairs.filter((pair) => standingOf(pair[side]) === standing).length;
  return renderTable([
    ["grade", first?.before.modelVersion ?? "before", first?.after.modelVersion ?? "after", "change"],
    ...STANDINGS.map((standing) => {
      const [before, after] = [count("before", standing), count("after", standing)];
      return [standing, String(before), String(after), signed(after - before)];
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

function standingOf({ outcome }: ScoreRecord): Standing {
  return outcome.kind === "scored" ? outcome.grade : "INSUFFICIENT";
}

function shown({ outcome }: ScoreRecord): string {
  return outcome.kind === "scored" ? `${outcome.ahsScore} ${outcome.grade}` : "INSUFFICIENT";
}

function signed(value: number): string {
  return value > 0 ? `+${value}` : String(value);
}
