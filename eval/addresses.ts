import type { Address } from "viem";
import type { Random } from "../devnet/population/random.ts";

/** Draws an address, lower-case, unique but by a chance of 2^-128 or less. */
export function newAddress(random: Random): Address {
  let digits = "";
  for (let word = 0; word < 5; word += 1) {
    digits += Math.floor(random.next() * 2 ** 32)
      .toString(16)
      .padStart(8, "0");
  }
  return `0x${digits}`;
}
