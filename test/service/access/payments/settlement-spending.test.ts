import { describe, expect, it } from "vitest";
import { createSettlementSpending } from "../../../../service/access/payments/settlement-spending.ts";

const NOON = new Date("2026-11-20T12:00:00Z");

/** Costs a millionth of a US dollar for a unit of gas. */
function spending({ spentGas = 0n, maxPercent = 200 } = {}) {
  return createSettlementSpending({
    gasPrice: { microUsd: async (gas) => gas },
    maxPercent,
    dailyGas: 10_000n,
    spentGas: async () => spentGas,
    now: () => NOON,
  });
}

describe("a settlement", () => {
  it.each([
    [2_000n, 1_000n, 200, true],
    [2_001n, 1_000n, 200, false],
    [500n, 1_000n, 50, true],
    [501n, 1_000n, 50, false],
  ])(
    "of %i micro-USD for a price of %i at %i per cent: paid for is %s",
    async (gas, priceMicroUsd, maxPercent, isPaidFor) => {
      const refusal = await spending({ maxPercent }).refusal({ gas, priceMicroUsd });
      expect(refusal === null).toBe(isPaidFor);
    },
  );

  it("that costs too much is refused with what it costs, and with a time to ask again", async () => {
    expect(await spending().refusal({ gas: 9_000n, priceMicroUsd: 1_000n })).toEqual({
      kind: "dear",
      detail: expect.stringMatching(/0\.009000 USD of gas now; at most 200 % of its 0\.001000 USD.*API key/),
      retryAfterSeconds: 60,
    });
  });

  it("beyond the gas of the day waits for the next UTC day, whatever it costs", async () => {
    const most = { gas: 1_000n, priceMicroUsd: 1_000_000n };
    expect(await spending({ spentGas: 9_000n }).refusal(most)).toBeNull();
    expect(await spending({ spentGas: 9_001n }).refusal(most)).toMatchObject({
      kind: "dear",
      retryAfterSeconds: 43_200,
    });
  });
});
