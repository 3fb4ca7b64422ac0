/** Maps with at most `limit` under way at once, in order of the items; after the first failure nothing more is begun. */
export async function mapLimited<Item, Result>(
  items: readonly Item[],
  limit: number,
  map: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  // Every runner takes the next item from this one iterator.
  const queue = items.entries();
  let failed = false;
  const run = async (): Promise<void> => {
    for (const [index, item] of queue) {
      try {
        results[index] = await map(item);
      } catch (error) {
        failed = true;
        throw error;
      }
      if (failed) return;
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, run));
  return results;
}
