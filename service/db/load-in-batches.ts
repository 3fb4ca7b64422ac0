type Waiting<Key, Value> = {
  readonly key: Key;
  readonly resolve: (value: Value) => void;
  readonly reject: (error: unknown) => void;
};

export type BatchLimits = { readonly maxSize: number; readonly maxRunning: number };

/**
 * A loader that answers single keys through `load`, which gets many at once and answers in their order. A key
 * waits only while `maxRunning` loads are under way, so that what is read is never older than the request for it.
 */
export function loadInBatches<Key, Value>(
  load: (keys: readonly Key[]) => Promise<readonly Value[]>,
  limits: BatchLimits,
): (key: Key) => Promise<Value> {
  const queue: Waiting<Key, Value>[] = [];
  let running = 0;

  async function run(): Promise<void> {
    const batch = queue.splice(0, limits.maxSize);
    try {
      settle(batch, await load(batch.map((waiting) => waiting.key)));
    } catch (error) {
      for (const waiting of batch) waiting.reject(error);
    }
    running -= 1;
    start();
  }

  function start(): void {
    if (queue.length === 0 || running >= limits.maxRunning) return;
    running += 1;
    // After this turn of the event loop, so that the requests it reads go together.
    setImmediate(run);
  }

  return (key) =>
    new Promise((resolve, reject) => {
      queue.push({ key, resolve, reject });
      start();
    });
}

function settle<Key, Value>(batch: readonly Waiting<Key, Value>[], values: readonly Value[]): void {
  if (values.length !== batch.length) {
    throw new Error(`a batch of ${batch.length} keys was answered with ${values.length} values`);
  }
  values.forEach((value, index) => {
    batch[index]?.resolve(value);
  });
}
