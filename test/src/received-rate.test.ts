import { expect, test } from "vitest";
import { countReceived } from "../../src/received-rate.ts";

const BOUND = { transactions: 3, blocks: 10 };
const QUIET = { receivedWindow: null, received: 0, busyUntil: null };

/** Which of the transactions at these blocks are stored, and what the row says in the end. */
function receive(blocks: readonly number[], ownCalls: number) {
  let row: Parameters<typeof countReceived>[0] = { ...QUIET, ownCalls };
  let changes = 0;
  const stored = blocks.filter((block) => {
    const { count, isStored } = countReceived(row, BigInt(block), BOUND);
    if (count !== null) {
      row = { ...row, ...count };
      changes += 1;
    }
    return isStored;
  });
  return { stored, busyUntil: row.busyUntil, changes };
}

test.each<[string, readonly number[], number, ReturnType<typeof receive>]>([
  [
    "stores as many of a window as the bound",
    [1, 2, 9, 10, 11],
    0,
    { stored: [1, 2, 9, 10, 11], busyUntil: null, changes: 5 },
  ],
  [
    "counts no further than one beyond it",
    [1, 1, 1, 1, 1, 1, 1],
    0,
    { stored: [1, 1, 1], busyUntil: 19n, changes: 4 },
  ],
  [
    "stores nothing of one without own calls until a whole window stayed below",
    [1, 1, 1, 1, 12, 20],
    0,
    { stored: [1, 1, 1, 20], busyUntil: 19n, changes: 6 },
  ],
  [
    "goes on with the next window for one that makes calls",
    [1, 1, 1, 1, 12, 20],
    1,
    { stored: [1, 1, 1, 12, 20], busyUntil: 19n, changes: 6 },
  ],
  [
    "stays busy while each window goes over",
    [1, 1, 1, 1, 12, 12, 12, 12, 25],
    0,
    { stored: [1, 1, 1], busyUntil: 29n, changes: 9 },
  ],
])("%s", (_, blocks, ownCalls, expected) => {
  expect(receive(blocks, ownCalls)).toEqual(expected);
});
