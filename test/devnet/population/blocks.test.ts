import { describe, expect, test } from "vitest";
import { cutBlocks } from "../../../devnet/population/blocks.ts";
import type { PlannedCall } from "../../../devnet/population/plan-types.ts";
import { seededRandom } from "../../../devnet/population/random.ts";

const ALICE = "0x00000000000000000000000000000000000000A1";
const BOB = "0x00000000000000000000000000000000000000B2";

describe("cutBlocks", () => {
  test("puts a wallet's retry after its failure into a later block", () => {
    const blocks = cut([call({ at: 10, outcome: "revert" }), call({ at: 11, from: BOB }), call({ at: 12 })]);
    expect(blocks.map((block) => block.calls.map((c) => [c.from, c.at]))).toEqual([
      [
        [ALICE, 10],
        [BOB, 11],
      ],
      [[ALICE, 12]],
    ]);
  });

  test("lets a wallet spend its first coins only in the block after they came in", () => {
    const blocks = cut([call({ at: 10, to: BOB, value: 5n }), call({ at: 10, from: BOB })]);
    expect(blocks.map((block) => block.time)).toEqual([10, 11]);
  });

  test("keeps calls of one second in the order they were planned in", () => {
    const blocks = cut([call({ at: 20, from: BOB }), call({ at: 10 }), call({ at: 20 })]);
    expect(blocks.flatMap((block) => block.calls.map((c) => c.from))).toEqual([ALICE, BOB, ALICE]);
  });

  test("closes a block before its gas limits add up to more than a block takes", () => {
    const blocks = cut([1, 2, 3].map((at) => call({ at, gasLimit: 10_000_000 })));
    expect(blocks.map((block) => block.calls.length)).toEqual([2, 1]);
  });

  test("names the limit when the calls cannot fit under it", () => {
    const failures = Array.from({ length: 20 }, (_, at) => call({ at, outcome: "revert" }));
    expect(() => cutBlocks(failures, seededRandom("x"), { blocks: 5, target: 5 })).toThrow(
      "20 calls do not fit into 5 blocks",
    );
  });
});

/** One block unless a rule says otherwise. */
function cut(calls: readonly PlannedCall[]) {
  const far = call({ at: 1_000_000 });
  const blocks = cutBlocks([...calls, far], seededRandom("blocks"), { blocks: 100, target: 10 });
  return blocks.filter((block) => block.time < 1_000_000);
}

function call(part: Partial<PlannedCall>): PlannedCall {
  return {
    at: 0,
    from: ALICE,
    to: "0x00000000000000000000000000000000000000C3",
    data: "0x",
    value: 0n,
    gasLimit: 21_000,
    tipWei: 1n,
    outcome: "success",
    creates: null,
    needs: null,
    ...part,
  };
}
