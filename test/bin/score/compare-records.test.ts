import { expect, test } from "vitest";
import { comparePolicies } from "../../../bin/commands/score.ts";
import { scoreWallet } from "../../../service/model/features/score-wallet.ts";
import { AHS_2026_2 } from "../../../service/model/score/policy.ts";
import type { Grade, ScoreRecord } from "../../../service/model/score/record.ts";
import { account, asOfTime, rowsOf, START } from "../../service/model/features/histories.ts";

const NOTHING = scoreWallet({ rows: rowsOf([]), asOf: asOfTime(START), policy: AHS_2026_2 });

function record(wallet: number, modelVersion: string, scored: readonly [number, Grade] | null): ScoreRecord {
  const outcome: ScoreRecord["outcome"] =
    scored === null
      ? { kind: "insufficient" }
      : { kind: "scored", ahsScore: scored[0], grade: scored[1], d1Score: 50, d2Score: 50 };
  return { ...NOTHING, wallet: account(wallet), modelVersion, outcome };
}

function pair(
  wallet: number,
  before: readonly [number, Grade] | null,
  after: readonly [number, Grade] | null,
) {
  return { before: record(wallet, "old", before), after: record(wallet, "new", after) };
}

test("shows wallets per grade, those that change theirs, and how far scores go", () => {
  const lines = comparePolicies([
    pair(1, [92, "A"], [85, "B"]),
    pair(2, [76, "B"], [77, "B"]),
    pair(3, [50, "D"], null),
    pair(4, [10, "F"], [10, "F"]),
  ]);
  expect(lines).toEqual([
    "grade         old  new  change",
    "A             1    0    -1",
    "B             1    2    +1",
    "C             0    0    0",
    "D             1    0    -1",
    "E             0    0    0",
    "F             1    1    0",
    "INSUFFICIENT  0    1    +1",
    "",
    "3 wallets scored under both: 2 move, by -2 on average and -7 at most",
    "",
    "2 wallets change their grade:",
    "wallet                                      before  after         move",
    `${account(1)}  92 A    85 B          -7`,
    `${account(3)}  50 D    INSUFFICIENT  –`,
  ]);
});

test("says so when nothing changes, and when nothing is scored", () => {
  expect(comparePolicies([pair(1, null, null)]).slice(-3)).toEqual([
    "no wallet is scored under both policies",
    "",
    "no wallet changes its grade",
  ]);
});
