import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import { expect, test } from "vitest";
import { runVisits, type Visits } from "../../../service/db/run-visits.ts";
import { until } from "../../support/until.ts";

const LIMITS = { atOnce: 6, atOncePerHost: 2, atOncePerAccount: 6, busyMs: 1, idleMs: 5, restMs: 10_000 };
const logger = pino({ level: "silent" });

type Seen = { readonly begun: readonly string[]; readonly left: readonly string[] };

/** Runs visits to items of the form "host/n" until no item is due, or until the test has seen enough. */
async function run(
  items: readonly string[],
  changes: Partial<Visits<string>>,
  isEnough = ({ left }: Seen) => left.length === 0,
) {
  const due = new Set(items);
  const begun: string[] = [];
  const atOnce = { now: new Map<string, number>(), most: 0, mostOfHost: 0 };
  const stop = new AbortController();
  const hostOf = (item: string) => item.split("/")[0] ?? "";
  /** The last part of the host's name. */
  const accountOf = (item: string) => hostOf(item).split(".").at(-1) ?? "";
  const visit = changes.visit ?? (async () => sleep(5).then(() => undefined));
  const done = runVisits<string>(
    {
      what: "visiting",
      limits: LIMITS,
      logger,
      monotonicMs: () => performance.now(),
      keyOf: (item) => item,
      hostOf,
      accountOf,
      due: async () => {
        // The rows are older than the answer, as with a database.
        const rows = [...due];
        await sleep(3);
        return rows;
      },
      ...changes,
      visit: async (item, signal) => {
        begun.push(item);
        const host = hostOf(item);
        atOnce.now.set(host, (atOnce.now.get(host) ?? 0) + 1);
        atOnce.most = Math.max(
          atOnce.most,
          [...atOnce.now.values()].reduce((a, b) => a + b),
        );
        atOnce.mostOfHost = Math.max(atOnce.mostOfHost, ...atOnce.now.values());
        try {
          await visit(item, signal);
          due.delete(item);
        } finally {
          atOnce.now.set(host, (atOnce.now.get(host) ?? 0) - 1);
        }
      },
    },
    stop.signal,
  );
  await until({ what: "enough is seen" }, () => (isEnough({ begun, left: [...due] }) ? true : null));
  stop.abort();
  await done;
  return { begun, atOnce, left: [...due] };
}

test("every item is visited once, so many at once and so many of one host", async () => {
  const items = Array.from({ length: 60 }, (_, i) => `host${i % 4}/${i}`);
  const { begun, atOnce, left } = await run(items, {});
  expect([left, begun.toSorted()]).toEqual([[], items.toSorted()]);
  expect([atOnce.most, atOnce.mostOfHost]).toEqual([6, 2]);
});

test("reads the due items once for many visits, and again while a backlog waits for its host", async () => {
  let reads = 0;
  const items = Array.from({ length: 40 }, (_, i) => `host${i}/x`);
  const due = new Set(items);
  const counted = {
    due: async () => {
      if (due.size > 0) reads++;
      return [...due];
    },
    visit: async (item: string) => {
      due.delete(item);
    },
  };
  const { begun } = await run(items, counted);
  expect(begun.toSorted()).toEqual(items.toSorted());
  expect(reads).toBeLessThan(10);

  // The slow host's backlog is never used up; the quick one becomes due later.
  const open = ["slow/1", "slow/2", "slow/3", "slow/4"];
  setTimeout(() => open.push("quick/1"), 30);
  const later = await run(
    [],
    {
      due: async () => [...open],
      visit: async (item, signal) => {
        if (item.startsWith("slow")) await sleep(60_000, undefined, { signal }).catch(() => undefined);
        else open.pop();
      },
    },
    ({ begun }) => begun.includes("quick/1"),
  );
  expect(later.begun).toEqual(["slow/1", "slow/2", "quick/1"]);
});

test("an account with many slow hosts keeps no other waiting", async () => {
  const slow = Array.from({ length: 50 }, (_, i) => `host${i}.wild/x`);
  const { begun, left } = await run(
    [...slow, "quick.other/1", "quick.other/2"],
    {
      limits: { ...LIMITS, atOncePerAccount: 2 },
      visit: async (item, signal) => {
        if (item.includes("wild")) await sleep(60_000, undefined, { signal }).catch(() => undefined);
      },
    },
    ({ left }) => left.every((item) => item.includes("wild")),
  );
  expect(begun).toEqual(["host0.wild/x", "host1.wild/x", "quick.other/1", "quick.other/2"]);
  // The end of the run aborts only visits to slow hosts.
  expect(left.filter((item) => !item.includes("wild"))).toEqual([]);
});

test("an item that throws rests, and the others go on", async () => {
  const { begun, left } = await run(
    ["a/1", "a/2", "b/1"],
    {
      visit: async (item) => {
        if (item === "a/1") throw new Error("no");
      },
    },
    ({ begun, left }) => begun.length === 3 && left.length === 1,
  );
  expect([left, begun.toSorted()]).toEqual([["a/1"], ["a/1", "a/2", "b/1"]]);
});

test("an item that threw is tried again after its rest", async () => {
  let tries = 0;
  const { left } = await run(["a/1"], {
    limits: { ...LIMITS, restMs: 20 },
    visit: async () => {
      tries++;
      if (tries === 1) throw new Error("not yet");
    },
  });
  expect([left, tries]).toEqual([[], 2]);
});

test("does not end while it cannot read the due items", async () => {
  let reads = 0;
  await run(
    ["a/1"],
    {
      due: async () => {
        reads++;
        throw new Error("database gone");
      },
    },
    () => reads > 1,
  );
  expect(reads).toBeGreaterThan(1);
});

test("waits for running visits at its end, and signals them", async () => {
  let ended = false;
  await run(
    ["a/1"],
    {
      visit: async (_item, signal) => {
        await sleep(60_000, undefined, { signal }).catch(() => undefined);
        ended = true;
      },
    },
    ({ begun }) => begun.length === 1,
  );
  expect(ended).toBe(true);
});
