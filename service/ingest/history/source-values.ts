import type { Address, Hex } from "viem";
import { z } from "zod";
import { readTokenPayment } from "../../chain/token-payment.ts";
import type { NumberedCall } from "./history-source.ts";

/** Most digits of a 256-bit number. */
const decimal = z.string().regex(/^\d{1,78}$/);
const quantity = z.string().regex(/^0x[0-9a-f]{1,64}$/i);

const SELECTOR_CHARACTERS = 10;

/** A 256-bit number in decimal digits. */
export const decimalBigint = decimal.transform(BigInt);
/** A number in decimal digits that fits a double exactly. */
export const decimalNumber = decimal.transform(Number).pipe(z.int().nonnegative());
/** A JSON-RPC quantity of at most 256 bits. */
export const hexBigint = quantity.transform(BigInt);
/** A JSON-RPC quantity that fits a double exactly. */
export const hexNumber = quantity.transform(Number).pipe(z.int().nonnegative());
/** Lower-case. */
export const address = z
  .string()
  .regex(/^0x[0-9a-f]{40}$/i)
  .transform((text) => text.toLowerCase() as Address);
/** A 32-byte hash, lower-case. */
export const hash = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/i)
  .transform((text) => text.toLowerCase() as Hex);
/** Calldata, whole bytes. */
export const bytes = z.string().regex(/^0x(?:[0-9a-f]{2})*$/i);

/** What every source says of an own call. */
export type CallFacts = {
  readonly hash: Hex;
  readonly blockNumber: number;
  readonly transactionIndex: number;
  readonly timestamp: number;
  readonly nonce: number;
  readonly to: Address | null;
  readonly input: string;
  readonly value: bigint;
  readonly ok: boolean;
  readonly gasLimit: bigint;
  readonly gasUsed: bigint;
  readonly gasPrice: bigint;
  /** What a rollup paid its settlement layer for it; zero elsewhere. */
  readonly settlementFee: bigint;
};

/**
 * An own call as the model reads it, a transaction of the wallet without its receipt's logs; its fee is gas used ×
 * effective price, and the rollup's settlement fee.
 */
export function numberedCall(facts: CallFacts): NumberedCall {
  const { nonce, input, settlementFee, ...same } = facts;
  const payment = facts.to === null ? null : readTokenPayment(input);
  return {
    nonce,
    call: {
      ...same,
      position: 0,
      selector:
        input.length < SELECTOR_CHARACTERS
          ? null
          : (input.slice(0, SELECTOR_CHARACTERS).toLowerCase() as Hex),
      fee: facts.gasUsed * facts.gasPrice + settlementFee,
      recipient: payment === null ? null : payment.recipient,
      amount: payment === null ? null : payment.amount,
      receipt: null,
    },
  };
}
