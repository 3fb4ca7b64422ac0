import { expect, test } from "vitest";
import { inBatches, isolateFaults } from "../../../service/db/quarantine.ts";

const ITEMS = Array.from({ length: 1_000 }, (_, at) => `item ${at}`);

/** Work that throws as soon as a batch holds one of the bad items, and the batches that were attempted. */
function failingFor(bad: ReadonlySet<string>, error: unknown = new Error("bad")) {
  const attempts: (readonly string[])[] = [];
  const attempt = async (items: readonly string[]) => {
    attempts.push(items);
    if (items.some((item) => bad.has(item))) throw error;
  };
  return { attempts, attempt };
}

test.each([
  ["none", []],
  ["one", [617]],
  ["several of one batch", [3, 4, 200, 249]],
  ["one of each batch", [0, 250, 500, 999]],
  ["all of a small batch", [995, 996, 997, 998, 999]],
])("finds %s at fault, and does all others", async (_, places) => {
  const bad = new Set(places.map((at) => `item ${at}`));
  const { attempt } = failingFor(bad);
  const { done, faults, untried } = await isolateFaults({
    batches: inBatches(ITEMS, 250),
    lanes: 2,
    attempt,
  });
  expect(faults.map(({ subject }) => subject).toSorted()).toEqual([...bad].toSorted());
  expect([...done].toSorted()).toEqual(ITEMS.filter((item) => !bad.has(item)).toSorted());
  expect(untried).toEqual([]);
});

test("attempts every other batch before it halves one that failed", async () => {
  const { attempts, attempt } = failingFor(new Set(["item 0"]));
  await isolateFaults({ batches: inBatches(ITEMS, 250), lanes: 1, attempt });
  expect(attempts.slice(0, 4).map((items) => items.length)).toEqual([250, 250, 250, 250]);
});

test("halves a bounded number of times, and finds some of many bad items in each run", async () => {
  const { attempts, attempt } = failingFor(new Set(ITEMS));
  const { faults, untried } = await isolateFaults({ batches: inBatches(ITEMS, 250), lanes: 2, attempt });
  expect(faults.length).toBeGreaterThanOrEqual(8);
  expect(faults.length + untried.length).toBe(ITEMS.length);
  expect(attempts.length).toBeLessThan(250);
});

test("rethrows the error of an unreachable database, and attempts nothing more", async () => {
  const lost = new Error("a statement failed", { cause: new Error("Connection terminated unexpectedly") });
  const { attempts, attempt } = failingFor(new Set(["item 300"]), lost);
  const work = isolateFaults({ batches: inBatches(ITEMS, 250), lanes: 1, attempt });
  await expect(work).rejects.toBe(lost);
  expect(attempts).toHaveLength(2);
});

test("throws the signal's reason before the next batch", async () => {
  const stop = new AbortController();
  const attempts: string[] = [];
  const work = isolateFaults({
    batches: inBatches(ITEMS, 250),
    lanes: 1,
    signal: stop.signal,
    attempt: async ([first]) => {
      attempts.push(first ?? "");
      stop.abort(new Error("stopped"));
    },
  });
  await expect(work).rejects.toThrow("stopped");
  expect(attempts).toEqual(["item 0"]);
});
