import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { atomicPrice, offersUnder } from "../../../../service/access/payments/payment-terms.ts";
import { SCHEMES } from "../../../../service/access/schemes/schemes.ts";

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
  const CAPTURE_END = 1_800_057_600;
  const UPTO = "0x14dc79964da2c08b23698b3d3cc7ca32193d9955";
  const terms = {
    chainId: 8453,
    network: "eip155:8453",
    asset: "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
    payTo: "0x976ea74026e726554db657fa54763abd0c3a0aa9",
  } as const;
  const offering = (names: readonly string[]) => ({
    ...terms,
    schemes: SCHEMES,
    settlers: () => new Map(names.map((name) => [name, UPTO] as const)),
    now: () => new Date((CAPTURE_END - 3.5 * 86_400) * 1_000),
  });
  const common = {
    network: "eip155:8453",
    asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
    amount: "50000",
    payTo: "0x976EA74026E726554dB657fA54763abd0C3a0aa9",
    maxTimeoutSeconds: 300,
  };
  const domain = { name: "USD Coin", version: "2" };
  const exact = { scheme: "exact", requirements: { ...common, scheme: "exact", extra: domain } };
  const byPermit2 = { ...domain, assetTransferMethod: "permit2" };
  const permit2 = {
    scheme: "exact-permit2",
    requirements: { ...common, scheme: "exact", extra: byPermit2 },
  };
  const upto = {
    scheme: "upto",
    requirements: {
      ...{ ...common, scheme: "upto" },
      extra: { ...byPermit2, facilitatorAddress: "0x14dC79964da2C08b23698B3D3cc7Ca32193d9955" },
    },
  };

  const captured = {
    scheme: "auth-capture",
    requirements: {
      ...{ ...common, scheme: "auth-capture" },
      extra: {
        ...domain,
        captureAuthorizer: "0x14dC79964da2C08b23698B3D3cc7Ca32193d9955",
        captureDeadline: CAPTURE_END,
        refundDeadline: CAPTURE_END,
        feeRecipient: "0x0000000000000000000000000000000000000000",
        minFeeBps: 0,
        maxFeeBps: 0,
        authCaptureEscrow: "0xBdEA0D1bcC5966192B070Fdf62aB4EF5b4420cff",
      },
    },
  };
  const none = ["exact"];
  const all = SCHEMES.map(({ name }) => name);
  const [metered, decidedLater, fixed] = [
    { isMetered: true, isCaptured: false },
    { isMetered: false, isCaptured: true },
    { isMetered: false, isCaptured: false },
  ];

  it.each([
    [10, ["exact", "exact-permit2", "batch-settlement"]],
    [11, ["exact", "exact-permit2"]],
  ])("of %i units take vouchers up to a cent", (units, schemes) => {
    const offers = offersUnder(domain, offering(all), { units, ...fixed });
    expect(offers.map(({ scheme }) => scheme.name)).toEqual(schemes);
    expect(offers[2]?.requirements.extra ?? null).toEqual(
      units > 10
        ? null
        : {
            ...domain,
            receiverAuthorizer: "0x14dC79964da2C08b23698B3D3cc7Ca32193d9955",
            withdrawDelay: 86_400,
            minDeposit: "100000",
          },
    );
  });

  it.each([
    ["exact by EIP-3009 alone", none, metered, [exact]],
    ["Permit2 after it", [...none, "exact-permit2"], decidedLater, [exact, permit2]],
    ["upto where answers are metered", all, metered, [exact, permit2, upto]],
    ["auth-capture for what is decided later", all, decidedLater, [exact, permit2, captured]],
    ["neither for other answers", all, fixed, [exact, permit2]],
  ] as const)("name %s, in EIP-55 and with the token's own domain", (_name, offered, request, offers) => {
    const given = offersUnder(domain, offering(offered), { units: 50, ...request });
    expect(given.map(({ scheme, requirements }) => ({ scheme: scheme.name, requirements }))).toEqual(offers);
  });
});
