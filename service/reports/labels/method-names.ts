import { readFileSync } from "node:fs";
import type { Hex } from "viem";

/**
 * The usual signature of a selector; null for a plain transfer, an unlisted selector or one of several signatures. A
 * contract may use a selector for another method.
 */
export function methodName(selector: Hex | null): string | null {
  return selector === null ? null : (SIGNATURES.get(selector.slice(2)) ?? null);
}

const SIGNATURES = readSignatures();

/** Lines of a selector, without 0x, and a signature; comments start with #. */
function readSignatures(): ReadonlyMap<string, string> {
  const lines = readFileSync(new URL("method-signatures.txt", import.meta.url), "utf8").split("\n");
  return new Map(
    lines.flatMap((line): [string, string][] => {
      const [selector = "", signature] = line.split(" ", 2);
      return selector.length !== 8 || signature === undefined ? [] : [[selector, signature]];
    }),
  );
}
