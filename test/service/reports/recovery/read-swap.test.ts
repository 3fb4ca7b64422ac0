import type { Hex } from "viem";
import { describe, expect, it } from "vitest";
import { readSwap } from "../../../../service/reports/recovery/read-swap.ts";
import { cpuMsOf } from "../../../support/cpu-time.ts";
import { WALLET } from "../../api/fake-ports.ts";

/** Calldata whose elements all point to the same bytes. */
const inflated = (pointers: number, payload: string): Hex => {
  const word = (value: number) => value.toString(16).padStart(64, "0");
  const offsets = word(pointers * 32).repeat(pointers);
  return `0xac9650d8${word(32)}${word(pointers)}${offsets}${word(payload.length / 2)}${payload}`;
};

describe("the swap that a router is asked for", () => {
  it("is not looked for in calldata that decodes to many times its size", () => {
    for (const bytes of [2_000, 100_000]) {
      const inner = inflated(100, "00".repeat(bytes)).slice(2);
      const input = inflated(100, `${inner}${"00".repeat(16)}`);
      const call = { to: WALLET, input, value: 0n };
      expect(cpuMsOf(() => expect(readSwap(call, WALLET)).toBeNull())).toBeLessThan(1_000);
    }
  });
});
