import { describe, expect, it } from "vitest";
import { cached } from "../../../service/db/cached.ts";

function memory(entries = 2) {
  const loads: string[] = [];
  let now = 0;
  const ask = cached(
    async (key: string) => {
      loads.push(key);
      if (key === "broken") throw new Error("broken");
      return key.toUpperCase();
    },
    { keyOf: (key) => key, milliseconds: 100, entries, monotonicMs: () => now },
  );
  return { ask, loads, wait: (milliseconds: number) => (now += milliseconds) };
}

describe("a cache of loaded values", () => {
  it("answers from itself until the time is over", async () => {
    const { ask, loads, wait } = memory();
    expect(await Promise.all([ask("a"), ask("a")])).toEqual(["A", "A"]);
    wait(99);
    await ask("a");
    expect(loads).toEqual(["a"]);
    wait(1);
    await ask("a");
    expect(loads).toEqual(["a", "a"]);
  });

  it("runs a query of the builder once, however many wait for it", async () => {
    let runs = 0;
    const query = {
      // biome-ignore lint/suspicious/noThenProperty: the builder's queries are such objects
      then: (done: (value: number) => unknown) => {
        runs += 1;
        return Promise.resolve(runs).then(done);
      },
    };
    const ask = cached(() => query as unknown as Promise<number>, {
      keyOf: () => "all",
      milliseconds: 100,
      entries: 1,
      monotonicMs: () => 0,
    });
    expect([await ask(null), await ask(null), runs]).toEqual([1, 1, 1]);
  });

  it("forgets the oldest answer when it is full", async () => {
    const { ask, loads } = memory(2);
    for (const key of ["a", "b", "c", "b", "c", "a"]) await ask(key);
    expect(loads).toEqual(["a", "b", "c", "a"]);
  });

  it("reports a failure to all who wait for it, and tries again for the next", async () => {
    const { ask, loads } = memory();
    const answers = await Promise.allSettled([ask("broken"), ask("broken")]);
    expect(answers.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await expect(ask("broken")).rejects.toThrow("broken");
    expect(loads).toEqual(["broken", "broken"]);
  });
});
