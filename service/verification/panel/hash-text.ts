import { type Hex, keccak256, stringToBytes } from "viem";

/** keccak256 of a text's UTF-8 bytes; half of a surrogate pair without its other half counts as U+FFFD, as everywhere in UTF-8. */
export function hashText(text: string): Hex {
  return keccak256(stringToBytes(text.toWellFormed()));
}
