import { type Hex, zeroAddress } from "viem";
import { describe, expect, it } from "vitest";
import type { AskNode } from "../../../../service/reports/recovery/ask-node.ts";
import { NodeFailure } from "../../../../service/reports/recovery/ask-node.ts";
import { readTransaction } from "../../../../service/reports/recovery/read-transaction.ts";

const HASH: Hex = `0x${"f1".repeat(32)}`;
const MINED = {
  hash: HASH,
  from: "0x00000000000000000000000000000000000000A1",
  to: zeroAddress,
  nonce: "0x6",
  input: "0xAABB",
  value: "0x3",
  blockNumber: "0x384",
};

/** A node that answers so, checked as a real one is. */
function answering(value: unknown): AskNode {
  return async (schema) => {
    const parsed = schema.safeParse(value);
    if (parsed.success) return { kind: "answer", value: parsed.data };
    throw new NodeFailure("garbage", parsed.error.message);
  };
}

const refusing: AskNode = async () => ({
  kind: "refused",
  failure: { kind: "refused", message: "transaction indexing is in progress", revertData: null },
});

describe("a transaction that a node is asked for", () => {
  it("is what was sent, and the block that it is in", async () => {
    expect(await readTransaction(answering(MINED), HASH)).toEqual({
      hash: HASH,
      from: "0x00000000000000000000000000000000000000a1",
      to: zeroAddress,
      nonce: 6,
      input: "0xaabb",
      value: 3n,
      block: 900,
    });
  });

  it.each<[string, AskNode]>([
    ["does not know", answering(null)],
    ["refuses to look up", refusing],
  ])("is nothing where the node %s it", async (_name, ask) => {
    expect(await readTransaction(ask, HASH)).toBeNull();
  });

  it.each<[string, unknown]>([
    ["another transaction", { ...MINED, hash: `0x${"f2".repeat(32)}` }],
    ["what is none", { hash: HASH }],
  ])("is a failure of the node where %s comes", async (_name, value) => {
    await expect(readTransaction(answering(value), HASH)).rejects.toMatchObject({ kind: "garbage" });
  });
});
