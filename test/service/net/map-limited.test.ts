import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { mapLimited } from "../../../service/net/map-limited.ts";

test("every item is mapped once, in order, and never more than allowed at a time", async () => {
  const anyItems = fc.array(fc.nat(3), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(anyItems, fc.integer({ min: 1, max: 4 }), async (items, limit) => {
      let running = 0;
      let most = 0;
      const mapped = await mapLimited(items, limit, async (item) => {
        running += 1;
        most = Math.max(most, running);
        await sleep(item);
        running -= 1;
        return item * 2;
      });
      expect(mapped).toEqual(items.map((item) => item * 2));
      expect(most).toBeLessThanOrEqual(limit);
    }),
    { numRuns: 30 },
  );
});

test("after a failure nothing more is begun", async () => {
  const begun: number[] = [];
  const mapping = mapLimited([0, 1, 2, 3, 4, 5], 2, async (item) => {
    begun.push(item);
    await sleep(1);
    if (item === 0) throw new Error("the first fails");
  });
  await expect(mapping).rejects.toThrow("the first fails");
  await sleep(20);
  expect(begun.length).toBeLessThanOrEqual(3);
});
