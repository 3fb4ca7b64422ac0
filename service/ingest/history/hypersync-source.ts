import { type Address, type Hex, pad } from "viem";
import { z } from "zod";
import { word } from "../../chain/node/rpc-answers.ts";
import { type AskPolicy, askJson, isFailure, readAs } from "./ask-source.ts";
import { type AskPortions, answersOf, BATCH_POLICY } from "./batch-answers.ts";
import { anyCount, type BlockRows, type L1Fee, readRows } from "./batch-rows.ts";
import { BELIEVED_LOGS, NAMING_LOGS, SAFE_LOGS, walletsPart, wholeBlock } from "./batch-select.ts";
import type { BatchSource, BlockRange, WalletsRequest } from "./batch-source.ts";
import { type HistoryFailure, historyFailure } from "./history.ts";

/** As the vendor's own indexer asks for; at about 250 bytes a wallet, a query stays below the server's 2 MiB. */
const MAX_WALLETS = 5_000;

const blockRows = z.array(z.looseObject({ number: anyCount })).nullish();
const otherRows = z.array(z.looseObject({ block_number: anyCount })).nullish();
const chunk = z.object({ blocks: blockRows, transactions: otherRows, logs: otherRows });
const pageSchema = z.object({
  data: z.union([z.array(chunk), chunk.transform((one) => [one])]),
  next_block: anyCount,
  /** Only near the head: the last block that was read, and the first one's parent. */
  rollback_guard: z
    .object({ block_number: anyCount, hash: word, first_block_number: anyCount, first_parent_hash: word })
    .nullish(),
});
const heightSchema = z.object({ height: anyCount.nullable() });

type Page = z.infer<typeof pageSchema>;
type Row = Readonly<Record<string, unknown>>;
/** Blocks of an answer by number, by the names of JSON-RPC. */
type Named = { header: Row | null; readonly transactions: Row[]; readonly logs: Row[] };

/** Whether the server or we have no room for the answer. */
const TOO_LARGE = { data: null } as const;
type AskPage = (range: BlockRange) => Promise<Page | typeof TOO_LARGE | HistoryFailure>;
/** Returns a page that begins at or before the first block and ends after it. */
type Query = (range: BlockRange) => Promise<Page | HistoryFailure>;

/**
 * Batches from HyperSync by its documented JSON interface, `POST /query`, so that its native client is not needed. The protocol is that
 * of hypersync-client-rust 1.0.1. Own transactions of wallets come with all their logs. Transactions of others that name wallets come
 * without: an airdrop to one wallet can have hundreds of logs.
 */
export function createHyperSyncSource(options: {
  /** URL of the chain's server, as https://base.hypersync.xyz. */
  readonly url: string;
  /** Null for a server that wants none. */
  readonly token: string | null;
  readonly l1Fee: L1Fee;
  readonly policy?: AskPolicy;
}): BatchSource {
  const { url, token, l1Fee, policy = BATCH_POLICY } = options;
  const headers = token === null ? {} : { authorization: `Bearer ${token}` };
  const queryOf = (selection: object, signal: AbortSignal): Query =>
    createQuery((range) => {
      const body = { from_block: range.from, to_block: range.to + 1, ...selection };
      const read = (json: unknown) => readAs(pageSchema, json, "an answer of another form");
      // Tries are counted where the answers are put together.
      const once = { ...policy, tries: 1 };
      const asked = { policy: once, signal, headers, body, tooLarge: TOO_LARGE };
      return askJson<Page | typeof TOO_LARGE>(new URL("/query", url), read, asked);
    });
  return {
    name: "hypersync",
    maxWallets: MAX_WALLETS,
    newestBlock: (signal) => {
      const read = (json: unknown): { readonly number: number } | HistoryFailure => {
        const answer = readAs(heightSchema, json, "the server returned no height");
        if (isFailure(answer)) return answer;
        return answer.height === null
          ? historyFailure("behind", "the server has no height")
          : { number: answer.height };
      };
      return askJson(new URL("/height", url), read, { policy, signal, headers });
    },
    readWallets: (request, signal) => {
      const queries = [ownSelection(request, l1Fee), namingSelection(request, l1Fee)];
      const ask = portionsOf(
        request,
        queries.map((selection) => queryOf(selection, signal)),
        l1Fee,
      );
      return answersOf(request, { ask, select: walletsPart(request), policy }, signal);
    },
    readBlocks: (range, signal) => {
      const fields = { field_selection: fieldsOf([...TRANSACTION, "input"], l1Fee) };
      const everything = { join_mode: "JoinAll", include_all_blocks: true, transactions: [{}], ...fields };
      const ask = portionsOf(range, [queryOf(everything, signal)], l1Fee);
      return answersOf(range, { ask, select: wholeBlock, policy, everyBlock: true }, signal);
    },
  };
}

const TRANSACTION = [
  ...[
    "block_number",
    "block_hash",
    "transaction_index",
    "hash",
    "from",
    "to",
    "nonce",
    "type",
    "value",
    "gas",
  ],
  ...["gas_used", "effective_gas_price", "status", "contract_address"],
];

function fieldsOf(transaction: readonly string[], l1Fee: L1Fee) {
  return {
    block: ["number", "hash", "parent_hash", "timestamp", "base_fee_per_gas"],
    transaction: l1Fee === "paid" ? [...transaction, "l1_fee"] : transaction,
    log: [
      ...["block_number", "block_hash", "log_index", "transaction_hash", "address", "data"],
      ...["topic0", "topic1", "topic2", "topic3", "removed"],
    ],
  };
}

/** Transactions that wallets sent or acted in, with all their logs. Empty lists match everything, so none is sent. */
function ownSelection({ wallets, tokens, entryPoints }: WalletsRequest, l1Fee: L1Fee) {
  const emitters = { tokens, entryPoints };
  const believed = BELIEVED_LOGS.filter(({ by }) => emitters[by].length > 0);
  return {
    join_mode: "JoinAll",
    transactions: [{ from: wallets }],
    logs: [
      ...believed.map(({ place, events, by }) => ({
        address: emitters[by],
        topics: topicsOf(place, events, wallets),
      })),
      { address: wallets, topics: [SAFE_LOGS] },
    ],
    field_selection: fieldsOf([...TRANSACTION, "input"], l1Fee),
  };
}

/** Logs that name wallets, and transactions sent to wallets; the calldata of those, and of those around the logs, is not wanted. */
function namingSelection({ wallets }: WalletsRequest, l1Fee: L1Fee) {
  return {
    join_mode: "Default",
    transactions: [{ to: wallets }],
    logs: NAMING_LOGS.map(({ place, events }) => ({ topics: topicsOf(place, events, wallets) })),
    field_selection: fieldsOf(TRANSACTION, l1Fee),
  };
}

/** An empty list of a place matches any topic. */
function topicsOf(place: number, events: readonly Hex[], wallets: readonly Address[]) {
  const between = Array.from({ length: place - 1 }, () => []);
  return [events, ...between, wallets.map((wallet) => pad(wallet))];
}

/** Asks page by page; a page is kept while its blocks are wanted, and halved where no answer has room for it. */
function createQuery(ask: AskPage): Query {
  let span = Number.POSITIVE_INFINITY;
  let held: { readonly from: number; readonly page: Page } | null = null;
  return async ({ from, to }) => {
    if (held !== null && held.from <= from && from < held.page.next_block) return held.page;
    for (;;) {
      const end = Math.min(to, from + span - 1);
      const page = await ask({ from, to: end });
      if (isFailure(page)) return page;
      if (page.data === null) {
        if (end === from) return historyFailure("refused", `no answer has room for block ${from}`);
        span = Math.ceil((end - from) / 2);
        continue;
      }
      if (page.next_block <= from)
        return historyFailure("behind", `the server does not have block ${from} yet`);
      const fault = faultOf(page, { end, before: held?.page ?? null });
      if (fault !== null) return historyFailure("inconsistent", fault);
      span *= 2;
      held = { from, page };
      return page;
    }
  };
}

function faultOf(
  { next_block: next, rollback_guard: guard }: Page,
  { end, before }: { readonly end: number; readonly before: Page | null },
): string | null {
  if (next > end + 1) return `asked for blocks to ${end}, got them to ${next - 1}`;
  const known = before?.rollback_guard;
  const follows = known && guard?.first_block_number === known.block_number + 1;
  if (!follows || guard.first_parent_hash === known.hash) return null;
  return `the parent of block ${guard.first_block_number} is ${guard.first_parent_hash}, and block ${known.block_number} is ${known.hash}`;
}

/** Portions of the blocks that all queries have answered. */
function portionsOf(range: BlockRange, queries: readonly Query[], l1Fee: L1Fee): AskPortions {
  return async function* ask(from) {
    let { to } = range;
    const pages: Page[] = [];
    for (const query of queries) {
      const page = await query({ from, to });
      if (isFailure(page)) {
        yield page;
        return;
      }
      pages.push(page);
      to = Math.min(to, page.next_block - 1);
    }
    const blocks: BlockRows[] = [];
    for (const named of blocksOf(pages, { from, to })) {
      const block =
        named.header === null
          ? historyFailure("inconsistent", "rows of a block without it")
          : readRows(named, l1Fee);
      if (isFailure(block)) {
        yield block;
        return;
      }
      blocks.push(block);
    }
    yield { kind: "portion", blocks, to };
  };
}

/** By rising number. A hash that differs from the header's is found when the rows are read. */
function blocksOf(pages: readonly Page[], { from, to }: BlockRange): readonly Named[] {
  const blocks = new Map<number, Named>();
  const at = (number: number): Named | null => {
    if (number < from || number > to) return null;
    const block = blocks.get(number) ?? { header: null, transactions: [], logs: [] };
    blocks.set(number, block);
    return block;
  };
  for (const { blocks: headers, transactions, logs } of pages.flatMap(({ data }) => data)) {
    for (const row of headers ?? []) {
      const block = at(row.number);
      if (block !== null) block.header = named(row);
    }
    for (const row of transactions ?? []) at(row.block_number)?.transactions.push(named(row));
    for (const row of logs ?? []) {
      const topics = [row.topic0, row.topic1, row.topic2, row.topic3].filter(
        (topic) => (topic ?? null) !== null,
      );
      at(row.block_number)?.logs.push({ ...named(row), topics });
    }
  }
  return [...blocks].toSorted(([a], [b]) => a - b).map(([, block]) => block);
}

/** Names of JSON-RPC by those of HyperSync. */
const NAMES: ReadonlyMap<string, string> = new Map(
  Object.values(fieldsOf([...TRANSACTION, "input"], "paid"))
    .flat()
    .map((name) => [name, name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())]),
);

function named(row: Row): Row {
  const renamed: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(row)) renamed[NAMES.get(name) ?? name] = value;
  return renamed;
}
