import { expect, test } from "vitest";
import { awaitDocuments } from "../../../../service/registries/nightly/scan-once.ts";

const patience = { maxMs: 100, stallMs: 30, pollMs: 0 };
const forever = new AbortController().signal;

/** Documents that wait at each look, the last for ever, and a clock that moves ten milliseconds a look; answers how many looks it takes. */
async function looksAt(waiting: readonly number[]): Promise<number> {
  let looks = 0;
  const countWaiting = async () => waiting[Math.min(looks++, waiting.length - 1)] ?? 0;
  await awaitDocuments({ countWaiting, patience, monotonicMs: () => looks * 10 }, forever);
  return looks;
}

test.each([
  { title: "nothing is due", waiting: [0], looks: 1 },
  { title: "all are read", waiting: [3, 2, 1, 0], looks: 4 },
  { title: "nobody reads any", waiting: [7], looks: 3 },
  {
    title: "reading them goes on, but for too long",
    waiting: Array.from({ length: 50 }, (_, i) => 90 - i),
    looks: 10,
  },
])("the scan goes on when $title", async ({ waiting, looks }) => {
  expect(await looksAt(waiting)).toBe(looks);
});

test("the end of the process ends the wait", async () => {
  const stopped = AbortSignal.abort(new Error("stopped"));
  const wait = { countWaiting: async () => 1, patience, monotonicMs: () => 0 };
  await expect(awaitDocuments(wait, stopped)).rejects.toThrow();
});
