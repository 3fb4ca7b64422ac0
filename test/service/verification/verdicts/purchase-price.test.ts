import { describe, expect, it } from "vitest";
import { fateOf, type LockedPrice } from "../../../../service/verification/verdicts/purchase-price.ts";

const OPEN: LockedPrice = {
  debitId: null,
  paymentId: null,
  debit: null,
  payment: null,
};

describe("a purchase that waits for its price", () => {
  it.each([
    ["settled", "activate"],
    ["answered", "activate"],
    ["reserved", "wait"],
    ["released", "drop"],
    ["lost", "drop"],
    [null, "drop"],
  ] as const)("whose payment is %s: %s", (payment, fate) => {
    expect(fateOf({ ...OPEN, paymentId: "p", payment })).toBe(fate);
  });

  it.each([
    ["kept", "activate"],
    ["held", "wait"],
    ["returned", "drop"],
    [null, "drop"],
  ] as const)("whose debit is %s: %s", (debit, fate) => {
    expect(fateOf({ ...OPEN, debitId: "d", debit })).toBe(fate);
  });

  it("of a key without a limit goes with its request", () => {
    expect(fateOf(OPEN)).toBe("drop");
  });
});
