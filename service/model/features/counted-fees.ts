import type { OwnCall } from "./types.ts";

/**
 * What each of these calls paid, in wei. Executions in one transaction that carry the same fee share it: it is counted with
 * the first of them, and the others paid 0.
 */
export function countedFees(calls: readonly OwnCall[]): readonly bigint[] {
  const shared = new Set<string>();
  return calls.map(({ hash, fee, position }) => {
    if (position === 0) return fee;
    const key = `${hash} ${fee}`;
    if (shared.has(key)) return 0n;
    shared.add(key);
    return fee;
  });
}
