import { describe, expect, test } from "vitest";
import { createFairSlots } from "../../../service/db/fair-slots.ts";

/** Slots whose works end when the test says so, and the order in which they began. */
function bench({ maxRunning = 1, maxWaiting = 10 } = {}) {
  let nowMs = 0;
  const slots = createFairSlots({ maxRunning, maxWaiting, now: () => nowMs });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return {
    slots,
    begun,
    ask: (caller: string | null, name: string) =>
      slots.run(caller, async () => {
        begun.push(name);
        await new Promise<void>((resolve) => ends.set(name, resolve));
        return name;
      }),
    end: async (name: string, afterMs = 0) => {
      nowMs += afterMs;
      ends.get(name)?.();
      await settle();
    },
  };
}

describe("places", () => {
  test("go to the caller whose works took the least unpaid time, then in order of arrival", async () => {
    const { ask, begun, end, slots } = bench();
    void ask("slow", "a");
    await end("a", 120_000);
    void ask("other", "b");
    const [again, late, honest] = [ask("slow", "c"), ask("late", "d"), ask("honest", "e")];
    await end("b", 10);
    await end("d", 0);
    await end("e", 0);
    expect(begun).toEqual(["a", "b", "d", "e", "c"]);
    await end("c", 0);
    expect(await Promise.all([again, late, honest])).toEqual(["c", "d", "e"]);
    slots.forgive("slow");
    void ask("other", "f");
    void ask("honest", "g");
    void ask("slow", "h");
    await end("f");
    expect(begun.at(-1)).toBe("g");
  });

  test("are never all one caller's", async () => {
    const { ask, begun } = bench({ maxRunning: 4 });
    for (const name of ["a", "b", "c", "d", "e"]) void ask("greedy", name);
    void ask("honest", "f");
    expect(begun).toEqual(["a", "b", "c", "f"]);
  });

  test("have no limit for this service", () => {
    const { ask, begun } = bench({ maxRunning: 4 });
    for (const name of ["a", "b", "c", "d"]) void ask(null, name);
    expect(begun).toHaveLength(4);
  });

  test("are given on after a work that fails", async () => {
    const slots = createFairSlots({ maxRunning: 1, maxWaiting: 1, now: () => 0 });
    const failing = slots.run("a", () => Promise.reject(new Error("no")));
    const next = slots.run("b", async () => "done");
    await expect(failing).rejects.toThrow("no");
    expect(await next).toBe("done");
  });
});

describe("a full queue", () => {
  test("takes a newcomer in for the last work of the caller with the most", async () => {
    const { ask, begun, end } = bench({ maxWaiting: 3 });
    void ask("greedy", "a");
    const [first, second, third] = [ask("greedy", "b"), ask("greedy", "c"), ask("greedy", "d")];
    const honest = ask("honest", "e");
    expect(await third).toBeNull();
    await end("a", 60_000);
    expect(begun).toEqual(["a", "e"]);
    await end("e");
    await end("b");
    await end("c");
    expect(await Promise.all([first, second, honest])).toEqual(["b", "c", "e"]);
  });

  test("refuses a caller with as much as all others", async () => {
    const { ask } = bench({ maxWaiting: 2 });
    void ask("one", "a");
    void ask("two", "b");
    void ask("three", "c");
    expect(await ask("four", "d")).toBeNull();
  });
});
