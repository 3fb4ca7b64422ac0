import type { Hex } from "viem";
import type { PaymentStore } from "../../service/access/payments/payments.ts";

type Reservation = Parameters<PaymentStore["reserve"]>[0];

const REQUIREMENTS = {
  scheme: "exact",
  network: "eip155:31337",
  asset: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
  amount: "10000",
  payTo: "0x976EA74026E726554dB657fA54763abd0C3a0aa9",
  maxTimeoutSeconds: 300,
  extra: {},
} as const;

/** A payment of a cent for a resource, as a store takes it. */
export function aReservation({
  nonce = `0x${"11".repeat(32)}`,
  ...changes
}: Partial<Reservation> & { readonly nonce?: Hex } = {}): Reservation {
  return {
    payment: {
      scheme: "exact",
      payer: "0x00000000000000000000000000000000000000aa",
      asset: "0x5fbdb2315678afecb367f032d93f642f64180aa3",
      payTo: "0x976ea74026e726554db657fa54763abd0c3a0aa9",
      nonce,
      amount: 10_000n,
      validAfter: 0n,
      validBefore: 4_000_000_000n,
      payload: { x402Version: 2, accepted: REQUIREMENTS, payload: {} },
      requirements: REQUIREMENTS,
    },
    endpoint: "GET /cheap/{id}",
    resource: "/cheap/1",
    fingerprint: "f",
    settlement: "after",
    claimHash: "c",
    idempotencyKeyHash: null,
    paymentIdentifierHash: null,
    ...changes,
  };
}
