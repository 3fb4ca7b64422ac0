import type { Address, Hex } from "viem";
import { z } from "zod";

const pattern = (form: RegExp) => z.string().regex(form);

/** Forms of what a node answers, lower-case; anything else is no answer. */
export const bytesAnswer = z
  .string()
  .refine(isBytes)
  .transform((text) => text.toLowerCase() as Hex);

/** Without a repeated group, which overflows the stack on the megabytes that a contract may answer. */
function isBytes(text: string): boolean {
  return text.length % 2 === 0 && /^0x[0-9a-fA-F]*$/.test(text);
}

const wordAnswer = pattern(/^0x[0-9a-fA-F]{64}$/).transform((text) => text.toLowerCase() as Hex);

const addressAnswer = pattern(/^0x[0-9a-fA-F]{40}$/).transform((text) => text.toLowerCase() as Address);

export const quantityAnswer = pattern(/^0x[0-9a-fA-F]{1,64}$/).transform((text) => BigInt(text));

export const countAnswer = quantityAnswer
  .refine((value) => value <= BigInt(Number.MAX_SAFE_INTEGER))
  .transform(Number);

export const headerAnswer = z.object({
  number: countAnswer,
  hash: wordAnswer,
  timestamp: countAnswer,
  gasLimit: quantityAnswer,
  baseFeePerGas: quantityAnswer.nullish(),
});

/** A block with whole transactions; a pending one has no hash. */
export const fullBlockAnswer = z.object({
  transactions: z.array(
    z.object({
      hash: wordAnswer,
      from: addressAnswer,
      to: addressAnswer.nullish(),
      nonce: countAnswer,
      input: bytesAnswer,
      value: quantityAnswer,
    }),
  ),
});

/** Of eth_simulateV1: one block, and in it what became of each call. */
export const simulationAnswer = z.array(
  z.object({ calls: z.array(z.object({ status: z.enum(["0x0", "0x1"]), returnData: bytesAnswer })) }),
);
