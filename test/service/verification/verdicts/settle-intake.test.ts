import { describe, expect, it } from "vitest";
import { decideIntake, type Unsettled } from "../../../../service/verification/verdicts/settle-intake.ts";

const OPEN: Unsettled = {
  verdictId: "v",
  debitId: null,
  paymentId: null,
  debit: null,
  payment: null,
  leaseUntil: null,
  hasEndpoint: false,
};

describe("an output that waits for its price", () => {
  it.each([
    ["settled", "activate"],
    ["answered", "activate"],
    ["reserved", "wait"],
    ["released", "drop"],
    ["lost", "drop"],
    [null, "drop"],
  ] as const)("whose payment is %s: %s", (payment, fate) => {
    expect(decideIntake({ ...OPEN, paymentId: "p", payment })).toBe(fate);
  });

  it.each([
    ["kept", "activate"],
    ["held", "wait"],
    ["returned", "drop"],
    [null, "drop"],
  ] as const)("whose debit is %s: %s", (debit, fate) => {
    expect(decideIntake({ ...OPEN, debitId: "d", debit })).toBe(fate);
  });

  it("of a key without a limit goes with its request", () => {
    expect(decideIntake(OPEN)).toBe("drop");
  });
});
