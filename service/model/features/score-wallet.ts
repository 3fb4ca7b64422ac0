import type { Policy } from "../score/policy-shape.ts";
import type { ScoreRecord } from "../score/record.ts";
import { scoreFeatures } from "../score/score-features.ts";
import { measureWallet } from "./measure-wallet.ts";
import type { AsOf, WalletRows } from "./types.ts";

/** The record of one wallet as of one block: a function of its arguments alone, the same bytes on every machine. */
export function scoreWallet({
  rows,
  asOf,
  policy,
}: {
  readonly rows: WalletRows;
  readonly asOf: AsOf;
  readonly policy: Policy;
}): ScoreRecord {
  return scoreFeatures(measureWallet(rows, policy), asOf, policy);
}
