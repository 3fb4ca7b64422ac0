import type { Address, Hex } from "viem";
import type { ChainReader } from "../../chain/node/chain-reader.ts";
import { createHistoryReader, HISTORY_LIMITS } from "../../ingest/history/history-reader.ts";
import type { HistorySource } from "../../ingest/history/history-source.ts";
import type { AsOf } from "../../model/features/types.ts";
import { mapLimited } from "../../net/map-limited.ts";

type OwnTransaction = { readonly hash: Hex; readonly block: number };

export type Search = {
  /** Lower-case. */
  readonly wallet: Address;
  readonly asOf: AsOf;
  /** First block to look at. */
  readonly fromBlock: number;
  /** Unix seconds of that block. */
  readonly fromTimestamp: number;
};

/** Every transaction that the wallet sent, from a block on up to the as-of block, in any order. */
export type FindOwnTransactions = (search: Search) => Promise<readonly OwnTransaction[]>;

/** Most pages of one search: whoever verifies has more patience than a caller of the API. */
const MOST_PAGES = 10_000;
const MOST_TRANSACTIONS = 1_000_000;
const LONGEST_MS = 3_600_000;
const AT_ONCE = 8;

/** Asks a history source; throws when it fails, or when it does not reach back far enough. */
export function searchSource(source: HistorySource, now: () => number): FindOwnTransactions {
  return async ({ wallet, asOf, fromBlock, fromTimestamp }) => {
    const limits = {
      ...HISTORY_LIMITS,
      maxPages: MOST_PAGES,
      maxTransactions: MOST_TRANSACTIONS,
      maxKeptCalls: MOST_TRANSACTIONS,
      answerMs: LONGEST_MS,
      readMs: LONGEST_MS,
    };
    const reader = createHistoryReader({ source, now, limits });
    try {
      const edge = { kind: "since", timestamp: fromTimestamp } as const;
      const history = await reader.read({ wallet, asOf, edge });
      if (history.kind === "running") throw new Error(`${source.name} gave no answer within an hour`);
      if (history.kind === "failed") throw new Error(`${source.name}: ${history.detail}`);
      return history.calls
        .filter(({ blockNumber }) => blockNumber >= fromBlock)
        .map(({ hash, blockNumber }) => ({ hash, block: blockNumber }));
    } finally {
      await reader.close();
    }
  };
}

/** Reads the receipts of every block, for a node that cannot search; throws an EnrichFailure when one is missing. */
export function scanBlocks(client: Pick<ChainReader, "blockReceipts">): FindOwnTransactions {
  return async ({ wallet, asOf, fromBlock }) => {
    const numbers = Array.from({ length: asOf.blockNumber - fromBlock + 1 }, (_, at) => fromBlock + at);
    const found = await mapLimited(numbers, AT_ONCE, async (block) => {
      const receipts = (await client.blockReceipts(block)) ?? [];
      return receipts
        .filter(({ from }) => from === wallet)
        .map(({ transactionHash }) => ({ hash: transactionHash, block }));
    });
    return found.flat();
  };
}
