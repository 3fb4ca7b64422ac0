export type MemoryLimits = {
  /** Lifetime of a result. */
  readonly milliseconds: number;
  /** Most results at once; the oldest is evicted first. */
  readonly entries: number;
  readonly monotonicMs: () => number;
};

type Entry<Value> = { readonly loadedMs: number; readonly value: Promise<Value> };

/**
 * Caches a loader's results for some time. Callers that ask for a key while it is loaded share one load. A failure rejects all
 * of them and is not cached.
 */
export function cached<Key, Value>(
  load: (key: Key) => Promise<Value>,
  { keyOf, ...limits }: MemoryLimits & { readonly keyOf: (key: Key) => string },
): (key: Key) => Promise<Value> {
  const loaded = new Map<string, Entry<Value>>();
  return (key) => {
    const name = keyOf(key);
    const now = limits.monotonicMs();
    const known = loaded.get(name);
    if (known !== undefined && now - known.loadedMs < limits.milliseconds) return known.value;
    loaded.delete(name);
    if (loaded.size >= limits.entries) evictOldest(loaded);
    const entry = { loadedMs: now, value: load(key) };
    loaded.set(name, entry);
    entry.value.catch(() => {
      if (loaded.get(name) === entry) loaded.delete(name);
    });
    return entry.value;
  };
}

function evictOldest(loaded: Map<string, unknown>): void {
  const [oldest] = loaded.keys();
  if (oldest !== undefined) loaded.delete(oldest);
}
