import type { Address, Hex } from "viem";

/** Hex digits of a 32-byte word. */
const WORD = 64;
const HEX_DIGITS = /^[0-9a-f]*$/;

/** The 32-byte words of a log's data; null when it is no whole number of them. */
export function wordsOf(data: Hex): readonly string[] | null {
  const digits = data.slice(2).toLowerCase();
  if (!data.startsWith("0x") || digits.length % WORD !== 0 || !HEX_DIGITS.test(digits)) return null;
  return Array.from({ length: digits.length / WORD }, (_, index) =>
    digits.slice(index * WORD, (index + 1) * WORD),
  );
}

/** The only word of a topic; null when it is none. */
export function topicWord(topic: Hex | undefined): string | null {
  if (topic === undefined) return null;
  const words = wordsOf(topic);
  return words?.length === 1 ? (words[0] ?? null) : null;
}

/** The lower-case address in a word; null when the word is larger than one. */
export function addressOf(word: string | null | undefined): Address | null {
  if (word === null || word === undefined || !word.startsWith("0".repeat(24))) return null;
  return `0x${word.slice(24)}`;
}

/** The unsigned integer in a word. */
export function uintOf(word: string | null | undefined): bigint | null {
  return word === null || word === undefined ? null : BigInt(`0x${word}`);
}

/** The boolean in a word; null when it is neither 0 nor 1. */
export function boolOf(word: string | null | undefined): boolean | null {
  const value = uintOf(word);
  return value === 0n || value === 1n ? value === 1n : null;
}

/** The uint256[] whose offset, in bytes, is the given head word; null when it does not lie within the words. */
export function uintArrayOf(words: readonly string[], head: number): readonly bigint[] | null {
  const offset = uintOf(words[head]);
  if (offset === null || offset % 32n !== 0n || offset / 32n >= BigInt(words.length)) return null;
  const start = Number(offset / 32n);
  const length = uintOf(words[start]);
  if (length === null || length > BigInt(words.length - start - 1)) return null;
  return words.slice(start + 1, start + 1 + Number(length)).map((word) => BigInt(`0x${word}`));
}
