import { expect, test } from "vitest";
import { createPace } from "../../../../service/ingest/history/pace.ts";

test("lets no more requests start within a time than it may", async () => {
  const pace = createPace({ requests: 3, perMs: 40 });
  const begun = performance.now();
  const starts = await Promise.all(
    Array.from({ length: 7 }, async () => {
      await pace(new AbortController().signal);
      return performance.now();
    }),
  );
  // Timers may fire a millisecond early.
  expect(starts.map((start) => Math.floor((start - begun + 2) / 40))).toEqual(
    starts.map((_, place) => expect.toSatisfy((waited: number) => waited >= Math.floor(place / 3))),
  );
});
