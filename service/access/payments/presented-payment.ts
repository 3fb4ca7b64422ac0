import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import type { Address, Hex } from "viem";

/** An EIP-3009 authorization that a request carries, read and found to fit what the request costs. */
export type PresentedPayment = {
  /** Lower-case, as is payTo. */
  readonly payer: Address;
  readonly asset: Address;
  readonly payTo: Address;
  readonly nonce: Hex;
  /** In the token's smallest unit. */
  readonly amount: bigint;
  /** Unix seconds. */
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  /** As x402 facilitators take them. */
  readonly payload: PaymentPayload;
  readonly requirements: PaymentRequirements;
};
