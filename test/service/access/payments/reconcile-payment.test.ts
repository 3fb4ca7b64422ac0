import { describe, expect, it } from "vitest";
import {
  confirmPayment,
  type PaymentObservation,
  reconcilePayment,
} from "../../../../service/access/payments/reconcile-payment.ts";

type UnsettledPayment = Parameters<typeof reconcilePayment>[0];
type MovedObservation = Parameters<typeof confirmPayment>[0];

const TRANSFER = `0x${"ab".repeat(32)}` as const;
const VALID_BEFORE = 1_000;

function row(changes: Partial<UnsettledPayment> = {}): UnsettledPayment {
  return {
    state: "reserved",
    settleAskedAt: new Date(0),
    createdAt: new Date(0),
    validBefore: VALID_BEFORE,
    ...changes,
  };
}

function observed(changes: Partial<PaymentObservation> = {}): PaymentObservation {
  return {
    used: false,
    usedInFinal: false,
    finalTime: VALID_BEFORE - 1,
    transfer: null,
    order: "none",
    ownSender: true,
    now: new Date(100_000),
    ...changes,
  };
}

const ANY = { used: true, usedInFinal: true, order: "open", finalTime: VALID_BEFORE + 1 } as const;

describe("a payment that no request works on", () => {
  it.each<[string, Partial<UnsettledPayment>, Partial<PaymentObservation>, string]>([
    ["that paid us is settled, whatever else is so", {}, { ...ANY, transfer: TRANSFER }, "settle"],
    ["that paid us after its release is settled", { state: "released" }, { transfer: TRANSFER }, "settle"],
    ["that paid us before we asked is settled", { settleAskedAt: null }, { transfer: TRANSFER }, "settle"],
    ["whose settlement was never asked for is released", { settleAskedAt: null }, {}, "release"],
    [
      "whose settlement was asked for by an earlier request alone is released",
      { createdAt: new Date(1) },
      { ownSender: false },
      "release",
    ],
    ["that we never sent is released", {}, { order: "none" }, "release"],
    ["whose order may still be queued waits", {}, { now: new Date(59_999) }, "wait"],
    ["whose order failed before it was sent is released", {}, { order: "dead", now: new Date(1) }, "release"],
    ["whose order is under way waits", {}, { order: "open" }, "wait"],
    [
      "whose order is under way waits even when it has expired",
      {},
      { order: "open", finalTime: 2_000 },
      "wait",
    ],
    ["that a stranger settles waits", {}, { ownSender: false }, "wait"],
    ["that a stranger let expire is released", {}, { ownSender: false, finalTime: VALID_BEFORE }, "release"],
    ["that was used elsewhere for good is released", {}, { used: true, usedInFinal: true }, "release"],
    ["that was used elsewhere, not for good, waits", {}, { used: true }, "wait"],
    ["released and still valid waits", { state: "released" }, {}, "wait"],
    ["released and expired is dropped", { state: "released" }, { finalTime: VALID_BEFORE }, "drop"],
    ["released, expired, with an order under way waits", { state: "released" }, { ...ANY }, "wait"],
    [
      "released and withdrawn for good is dropped",
      { state: "released" },
      { used: true, usedInFinal: true },
      "drop",
    ],
  ])("%s", (_name, changes, seen, kind) => {
    expect(reconcilePayment(row(changes), observed(seen)).kind).toBe(kind);
  });
});

const OTHER = `0x${"cd".repeat(32)}` as const;

function moved(changes: Partial<MovedObservation>): MovedObservation {
  return {
    minedIn: null,
    finalBlock: 100n,
    transfer: null,
    usedInFinal: false,
    expired: false,
    orderOpen: false,
    missedBefore: false,
    ...changes,
  };
}

describe("a payment whose money had moved", () => {
  it.each<[string, Partial<MovedObservation>, string]>([
    ["in a block that is final by now is confirmed", { minedIn: 100n }, "confirm"],
    ["in a block that is not final yet waits", { minedIn: 101n }, "wait"],
    [
      "and that another transaction has now waits for that one",
      { transfer: OTHER, usedInFinal: true },
      "wait",
    ],
    ["and that our sender still carries out waits", { orderOpen: true, expired: true }, "wait"],
    ["and that may still be carried out waits", {}, "wait"],
    ["and whose authorization was withdrawn for good is missed", { usedInFinal: true }, "miss"],
    ["and whose authorization has expired is missed", { expired: true }, "miss"],
    ["and that is withdrawn and missed again is lost", { usedInFinal: true, missedBefore: true }, "lose"],
    ["and that is expired and missed again is lost", { expired: true, missedBefore: true }, "lose"],
    ["and that was missed and is seen again waits", { transfer: OTHER, missedBefore: true }, "wait"],
  ])("%s", (_name, seen, kind) => {
    expect(confirmPayment(moved(seen)).kind).toBe(kind);
  });
});
