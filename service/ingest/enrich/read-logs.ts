import { type Address, type Hex, pad } from "viem";
import type { ChainReader, LogFilter } from "../../chain/node/chain-reader.ts";
import { NodeFailure } from "../../chain/node/failure.ts";
import {
  APPROVAL,
  APPROVAL_FOR_ALL,
  AUTHORIZATION_USED,
  type RawLog,
  SAFE_FAILURE,
  SAFE_SUCCESS,
  TRANSFER,
  TRANSFER_BATCH,
  TRANSFER_SINGLE,
  USER_OPERATION,
} from "../../chain/node/rpc-answers.ts";
import { mapLimited } from "../../net/map-limited.ts";
import type { EnrichLimits } from "./context.ts";
import { type IsOversized, orOversized } from "./read-receipts.ts";

/**
 * Reads every log of the range that names a wallet at its event's place for a party, and logs of Safes among them, in the
 * order of the chain; used authorizations of believed tokens alone. If the answer is too large, it asks in parts, down to one event of one wallet, then of believed
 * contracts alone. Logs of `unread` wallets are missing. For several blocks that is a failure, since smaller ranges exist.
 * If the blocks hold more than `maxLogs` logs, `to` comes before the last one, and `nextBlocks` is about how many fit from there.
 */
export async function readLogs(
  client: Pick<ChainReader, "logs">,
  range: { readonly from: number; readonly to: number; readonly wallets: readonly Address[] },
  {
    limits,
    isOversized,
    believed,
  }: {
    readonly limits: Pick<EnrichLimits, "maxWallets" | "maxLogs" | "concurrency">;
    readonly isOversized: IsOversized;
    /** Trusted contracts, lower-case. */
    readonly believed: { readonly tokens: readonly Address[]; readonly entryPoints: readonly Address[] };
  },
): Promise<{
  readonly to: number;
  readonly nextBlocks: number | null;
  readonly logs: readonly RawLog[];
  readonly unread: ReadonlySet<Address>;
}> {
  const { from } = range;
  let { to } = range;
  let nextBlocks: number | null = null;
  const found = new Map<number, Map<number, RawLog>>();
  const unread = new Set<Address>();
  const read = async (part: Part): Promise<void> => {
    if (part.emitters?.length === 0) return;
    const ask = () => client.logs({ from, to, ...filterOf(part) });
    const logs = from === to ? await orOversized(isOversized, ask) : await ask();
    if (logs === null) {
      const smaller = partsOf(part);
      for (const one of smaller) await read(one);
      if (smaller.length > 0) return;
      for (const wallet of part.wallets) unread.add(wallet);
      if (part.place !== "emitter" && part.emitters === undefined) {
        const { tokens, entryPoints } = believed;
        await read({ ...part, emitters: part.events.includes(USER_OPERATION) ? entryPoints : tokens });
      }
      return;
    }
    for (const log of logs) {
      requireWithin(log, range);
      if (log.blockNumber > to) continue;
      const block = found.get(log.blockNumber) ?? new Map<number, RawLog>();
      found.set(log.blockNumber, block.set(log.logIndex, log));
    }
    const last = lastWithin(found, limits.maxLogs, { from, to });
    if (last === to) return;
    const rest = new Map([...found].filter(([block]) => block > last));
    nextBlocks = lastWithin(rest, limits.maxLogs, { from: last + 1, to }) - last;
    for (const block of rest.keys()) found.delete(block);
    to = last;
  };
  const parts = chunksOf(range.wallets, limits.maxWallets).flatMap((wallets) => [
    ...wholeParts(wallets),
    // Any contract can log one of any account.
    { wallets, place: 1 as const, events: [AUTHORIZATION_USED], emitters: believed.tokens },
  ]);
  await mapLimited(parts, limits.concurrency, read);
  const logs = inOrder([...found.values()].flatMap((block) => [...block.values()]));
  return { to, nextBlocks, logs, unread };
}

/** Last block up to which there are at most so many logs; at least the first block. */
function lastWithin(
  found: ReadonlyMap<number, ReadonlyMap<number, RawLog>>,
  maxLogs: number,
  { from, to }: Pick<LogFilter, "from" | "to">,
): number {
  let count = 0;
  for (const [block, { size }] of [...found].toSorted(([a], [b]) => a - b)) {
    count += size;
    if (count > maxLogs && block > from) return block - 1;
  }
  return to;
}

/** Logs in the order of the chain. */
export function inOrder(logs: readonly RawLog[]): readonly RawLog[] {
  return logs.toSorted((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex);
}

/** Filter of one request: logs of these events with one of the wallets at a place, a topic or the emitter itself. */
type Part = {
  readonly events: readonly Hex[];
  readonly place: 1 | 2 | 3 | "emitter";
  readonly wallets: readonly Address[];
  /** Absent for any contract. */
  readonly emitters?: readonly Address[];
};

/** Requests by topic for each full filter of wallets. */
export const TOPIC_REQUESTS = 5;

/** The place of a topic decides what it means, so events are grouped by where they have the wallet. */
function wholeParts(wallets: readonly Address[]): readonly Part[] {
  return [
    { wallets, place: 1, events: [TRANSFER, APPROVAL, APPROVAL_FOR_ALL] },
    { wallets, place: 2, events: [TRANSFER, TRANSFER_SINGLE, TRANSFER_BATCH, USER_OPERATION] },
    { wallets, place: 3, events: [TRANSFER_SINGLE, TRANSFER_BATCH] },
    { wallets, place: "emitter", events: [SAFE_SUCCESS, SAFE_FAILURE] },
  ];
}

/** Halves of the wallets, then the events of one wallet by themselves; nothing where there is no smaller part. */
function partsOf(part: Part): readonly Part[] {
  const { wallets, events } = part;
  if (wallets.length > 1) {
    return chunksOf(wallets, Math.ceil(wallets.length / 2)).map((half) => ({ ...part, wallets: half }));
  }
  return events.length > 1 ? events.map((event) => ({ ...part, events: [event] })) : [];
}

function filterOf({ events, place, wallets, emitters }: Part): Omit<LogFilter, "from" | "to"> {
  if (place === "emitter") return { addresses: wallets, topics: [events] };
  const anywhere = Array.from({ length: place - 1 }, () => null);
  const topics = [events, ...anywhere, wallets.map((wallet) => pad(wallet))];
  return emitters === undefined ? { topics } : { addresses: emitters, topics };
}

function chunksOf<Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}

/** Throws a NodeFailure for a log outside the blocks that were asked for. */
export function requireWithin(log: RawLog, { from, to }: Pick<LogFilter, "from" | "to">): void {
  if (log.blockNumber >= from && log.blockNumber <= to) return;
  throw new NodeFailure(
    "inconsistent",
    `asked for blocks ${from} to ${to}, got a log of block ${log.blockNumber}`,
  );
}
