import { type Hex, numberToHex } from "viem";
import { describe, expect, it } from "vitest";
import { createHeadOrder, withHeadsInOrder } from "../../../bin/indexer/order-heads.ts";

/** A block of a chain by its letter; `a` and `b` fork after block 5. */
const block = (name: string) => {
  const [chain = "", number = 0] = [name[0], Number(name.slice(1))];
  const hashOf = (at: number): Hex => `0x${at <= 5 ? "a" : chain}${at}`;
  return { number: numberToHex(number), hash: hashOf(number), parentHash: hashOf(number - 1) };
};

describe("createHeadOrder", () => {
  it.each([
    ["passes on heads that rise, with gaps", "a1 a2 a6 a7", "a1 a2 a6 a7"],
    ["repeats the newest head, and drops one that came before it", "a1 a2 a2 a1 a3", "a1 a2 a2 a3"],
    ["drops a late answer that only the next head names", "a1 a4 a3 a5", "a1 a4 a5"],
    ["drops a late answer in a gap", "a1 a6 a3 a7", "a1 a6 a7"],
    ["passes on a lower head of another chain with its second answer", "a7 a8 b7 b7", "a7 a8 b7"],
    ["passes on another chain that grew between two answers", "a7 a9 b7 b8", "a7 a9 b8"],
    ["passes on a higher head of another chain at once", "a7 a8 b9", "a7 a8 b9"],
    ["passes on a head of the same height", "a8 b8 b8 b9", "a8 b8 b9"],
    ["follows two reorgs after each other", "a8 b8 b8 a8 a8 a9", "a8 b8 a8 a9"],
    ["believes no two different late answers", "a1 a9 a3 a6 a10", "a1 a9 a10"],
  ])("%s", (_what, answered, passedOn) => {
    const isNews = createHeadOrder();
    expect(answered.split(" ").filter((name) => isNews(block(name)))).toEqual(passedOn.split(" "));
  });
});

describe("withHeadsInOrder", () => {
  it("answers false for what it drops, and keeps the rest of the client", async () => {
    const answers: boolean[] = [];
    const rpc = {
      request: () => "asked",
      subscribe: async ({ onBlock }: { onBlock: (head: ReturnType<typeof block>) => Promise<boolean> }) => {
        for (const name of ["a1", "a2", "a1"]) answers.push(await onBlock(block(name)));
      },
    };
    const ordered = withHeadsInOrder(rpc);
    await ordered.subscribe({ onBlock: async () => true });
    await expect.poll(() => answers).toEqual([true, true, false]);
    expect(ordered.request()).toBe("asked");
  });
});
