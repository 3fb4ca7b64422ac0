import { concatHex, encodeFunctionData, type Hex, numberToHex, parseAbi } from "viem";
import { expect, test } from "vitest";
import { openRecovery } from "../../../../service/reports/recovery/open-recovery.ts";
import { sortFailures } from "../../../../service/reports/recovery/sort-failures.ts";
import { WALLET } from "../../api/fake-ports.ts";
import { failedCall, fakeRecovery } from "../../api/routes/fake-recovery.ts";

const abi = parseAbi([
  "function multicall(bytes[] calls)",
  "function exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))",
]);
const SWAP = encodeFunctionData({
  abi,
  functionName: "exactInputSingle",
  args: [[WALLET, WALLET, 500, WALLET, 5n, 1n, 0n]],
});
/** 5 KB of calldata each, as many failures as are listed: a megabyte. */
const failures = Array.from({ length: 200 }, (_, place) =>
  failedCall({
    hash: numberToHex(place, { size: 32 }),
    input: encodeFunctionData({
      abi,
      functionName: "multicall",
      args: [[...Array<Hex>(15).fill(SWAP), concatHex(["0x00", numberToHex(place, { size: 32 })])]],
    }),
  }),
);
const CHARACTERS = failures.reduce((sum, { input }) => sum + input.length, 0);
/** At most as much is read in one turn as of one call. */
const LEAST_TURNS = Math.floor(CHARACTERS / 32_768);

/** How many turns the event loop has while something is worked on. */
async function turnsDuring<Result>(work: () => Promise<Result>) {
  let turns = 0;
  let next = setImmediate(function count() {
    turns += 1;
    next = setImmediate(count);
  });
  const result = await work().finally(() => clearImmediate(next));
  return { turns, result };
}

test("other work has its turn while a recovery reads and sorts a megabyte of failures' calldata", async () => {
  expect(LEAST_TURNS).toBeGreaterThan(50);
  const opened = await turnsDuring(() => openRecovery(WALLET, fakeRecovery({}, { failures })));
  expect(opened.turns).toBeGreaterThanOrEqual(LEAST_TURNS);
  const { result: recovery } = opened;
  expect(recovery.failures[0]?.intent.kind).toBe("swap");
  const successes = failures.map((call) => ({ ...call, block: call.block - 1 }));
  const sorted = await turnsDuring(() =>
    sortFailures({ ...recovery, outcomes: { ...recovery.outcomes, successes } }),
  );
  expect(sorted.turns).toBeGreaterThanOrEqual(2 * LEAST_TURNS);
  expect(sorted.result.candidates).toHaveLength(30);
});
