import { type Address, pad } from "viem";
import type { ChainReader, LogFilter } from "./chain-reader.ts";
import type { EnrichLimits } from "./context.ts";
import {
  APPROVAL,
  APPROVAL_FOR_ALL,
  SAFE_FAILURE,
  SAFE_SUCCESS,
  TRANSFER,
  TRANSFER_BATCH,
  TRANSFER_SINGLE,
  USER_OPERATION,
} from "./event-topics.ts";
import { EnrichFailure } from "./failure.ts";
import { mapLimited } from "./map-limited.ts";
import type { RawLog } from "./raw-log.ts";

type LogRange = { readonly from: number; readonly to: number; readonly wallets: readonly Address[] };

/**
 * Every log of the range that names one of the wallets where its event has the party, and what Safes among them say of
 * themselves: four requests per chunk of wallets, whatever strangers log. In the order of the chain, each once.
 */
export async function readLogs(
  client: ChainReader,
  range: LogRange,
  limits: EnrichLimits,
): Promise<readonly RawLog[]> {
  const { from, to } = range;
  const filters = chunksOf(range.wallets, limits.maxWallets).flatMap(filtersOf);
  const found = new Map<number, Map<number, RawLog>>();
  let count = 0;
  await mapLimited(filters, limits.concurrency, async (filter) => {
    const logs = await client.logs({ from, to, ...filter });
    for (const log of logs) {
      requireWithin(log, range);
      const block = found.get(log.blockNumber) ?? new Map<number, RawLog>();
      found.set(log.blockNumber, block.set(log.logIndex, log));
    }
    count += logs.length;
    if (count > limits.maxLogs && to > from)
      throw new EnrichFailure(
        "too_many_results",
        `more than ${limits.maxLogs} logs in blocks ${from} to ${to}`,
      );
  });
  return [...found.values()]
    .flatMap((block) => [...block.values()])
    .toSorted((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex);
}

/** The place of a topic decides what it means, so events are grouped by where they have the wallet. */
function filtersOf(wallets: readonly Address[]): readonly Omit<LogFilter, "from" | "to">[] {
  const parties = wallets.map((wallet) => pad(wallet));
  return [
    { topics: [[TRANSFER, APPROVAL, APPROVAL_FOR_ALL], parties] },
    { topics: [[TRANSFER, TRANSFER_SINGLE, TRANSFER_BATCH, USER_OPERATION], null, parties] },
    { topics: [[TRANSFER_SINGLE, TRANSFER_BATCH], null, null, parties] },
    { addresses: wallets, topics: [[SAFE_SUCCESS, SAFE_FAILURE]] },
  ];
}

function chunksOf<Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}

/** Throws an EnrichFailure for a log outside the blocks that were asked for. */
export function requireWithin(log: RawLog, { from, to }: Pick<LogFilter, "from" | "to">): void {
  if (log.blockNumber >= from && log.blockNumber <= to) return;
  throw new EnrichFailure(
    "inconsistent",
    `asked for blocks ${from} to ${to}, got a log of block ${log.blockNumber}`,
  );
}
