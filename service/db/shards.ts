import { hash } from "node:crypto";
import type { ClientBase } from "pg";
import type { Database } from "./database.ts";

/** Parts of all items: many more than workers, so that a fast worker takes more of them than a slow one. */
const SHARDS = 64;

/**
 * Works on the items that no other process works on under this name. Items are divided into shards by hash. A shard is locked
 * while it is worked on, several at once if they hold few items. Work must check what is left to do under the lock.
 * PostgreSQL frees the locks with the connection of a process that dies; work's signal fires when that connection is lost.
 * Returns the items of shards that others held. Throws what the work throws, and the signal's reason between two parts.
 */
export async function workInShards(
  options: {
    readonly db: Database;
    readonly name: string;
    readonly chainId: number;
    /** Items that are taken at once, if one shard does not hold more. */
    readonly atOnce: number;
    readonly signal: AbortSignal;
  },
  items: readonly string[],
  work: (items: readonly string[], signal: AbortSignal) => Promise<void>,
): Promise<readonly string[]> {
  const parts = inParts(items, options.atOnce);
  if (parts.length === 0) return [];
  const client = await options.db.$client.connect();
  const lost = new AbortController();
  const onLost = () => lost.abort(new Error("the connection that holds the locks of shards was lost"));
  client.once("error", onLost);
  const locks = { client, name: `${options.name}:${options.chainId}` };
  const signal = AbortSignal.any([options.signal, lost.signal]);
  const left: string[] = [];
  let isFree = false;
  try {
    for (const part of parts) {
      signal.throwIfAborted();
      const held = await lockShards(locks, [...part.keys()]);
      for (const [shard, those] of part) if (!held.has(shard)) left.push(...those);
      if (held.size === 0) continue;
      await work(
        [...held].flatMap((shard) => part.get(shard) ?? []),
        signal,
      );
      await freeShards(locks, [...held]);
    }
    isFree = true;
  } finally {
    client.off("error", onLost);
    // Closing the connection frees the locks in any state.
    client.release(!isFree);
  }
  return left;
}

/** Items by shard. */
type Part = ReadonlyMap<number, readonly string[]>;

/** Shards together, as many as hold so many items. Each process begins at a shard of its own, by chance. */
function inParts(items: readonly string[], atOnce: number): Part[] {
  const shards = [...Map.groupBy(items, shardOf)];
  const first = Math.floor(Math.random() * shards.length);
  const parts: (readonly (readonly [number, readonly string[]])[])[] = [];
  let count = Number.POSITIVE_INFINITY;
  for (const shard of [...shards.slice(first), ...shards.slice(0, first)]) {
    const size = shard[1].length;
    if (count + size > atOnce) {
      parts.push([shard]);
      count = size;
    } else {
      parts.push([...(parts.pop() ?? []), shard]);
      count += size;
    }
  }
  return parts.map((part) => new Map(part));
}

function shardOf(item: string): number {
  return Number.parseInt(hash("sha256", item, "hex").slice(0, 8), 16) % SHARDS;
}

type Locks = { readonly client: ClientBase; readonly name: string };

const KEY = "hashtextextended($1 || ':' || shard, 0)";

/** Locks those of the shards that no other session holds, and returns them in the given order. */
async function lockShards({ client, name }: Locks, shards: readonly number[]): Promise<ReadonlySet<number>> {
  const { rows } = await client.query<{ shard: number }>(
    `select shard from unnest($2::int[]) as shard where pg_try_advisory_lock(${KEY})`,
    [name, shards],
  );
  return new Set(rows.map(({ shard }) => shard));
}

async function freeShards({ client, name }: Locks, shards: readonly number[]): Promise<void> {
  await client.query(`select pg_advisory_unlock(${KEY}) from unnest($2::int[]) as shard`, [name, shards]);
}
