type MemoryLimits = {
  /** Lifetime of a result. */
  readonly milliseconds: number;
  /** Most results at once; the oldest is evicted first. */
  readonly entries: number;
  readonly monotonicMs: () => number;
};

/**
 * Caches a loader's results for some time. Callers that ask for a key while it is loaded share one load. A failure rejects all
 * of them and is not cached.
 */
export function cached<Key, Value>(
  load: (key: Key) => Promise<Value>,
  { keyOf, ...limits }: MemoryLimits & { readonly keyOf: (key: Key) => string },
): (key: Key) => Promise<Value> {
  const loaded = new Map<string, { readonly loadedMs: number; readonly value: Promise<Value> }>();
  return (key) => {
    const name = keyOf(key);
    const now = limits.monotonicMs();
    const known = loaded.get(name);
    if (known !== undefined && now - known.loadedMs < limits.milliseconds) return known.value;
    loaded.delete(name);
    const [oldest] = loaded.keys();
    if (loaded.size >= limits.entries && oldest !== undefined) loaded.delete(oldest);
    // A query of the builder runs anew for each `then`: only its first result is cached.
    const entry = { loadedMs: now, value: Promise.resolve(load(key)) };
    loaded.set(name, entry);
    entry.value.catch(() => {
      if (loaded.get(name) === entry) loaded.delete(name);
    });
    return entry.value;
  };
}

/** A reader of one value that is cached for some time. */
export function cachedReader<Value>(
  read: () => Promise<Value>,
  limits: Omit<MemoryLimits, "entries">,
): () => Promise<Value> {
  const load = cached(read, { keyOf: () => "all", entries: 1, ...limits });
  return () => load(undefined);
}
