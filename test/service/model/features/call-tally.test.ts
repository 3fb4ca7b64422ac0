import { expect, test } from "vitest";
import { countedFees, shareWords } from "../../../../service/model/features/call-tally.ts";
import { account, callsOf, START } from "./histories.ts";

test.each([
  [0, "0%"],
  [0.0001, "under 0.1%"],
  [0.8791, "87.9%"],
  [0.99999, "over 99.9%"],
  [1, "100%"],
  [3.246, "324.6%"],
])("a share of %d reads as %s", (share, words) => {
  expect(shareWords(share)).toBe(words);
});

test("a fee that executions of one transaction share is counted once", () => {
  const [call] = callsOf([{ at: START, to: account(9) }]);
  if (call === undefined) throw new Error("one call was made");
  const executions = [1, 2, 3].map((position) => ({ ...call, position, fee: position === 3 ? 7n : 5n }));
  expect(countedFees([call, ...executions])).toEqual([call.fee, 5n, 0n, 7n]);
});
