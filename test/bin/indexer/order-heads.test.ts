import { type Hex, numberToHex } from "viem";
import { describe, expect, it } from "vitest";
import { createHeadOrder, type Head, withHeadsInOrder } from "../../../bin/indexer/order-heads.ts";

/** Hash of a block of a chain; chains `a` and `b` fork after block 5. */
const hashOf = (chain: string, at: number): Hex => `0x${at <= 5 ? "a" : chain}${at}`;
const block = (name: string): Head => {
  const [chain = "", number = 0] = [name[0], Number(name.slice(1))];
  return { number: numberToHex(number), hash: hashOf(chain, number), parentHash: hashOf(chain, number - 1) };
};

describe("createHeadOrder", () => {
  it.each([
    ["passes on heads that rise, with gaps", "a1 a2 a6 a7", "a", "a1 a2 a6 a7"],
    ["repeats the newest head, and drops one that came before it", "a1 a2 a2 a1 a3", "a", "a1 a2 a2 a3"],
    ["drops a late answer that only the next head names", "a1 a4 a3 a5", "a", "a1 a4 a5"],
    ["drops any late answers in a gap", "a1 a9 a3 a4 a6 a10", "a", "a1 a9 a10"],
    ["passes on a lower head of another chain", "a7 a8 b7", "b", "a7 a8 b7"],
    ["passes on a head of the same height", "a8 b8 b8 b9", "b", "a8 b8 b8 b9"],
    ["passes on a higher head of another chain", "a7 a8 b9", "b", "a7 a8 b9"],
    ["drops a lower head while the node has no block at the height of the last", "a7 a8 b7", "", "a7 a8"],
  ])("%s", async (_what, answered, canonical, passedOn) => {
    const isNews = createHeadOrder(async (at) => (canonical === "" ? null : hashOf(canonical, at)));
    const passed: string[] = [];
    for (const name of answered.split(" ")) if (await isNews(block(name))) passed.push(name);
    expect(passed).toEqual(passedOn.split(" "));
  });

  it("drops a lower head if a higher one arrived while the node was asked", async () => {
    const { promise, resolve } = Promise.withResolvers<Hex>();
    const isNews = createHeadOrder(() => promise);
    expect(await isNews(block("a8"))).toBe(true);
    const late = isNews(block("b7"));
    expect(await isNews(block("a9"))).toBe(true);
    resolve(hashOf("b", 8));
    expect(await late).toBe(false);
  });
});

describe("withHeadsInOrder", () => {
  it.each([
    ["has the same block", async () => ({ hash: hashOf("a", 8) }), false],
    ["has another block", async () => ({ hash: hashOf("b", 8) }), true],
    ["fails", async () => Promise.reject(new Error("down")), false],
  ])("asks a node about a lower head: it %s", async (_what, request, isPassedOn) => {
    const answers: boolean[] = [];
    const rpc = {
      request,
      subscribe: async ({ onBlock }: { onBlock: (head: Head) => Promise<boolean> }) => {
        for (const name of ["a8", "b7"]) answers.push(await onBlock(block(name)));
      },
    };
    withHeadsInOrder(rpc).subscribe({ onBlock: async () => true });
    await expect.poll(() => answers).toEqual([true, isPassedOn]);
  });
});
