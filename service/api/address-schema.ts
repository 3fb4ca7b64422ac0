import { z } from "@hono/zod-openapi";
import { type Address, checksumAddress } from "viem";

/** 0x and 40 hexadecimal digits in any case. */
export const ADDRESS_PATTERN = /^0x[0-9a-fA-F]{40}$/;

/** A wallet address in any case, refused when its mixed case breaks EIP-55; parsed to lower case, as stored. */
export const addressSchema = z
  .string()
  .regex(ADDRESS_PATTERN, { abort: true })
  .refine(hasValidCase, {
    error: ({ input }) => `mixed-case address fails its EIP-55 checksum: ${String(input)}`,
  })
  .transform(lowerCase);

/** The path parameter that most endpoints have. */
export const addressParams = z.object({
  address: addressSchema.openapi({
    param: { name: "address", in: "path" },
    type: "string",
    pattern: ADDRESS_PATTERN.source,
    description: "Wallet address: 0x and 40 hexadecimal digits in any case. Mixed case must satisfy EIP-55.",
    example: "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
  }),
});

/** An address in an answer: always EIP-55. */
export const eip55Schema = z.string().regex(ADDRESS_PATTERN).openapi({
  description: "EIP-55 address",
  example: "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
});

/** An address as answers show it. */
export function toEip55(address: string): Address {
  return checksumAddress(lowerCase(address));
}

// Every caller passes what the pattern, the chain or the database has already vouched for.
function lowerCase(address: string): Address {
  return address.toLowerCase() as Address;
}

function hasValidCase(address: string): boolean {
  const digits = address.slice(2);
  if (digits === digits.toLowerCase() || digits === digits.toUpperCase()) return true;
  return toEip55(address) === address;
}
