import type { Hex } from "viem";

const SELECTOR_CHARACTERS = 10;

/** First four bytes of the calldata; null where there are fewer, as in a plain transfer. */
export function selectorOf(input: Hex): Hex | null {
  return input.length < SELECTOR_CHARACTERS ? null : (input.slice(0, SELECTOR_CHARACTERS) as Hex);
}
