import type { Address, Hex } from "viem";
import { expect, test } from "vitest";
import { createSenderCheck } from "../../../../service/ingest/history/has-sent.ts";

const WALLET: Address = "0x00000000000000000000000000000000000000b2";
const DELEGATION: Hex = `0xef0100${"ab".repeat(20)}`;

test.each<[string, number, Hex | undefined, boolean]>([
  ["an account that never sent", 0, undefined, false],
  ["an account that sent", 3, undefined, true],
  ["a delegated account that sent", 3, DELEGATION, true],
  // A contract's nonce starts at 1.
  ["a contract", 1, "0x6001", false],
])("%s: %i transactions", async (_name, sent, code, expected) => {
  const hasSent = createSenderCheck({
    getTransactionCount: async () => sent,
    getCode: async () => code,
  });
  expect(await hasSent(WALLET)).toBe(expected);
});
