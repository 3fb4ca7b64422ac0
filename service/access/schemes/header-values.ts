import { type Address, type Hex, isAddress, maxUint256 } from "viem";
import { z } from "zod";

/** Values of a payment header, as clients write them. */
export const addressText = z
  .string()
  .refine((value) => isAddress(value, { strict: false }))
  // isAddress has vouched for it.
  .transform((value) => value.toLowerCase() as Address);

export const uint256Text = z
  .string()
  .regex(/^\d{1,78}$/)
  .transform(BigInt)
  .refine((value) => value <= maxUint256, "a uint256 is expected");

export const signatureText = z
  .string()
  .regex(/^0x([0-9a-fA-F]{2}){1,4096}$/)
  // The pattern is that of hexadecimal.
  .transform((value) => value as Hex);
