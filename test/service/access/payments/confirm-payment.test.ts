import { describe, expect, it } from "vitest";
import { confirmPayment, type MovedSighting } from "../../../../service/access/payments/confirm-payment.ts";

const OTHER = `0x${"cd".repeat(32)}` as const;

function sighting(changes: Partial<MovedSighting>): MovedSighting {
  return {
    minedIn: null,
    finalBlock: 100n,
    transfer: null,
    usedInFinal: false,
    expired: false,
    orderOpen: false,
    ...changes,
  };
}

describe("a payment whose money had moved", () => {
  it.each<[string, Partial<MovedSighting>, string]>([
    ["in a block that is final by now is confirmed", { minedIn: 100n }, "confirm"],
    ["in a block that is not final yet waits", { minedIn: 101n }, "wait"],
    [
      "and that another transaction has now waits for that one",
      { transfer: OTHER, usedInFinal: true },
      "wait",
    ],
    ["and that our sender still carries out waits", { orderOpen: true, expired: true }, "wait"],
    ["and that may still be carried out waits", {}, "wait"],
    ["and whose authorization was withdrawn for good is lost", { usedInFinal: true }, "lose"],
    ["and whose authorization has expired is lost", { expired: true }, "lose"],
  ])("%s", (_name, seen, kind) => {
    expect(confirmPayment(sighting(seen)).kind).toBe(kind);
  });
});
