import fc from "fast-check";
import type { Address, Hex } from "viem";
import { expect, test } from "vitest";
import { accountsOf } from "../../../../service/reports/recovery/named-accounts.ts";

const named = (input: Hex) => [...accountsOf({ input }, { parties: [] })];

/** By looking at each byte, which takes long for calldata full of zeros. */
function namedAtEachByte(input: Hex): readonly Address[] {
  const digits = input.slice(10, 32_768);
  const found = new Set<Address>();
  for (let at = 0; at + 64 <= digits.length && found.size < 128; at += 2) {
    const account = digits.slice(at + 24, at + 64);
    if (!digits.startsWith("0".repeat(24), at)) continue;
    if (!account.startsWith("00") || at % 64 === 0) found.add(`0x${account}`);
  }
  return [...found];
}

const zeros = fc.integer({ min: 0, max: 200 }).map((count) => "0".repeat(count));
const digits = fc.oneof(zeros, fc.stringMatching(/^[0-9a-f]{1,60}$/), fc.constant("1".repeat(40)));

test("names what a look at each byte of calldata finds", () => {
  fc.assert(
    fc.property(fc.array(digits, { maxLength: 30 }), (parts) => {
      const input: Hex = `0x12345678${parts.join("")}`;
      expect(named(input)).toEqual(namedAtEachByte(input));
    }),
    { numRuns: 500 },
  );
});

test("names at most 128 accounts, those that come first", () => {
  const accounts = Array.from({ length: 200 }, (_, place) => (0x1001 + place).toString(16).repeat(10));
  const found = named(`0x12345678${accounts.map((account) => account.padStart(64, "0")).join("")}`);
  expect(found).toEqual(accounts.slice(0, 128).map((account) => `0x${account}`));
});
