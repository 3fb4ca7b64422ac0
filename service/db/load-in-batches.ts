/**
 * A loader that answers single keys through `load`, which gets many at once and answers in their order. A key
 * waits only while `maxRunning` loads are under way, so that what is read is never older than the request for it.
 */
export function loadInBatches<Key, Value>(
  load: (keys: readonly Key[]) => Promise<readonly Value[]>,
  limits: { readonly maxSize: number; readonly maxRunning: number },
): (key: Key) => Promise<Value> {
  const queue: { readonly key: Key; readonly answer: PromiseWithResolvers<Value> }[] = [];
  let running = 0;

  async function run(): Promise<void> {
    const batch = queue.splice(0, limits.maxSize);
    try {
      const values = await load(batch.map(({ key }) => key));
      if (values.length !== batch.length)
        throw new Error(`a batch of ${batch.length} keys was answered with ${values.length} values`);
      for (const [index, value] of values.entries()) batch[index]?.answer.resolve(value);
    } catch (error) {
      for (const { answer } of batch) answer.reject(error);
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

  return (key) => {
    const answer = Promise.withResolvers<Value>();
    queue.push({ key, answer });
    start();
    return answer.promise;
  };
}
