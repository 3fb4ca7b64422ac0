import fc from "fast-check";
import { type Address, type Hex, pad, toHex } from "viem";
import type {
  HistorySource,
  PageRequest,
  SourcePage,
  SourceRow,
} from "../../../../service/ingest/history/history.ts";
import type { AsOf, OwnCall } from "../../../../service/model/features/types.ts";

export const WALLET: Address = "0x1111111111111111111111111111111111111111";
const OTHER: Address = "0x2222222222222222222222222222222222222222";
const FIRST_BLOCK_TIME = 1_700_000_000;

/** Everything that touches the wallet, oldest first. */
export type SimulatedChain = { readonly rows: readonly SourceRow[]; readonly head: number };

export type Shape = {
  /** Blocks and seconds since the transaction before; whether the transaction is the wallet's own. */
  readonly steps: readonly { readonly blocks: number; readonly seconds: number; readonly own: boolean }[];
};

/** Time passes with blocks alone, and at most as many seconds as given for each step. */
export function chainOf({ steps }: Shape): SimulatedChain {
  const rows: SourceRow[] = [];
  let [block, index, nonce, time] = [1, 0, 0, FIRST_BLOCK_TIME];
  for (const { blocks, seconds, own } of steps) {
    block += blocks;
    index = blocks === 0 ? index + 1 : 0;
    time += blocks === 0 ? 0 : seconds;
    const hash = pad(toHex(rows.length + 1), { size: 32 });
    const row = { hash, blockNumber: block, timestamp: time };
    rows.push({
      ...row,
      own: own ? { nonce: nonce++, call: callAt({ ...row, transactionIndex: index }) } : null,
    });
  }
  return { rows, head: block };
}

/** A chain with a call of the wallet in every so many blocks. */
export function steadyChain(calls: number, blocks = 1): SimulatedChain {
  return chainOf({ steps: Array.from({ length: calls }, () => ({ blocks, seconds: 10, own: true })) });
}

export const chains: fc.Arbitrary<SimulatedChain> = fc
  .array(
    fc.record({
      blocks: fc.integer({ min: 0, max: 3 }),
      seconds: fc.integer({ min: 0, max: 1_000 }),
      own: fc.boolean(),
    }),
    { maxLength: 60 },
  )
  .map((steps) => chainOf({ steps }));

/** The chain as it stood at a block. */
export function asOfBlock({ rows }: SimulatedChain, blockNumber: number): AsOf {
  const newest = rows.findLast((row) => row.blockNumber <= blockNumber);
  return {
    blockNumber,
    blockHash: hashOfBlock(blockNumber),
    timestamp: newest?.timestamp ?? FIRST_BLOCK_TIME,
  };
}

/** Own calls up to a block, newest first. */
export function ownCalls({ rows }: SimulatedChain, blockNumber: number): readonly OwnCall[] {
  return rows
    .flatMap(({ own }) => (own === null ? [] : [own.call]))
    .filter((call) => call.blockNumber <= blockNumber)
    .reverse();
}

/** How a source pages: by page numbers, cutting blocks anywhere, or by blocks, whole ones. */
export type Paging = { readonly by: "number" | "block"; readonly pageSize: number };

/** An honest source in memory: the port's fake. */
export function simulatedSource(chain: SimulatedChain, paging: Paging): HistorySource {
  return {
    name: "simulated",
    checkReach: async () => null,
    readPage: async (request) =>
      paging.by === "number" ? pageByNumber(chain, request, paging) : pageByBlock(chain, request, paging),
    countSent: async ({ asOf }) => ({ count: ownCalls(chain, asOf.blockNumber).length }),
    checkCode: async () => ({ hasCode: false }),
  };
}

function pageByNumber(
  { rows }: SimulatedChain,
  { fromBlock, toBlock, pagesBefore }: PageRequest,
  { pageSize }: Paging,
): SourcePage {
  const inside = rows.filter((row) => row.blockNumber >= fromBlock && row.blockNumber <= toBlock).reverse();
  const page = inside.slice(pagesBefore * pageSize, (pagesBefore + 1) * pageSize);
  return { kind: "page", rows: page, last: page.length === 0 };
}

function pageByBlock(
  { rows }: SimulatedChain,
  { toBlock, oldestBlock }: PageRequest,
  { pageSize }: Paging,
): SourcePage {
  const before = oldestBlock ?? toBlock + 1;
  const older = rows.filter((row) => row.blockNumber < before).reverse();
  const end = older[pageSize - 1]?.blockNumber ?? 0;
  const page = older.filter((row) => row.blockNumber >= end);
  return { kind: "page", rows: page, last: page.length === older.length };
}

function callAt(place: Pick<OwnCall, "hash" | "blockNumber" | "transactionIndex" | "timestamp">): OwnCall {
  return {
    ...{ ...place, position: 0, to: OTHER, selector: null, value: 1n, ok: true },
    ...{ gasLimit: 21_000n, gasUsed: 21_000n, fee: 21_000n, gasPrice: 1n },
    ...{ recipient: null, amount: null, receipt: null },
  };
}

export function hashOfBlock(blockNumber: number): Hex {
  return pad(toHex(blockNumber), { size: 32 });
}
