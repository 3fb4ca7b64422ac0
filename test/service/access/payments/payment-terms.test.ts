import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { atomicPrice, requirementsUnder } from "../../../../service/access/payments/payment-terms.ts";

describe("a price in thousandths of a dollar", () => {
  it.each([
    [1, 1_000n],
    [10, 10_000n],
    [1_000, 1_000_000n],
    [25_000, 25_000_000n],
  ])("of %i is %s of the token's smallest unit", (units, atomic) => {
    expect(atomicPrice(units)).toBe(atomic);
  });

  it("is exact at any height", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (units) => {
        expect(atomicPrice(units) % 1_000n).toBe(0n);
        expect(atomicPrice(units) / 1_000n).toBe(BigInt(units));
      }),
    );
  });

  it.each([0, -1, 0.5, Number.NaN])("of %s is refused", (units) => {
    expect(() => atomicPrice(units)).toThrow(String(units));
  });
});

describe("the terms of a price", () => {
  it("name network, token, payee in EIP-55 and the token's own domain", () => {
    const terms = {
      chainId: 8453,
      network: "eip155:8453",
      asset: "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
      payTo: "0x976ea74026e726554db657fa54763abd0c3a0aa9",
    } as const;
    expect(requirementsUnder({ name: "USD Coin", version: "2" }, terms, 50)).toEqual({
      scheme: "exact",
      network: "eip155:8453",
      asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
      amount: "50000",
      payTo: "0x976EA74026E726554dB657fA54763abd0C3a0aa9",
      maxTimeoutSeconds: 300,
      extra: { name: "USD Coin", version: "2" },
    });
  });
});
