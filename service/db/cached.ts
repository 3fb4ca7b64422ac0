export type MemoryLimits = {
  /** For so long an answer is kept. */
  readonly milliseconds: number;
  /** Answers kept at once; the oldest goes first. */
  readonly entries: number;
  readonly monotonicMs: () => number;
};

type Kept<Value> = { readonly loadedMs: number; readonly value: Promise<Value> };

/**
 * A loader that keeps its answers for a while, and loads a key once however many ask for it meanwhile. A failure is told to
 * all who wait for it and not kept.
 */
export function cached<Key, Value>(
  load: (key: Key) => Promise<Value>,
  { keyOf, ...limits }: MemoryLimits & { readonly keyOf: (key: Key) => string },
): (key: Key) => Promise<Value> {
  const kept = new Map<string, Kept<Value>>();
  return (key) => {
    const name = keyOf(key);
    const now = limits.monotonicMs();
    const known = kept.get(name);
    if (known !== undefined && now - known.loadedMs < limits.milliseconds) return known.value;
    kept.delete(name);
    if (kept.size >= limits.entries) forgetOldest(kept);
    const entry = { loadedMs: now, value: load(key) };
    kept.set(name, entry);
    entry.value.catch(() => {
      if (kept.get(name) === entry) kept.delete(name);
    });
    return entry.value;
  };
}

function forgetOldest(kept: Map<string, unknown>): void {
  const [oldest] = kept.keys();
  if (oldest !== undefined) kept.delete(oldest);
}
