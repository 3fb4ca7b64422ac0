import type { Hex } from "viem";

/** Words and longer hexadecimal numbers around it make it something else. */
const MARK = /(?<![\w-])ahs-spec:(0x[0-9a-fA-F]{64})(?!\w)/g;

/** Hashes of specifications that a job's description names as `ahs-spec:0x…`, in lower case, each once. */
export function specHashesIn(description: string): Hex[] {
  const hashes = Array.from(description.matchAll(MARK), ([, hash]) => hash?.toLowerCase() as Hex);
  return [...new Set(hashes)];
}
