/** Runs tasks, so many at once; results in the order of the items. Rejects with the first failure. */
export async function runAll<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  task: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  const queue = items.entries();
  const lane = async (): Promise<void> => {
    for (const [index, item] of queue) results[index] = await task(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, lane));
  return results;
}
