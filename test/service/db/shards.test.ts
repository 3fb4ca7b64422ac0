import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { workInShards } from "../../../service/db/shards.ts";
import { useDatabase } from "../../support/test-database.ts";
import { until } from "../../support/until.ts";

const db = useDatabase();
const HOLDER = new URL("shard-holder.ts", import.meta.url).pathname;
const forever = new AbortController().signal;
const itemsOf = (count: number) => Array.from({ length: count }, (_, at) => `item ${at}`);

let named = 0;
/** A kind of work of its own. */
const newWork = (atOnce = 100) => {
  named += 1;
  return { db, name: `shards-test-${named}`, chainId: 1, atOnce, signal: forever };
};

/** Waits until all items can be worked on. PostgreSQL frees the locks of a lost connection one by one, soon after its end. */
async function untilFree(options: ReturnType<typeof newWork>, items: readonly string[]): Promise<void> {
  await until({ what: "no other worker holds an item" }, async () => {
    const taken: string[] = [];
    const left = await workInShards(options, items, async (held) => void taken.push(...held));
    expect([...taken, ...left].toSorted()).toEqual(items.toSorted());
    return left.length === 0 ? true : null;
  });
}

test("workers of unequal speed divide the items: none is worked on by two, the fast one does most, and none is left", async () => {
  const options = newWork(50);
  const items = itemsOf(2_000);
  const done = new Map<string, string>();
  const begun: string[] = [];
  const worker = async (name: string, restMs: number) => {
    let left: readonly string[] = items;
    while (left.length > 0) {
      left = await workInShards(options, left, async (held) => {
        const due = held.filter((item) => !done.has(item));
        if (due.length === 0) return;
        begun.push(...due);
        await sleep(restMs);
        for (const item of due) done.set(item, name);
      });
    }
  };
  await Promise.all([worker("slow", 200), worker("fast", 5), worker("late", 5)]);
  expect(begun.toSorted()).toEqual(items.toSorted());
  const countOf = (name: string) => [...done.values()].filter((by) => by === name).length;
  expect(countOf("slow")).toBeLessThan(countOf("fast"));
});

test("few items are taken together, and many in parts of so many", async () => {
  const sizesOf = async (count: number) => {
    const sizes: number[] = [];
    const left = await workInShards(newWork(), itemsOf(count), async (held) => void sizes.push(held.length));
    expect(left).toEqual([]);
    return sizes;
  };
  expect(await sizesOf(0)).toEqual([]);
  expect(await sizesOf(80)).toEqual([80]);
  const sizes = await sizesOf(2_000);
  expect(sizes.reduce((sum, size) => sum + size)).toBe(2_000);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(100);
});

test("other work and another chain have shards of their own", async () => {
  const options = newWork();
  const items = itemsOf(10);
  await workInShards(options, items, async () => {
    expect(await workInShards(options, items, async () => expect.unreachable())).toHaveLength(10);
    for (const other of [newWork(), { ...options, chainId: 2 }])
      expect(await workInShards(other, items, async () => undefined)).toEqual([]);
  });
});

test("shards of a worker that was killed with SIGKILL are taken over at once", async () => {
  const options = newWork();
  const items = itemsOf(20);
  const holder = fork(HOLDER, [db.$client.options.connectionString ?? "", options.name, ...items]);
  const [held] = (await once(holder, "message")) as [readonly string[]];
  expect(held.toSorted()).toEqual(items.toSorted());
  expect(await workInShards(options, items, async () => expect.unreachable())).toHaveLength(20);
  holder.kill("SIGKILL");
  await untilFree(options, items);
});

test("work that fails leaves its shards to others, and its error is thrown", async () => {
  const options = newWork();
  const items = itemsOf(10);
  const failing = workInShards(options, items, () => Promise.reject(new Error("broken")));
  await expect(failing).rejects.toThrow("broken");
  await untilFree(options, items);
});

test("work is notified when the connection is lost that holds its locks, and no further part begins", async () => {
  const options = newWork(10);
  let parts = 0;
  const run = workInShards(options, itemsOf(100), async (_, signal) => {
    parts += 1;
    await db.$client.query(
      `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and pid <> pg_backend_pid()
       and database = (select oid from pg_database where datname = current_database())`,
    );
    if (!signal.aborted) await once(signal, "abort");
  });
  await expect(run).rejects.toThrow();
  expect(parts).toBe(1);
});
