import { customType, text } from "drizzle-orm/pg-core";
import type { Address, Hex } from "viem";

/** An account's address in lower case: 0x and 40 hexadecimal digits. */
export const address = () => text().$type<Address>();

/** 32 bytes: 0x and 64 hexadecimal digits. */
export const hash = () => text().$type<Hex>();

/** Addresses and hashes as arrays of text. */
export const addresses = () => text().array().$type<Address[]>();
export const hashes = () => text().array().$type<Hex[]>();

/** Bytes of any number: 0x and two hexadecimal digits each. */
export const hex = () => text().$type<Hex>();

/** Bytes as PostgreSQL stores them. */
export const bytes = customType<{ data: Buffer }>({ dataType: () => "bytea" });

/** An address or a hash as its column holds it. */
export function lowerCase(hex: Hex): Hex {
  return hex.toLowerCase() as Hex;
}
