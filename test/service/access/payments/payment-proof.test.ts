import { describe, expect, it } from "vitest";
import { isProven, proofsOf } from "../../../../service/access/payments/payment-identity.ts";
import type { StoredPayment } from "../../../../service/access/payments/payments.ts";

const LONG = "k".repeat(22);

/** Whether a repeat under a key proves the payment that the first request paid under it. */
async function proves(endpoint: string, first: string, repeat: string): Promise<boolean> {
  const brought = (key: string) => ({
    endpoint,
    header: (name: string) => (name === "idempotency-key" ? key : undefined),
  });
  const { idempotencyKeyHash } = proofsOf(brought(first), null);
  const row = { idempotencyKeyHash, claimHash: "c", paymentIdentifierHash: null, payer: "0xaa" };
  return isProven(row as StoredPayment, brought(repeat) as never, {
    proofs: proofsOf(brought(repeat), null),
    signedInAddress: async () => null,
  });
}

describe("an Idempotency-Key", () => {
  it.each([
    ["proves from 22 characters on", "GET /ahs/{address}", LONG, LONG, true],
    ["proves in quotes what it proves without", "GET /ahs/{address}", LONG, `"${LONG}"`, true],
    ["of 21 characters proves nothing", "GET /ahs/{address}", LONG.slice(1), LONG.slice(1), false],
    ["is not lengthened by its quotes", "GET /ahs/{address}", LONG.slice(2), `"${LONG.slice(2)}"`, false],
    ["that is another one proves nothing", "GET /ahs/{address}", LONG, "x".repeat(22), false],
    ["never proves whose a bought key is", "POST /keys", LONG, LONG, false],
  ])("%s", async (_name, endpoint, first, repeat, expected) => {
    expect(await proves(endpoint, first, repeat)).toBe(expected);
  });
});
