import type { Address, Hex } from "viem";
import { z } from "zod";

const LOWER = (value: string) => value.toLowerCase();
const hex = z
  .string()
  .regex(/^0x[0-9a-fA-F]*$/)
  .transform((value) => LOWER(value) as Hex);
const word = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/)
  .transform((value) => LOWER(value) as Hex);
const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .transform((value) => LOWER(value) as Address);
const quantity = z
  .string()
  .regex(/^0x[0-9a-fA-F]{1,64}$/)
  .transform((value) => BigInt(value));
const count = quantity.refine((value) => value <= BigInt(Number.MAX_SAFE_INTEGER)).transform(Number);

/** A log of a mined block; one that a reorg removed is refused. */
export const logAnswer = z.object({
  address,
  topics: z.array(word).max(4),
  data: hex,
  blockNumber: count,
  blockHash: word,
  transactionHash: word,
  logIndex: count,
  removed: z.literal(false).optional(),
});

/** A receipt, its logs unread: most receipts of a block are read for their price and parties alone. */
export const receiptAnswer = z.object({
  transactionHash: word,
  transactionIndex: count,
  blockNumber: count,
  blockHash: word,
  from: address,
  to: address.nullish(),
  status: z.enum(["0x0", "0x1"]),
  gasUsed: quantity,
  effectiveGasPrice: quantity,
  /** Rollups of the OP stack; absent and null elsewhere. */
  l1Fee: quantity.nullish(),
  logs: z.array(z.unknown()),
});

export const headerAnswer = z.object({
  number: count,
  hash: word,
  timestamp: count,
  /** Absent before EIP-1559. */
  baseFeePerGas: quantity.nullish(),
});

/** A block with whole transactions, for the prices that they pay. */
export const blockAnswer = headerAnswer.extend({
  transactions: z.array(
    z.object({
      hash: word,
      gasPrice: quantity.nullish(),
      maxFeePerGas: quantity.nullish(),
      maxPriorityFeePerGas: quantity.nullish(),
    }),
  ),
});

/** A mined transaction, as far as the receipt does not tell it. */
export const transactionAnswer = z.object({
  hash: word,
  blockNumber: count,
  blockHash: word,
  transactionIndex: count,
  to: address.nullish(),
  input: hex,
  value: quantity,
  gas: quantity,
});

/** Code or the result of a call. */
export const bytesAnswer = hex.refine((value) => value.length % 2 === 0);

export type RawTransaction = z.infer<typeof transactionAnswer>;
export type RawReceipt = z.infer<typeof receiptAnswer>;
export type RawHeader = z.infer<typeof headerAnswer>;
export type RawBlock = z.infer<typeof blockAnswer>;
