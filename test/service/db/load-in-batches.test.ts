import { describe, expect, it } from "vitest";
import { loadInBatches } from "../../../service/db/load-in-batches.ts";

/** A load that the test ends, and that records its keys. */
function manualLoad() {
  const calls: { readonly keys: readonly number[]; end(): void; fail(): void }[] = [];
  const load = (keys: readonly number[]) =>
    new Promise<readonly string[]>((resolve, reject) => {
      calls.push({
        keys,
        end: () => resolve(keys.map((key) => `value ${key}`)),
        fail: () => reject(new Error(`batch of ${keys.length} failed`)),
      });
    });
  return { load, calls };
}

const turn = () => new Promise((resolve) => setTimeout(resolve, 5));

describe("loadInBatches", () => {
  it("reads what was asked in one turn together, and gives each its own", async () => {
    const { load, calls } = manualLoad();
    const get = loadInBatches(load, { maxSize: 10, maxRunning: 1 });
    const values = Promise.all([get(1), get(2), get(1)]);
    await turn();
    calls[0]?.end();
    expect(await values).toEqual(["value 1", "value 2", "value 1"]);
    expect(calls.map(({ keys }) => keys)).toEqual([[1, 2, 1]]);
  });

  it("never answers from a load that began before the question", async () => {
    const { load, calls } = manualLoad();
    const get = loadInBatches(load, { maxSize: 10, maxRunning: 1 });
    const first = get(1);
    await turn();
    const second = get(1);
    calls[0]?.end();
    expect(await first).toBe("value 1");
    await turn();
    expect(calls).toHaveLength(2);
    calls[1]?.end();
    expect(await second).toBe("value 1");
  });

  it("keeps to its limits of size and of loads at once", async () => {
    const { load, calls } = manualLoad();
    const get = loadInBatches(load, { maxSize: 2, maxRunning: 2 });
    const values = Promise.all([1, 2, 3, 4, 5].map(get));
    await turn();
    expect(calls.map(({ keys }) => keys)).toEqual([
      [1, 2],
      [3, 4],
    ]);
    calls[1]?.end();
    await turn();
    expect(calls[2]?.keys).toEqual([5]);
    calls[0]?.end();
    calls[2]?.end();
    expect(await values).toHaveLength(5);
  });

  it("fails those of a failed batch and serves the next", async () => {
    const { load, calls } = manualLoad();
    const get = loadInBatches(load, { maxSize: 2, maxRunning: 1 });
    const outcomes = Promise.allSettled([1, 2, 3].map(get));
    await turn();
    calls[0]?.fail();
    await turn();
    calls[1]?.end();
    expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled"]);
  });

  it("refuses a load that answers another number of values", async () => {
    const get = loadInBatches(async () => [], { maxSize: 2, maxRunning: 1 });
    await expect(get(1)).rejects.toThrow("a batch of 1 keys was answered with 0 values");
  });
});
