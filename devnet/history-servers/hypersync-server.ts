import { type Answered, type FaultOf, type HistoryServer, serveAnswers } from "./http-server.ts";
import { hexOf, type RpcObject, type ServedBlock, type ServedChain } from "./served-chain.ts";

const MAX_BODY_BYTES = 2_097_152;
const UUID = /^Bearer [0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Fields by their JSON-RPC names that the server gives as numbers; all other quantities are hexadecimal. */
const NUMBERS = new Set(["number", "blockNumber", "transactionIndex", "type", "status", "logIndex"]);
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  block: ["number", "hash", "parent_hash", "timestamp", "base_fee_per_gas", "gas_used", "gas_limit", "miner"],
  transaction: [
    ...["block_hash", "block_number", "from", "gas", "gas_price", "hash", "input", "nonce", "to", "type"],
    ...["transaction_index", "value", "cumulative_gas_used", "effective_gas_price", "gas_used"],
    ...["contract_address", "status", "sighash", "l1_fee", "max_fee_per_gas", "max_priority_fee_per_gas"],
  ],
  log: [
    ...["removed", "log_index", "transaction_index", "transaction_hash", "block_hash", "block_number"],
    ...["address", "data", "topic0", "topic1", "topic2", "topic3"],
  ],
};

type Selection = Readonly<Record<string, unknown>>;
type Query = {
  readonly from_block: number;
  readonly to_block?: number;
  readonly include_all_blocks?: boolean;
  readonly join_mode?: "Default" | "JoinAll" | "JoinNothing";
  readonly transactions?: readonly Selection[];
  readonly logs?: readonly Selection[];
  readonly field_selection: Readonly<Record<string, readonly string[]>>;
};

/** A HyperSync server: its JSON query and height, by the rules of hypersync-client-rust 1.0.1. Answers end after `blocksPerAnswer` blocks. */
export async function startHyperSyncServer(options: {
  readonly chain: ServedChain;
  readonly blocksPerAnswer: number;
  readonly port?: number;
  readonly faultOf?: FaultOf;
}): Promise<HistoryServer & { readonly url: string }> {
  const server = await serveAnswers(
    async ({ path, headers, body }) => {
      if (path === "/height") return json({ height: await options.chain.finalized() });
      if (path !== "/query") return { status: 404, body: "" };
      if (!UUID.test(headers.authorization ?? ""))
        return { ...json({ error: "Your token is malformed." }), status: 401 };
      if (Buffer.byteLength(body) > MAX_BODY_BYTES)
        return { status: 413, body: `request body exceeds ${MAX_BODY_BYTES} bytes` };
      return answerQuery(JSON.parse(body) as Query, options);
    },
    { gzip: false, ...options },
  );
  return { ...server, url: server.origin };
}

async function answerQuery(
  query: Query,
  { chain, blocksPerAnswer }: { readonly chain: ServedChain; readonly blocksPerAnswer: number },
): Promise<Answered> {
  for (const [table, fields] of Object.entries(query.field_selection))
    for (const field of fields)
      if (!FIELDS[table]?.includes(field)) return { status: 400, body: `unknown variant \`${field}\`` };
  const head = await chain.finalized();
  const { from_block: from, to_block: end = head + 1 } = query;
  const next = Math.max(from, Math.min(end, head + 1, from + blocksPerAnswer));
  const found: Rows[] = [];
  for (const number of blocksOf(query, chain, { from, to: next - 1 })) {
    const served = await chain.read(number);
    if (served !== null) found.push(rowsOf(served, query));
  }
  return json({
    data: chunksOf(found),
    archive_height: head,
    next_block: next,
    total_execution_time: 1,
    rollback_guard: next > from ? await guardOf(chain, { from, to: next - 1, head }) : null,
  });
}

/** Blocks below the head from which on answers have a guard against reorganisations. */
const GUARDED_BLOCKS = 128;

async function guardOf(chain: ServedChain, { from, to, head }: { from: number; to: number; head: number }) {
  const [first, last] = [await chain.read(from), await chain.read(to)];
  if (to < head - GUARDED_BLOCKS || first === null || last === null) return null;
  return {
    block_number: to,
    timestamp: Number(last.block.timestamp),
    hash: last.block.hash,
    first_block_number: from,
    first_parent_hash: first.block.parentHash,
  };
}

type Rows = Readonly<Record<"blocks" | "transactions" | "logs", readonly RpcObject[]>>;

/** Even blocks in a chunk after the odd ones, newest first: no order is promised. */
function chunksOf(found: readonly Rows[]): readonly Rows[] {
  const parts = [found.filter((_, place) => place % 2 === 1), found.filter((_, place) => place % 2 === 0)];
  return parts
    .map((part) => {
      const rows = part.toReversed();
      return {
        blocks: rows.flatMap(({ blocks }) => blocks),
        transactions: rows.flatMap(({ transactions }) => transactions),
        logs: rows.flatMap(({ logs }) => logs),
      };
    })
    .filter(({ blocks, logs }) => blocks.length + logs.length > 0);
}

function blocksOf(
  query: Query,
  { naming }: ServedChain,
  range: { from: number; to: number },
): Iterable<number> {
  const selections = [...(query.transactions ?? []), ...(query.logs ?? [])];
  const isOpen = query.include_all_blocks === true || selections.some((one) => accountsOf(one).length === 0);
  if (naming === undefined || isOpen)
    return Array.from({ length: range.to - range.from + 1 }, (_, place) => range.from + place);
  return naming(new Set(selections.flatMap(accountsOf)), range);
}

const WORD_START = `0x${"0".repeat(24)}`;

function accountsOf({ from, to, address, topics }: Selection): readonly string[] {
  const [, ...named] = Array.isArray(topics) ? topics : [];
  const lists = named.some((list) => list.length > 0) ? named : [from, to, address];
  return lists.flatMap((list) =>
    Array.isArray(list) ? list.map((one) => String(one).toLowerCase().replace(WORD_START, "0x")) : [],
  );
}

function rowsOf({ block, receipts }: ServedBlock, query: Query): Rows {
  const { join_mode: mode = "Default", field_selection: fields } = query;
  const logs = receipts.flatMap((receipt) => receipt.logs);
  const sent = new Set(
    block.transactions
      .filter(({ from, to }) =>
        query.transactions?.some((one) => matches(one.from, from) && matches(one.to, to)),
      )
      .map(({ hash }) => hash),
  );
  const named = new Set(logs.filter((log) => query.logs?.some((one) => matchesLog(one, log))));
  if (mode !== "JoinNothing") for (const log of named) sent.add(log.transactionHash);
  const mined = block.transactions.map((transaction, place) => ({ ...transaction, ...receipts[place] }));
  const transactions = mined.filter(({ hash }) => sent.has(hash));
  const chosen = logs.filter(
    (log) => named.has(log) || (mode === "JoinAll" && sent.has(log.transactionHash)),
  );
  const isShown = transactions.length + chosen.length > 0 && mode !== "JoinNothing";
  return {
    blocks: isShown || query.include_all_blocks === true ? [rowOf(block, fields.block)] : [],
    transactions: transactions.map((transaction) => rowOf(transaction, fields.transaction)),
    logs: chosen.map((log) => {
      const [topic0, topic1, topic2, topic3] = log.topics as readonly unknown[];
      return rowOf({ ...log, topic0, topic1, topic2, topic3 }, fields.log);
    }),
  };
}

function matchesLog({ address, topics }: Selection, log: RpcObject): boolean {
  const given = log.topics as readonly unknown[];
  const lists: readonly unknown[] = Array.isArray(topics) ? topics : [];
  return matches(address, log.address) && lists.every((list, place) => matches(list, given[place]));
}

/** A missing list matches everything, and so does an empty one. */
function matches(list: unknown, value: unknown): boolean {
  if (!Array.isArray(list) || list.length === 0) return true;
  const wanted = hexOf(value);
  return wanted !== null && list.some((one) => hexOf(one) === wanted);
}

/** Missing values are left out. */
function rowOf(row: RpcObject, fields: readonly string[] = []): RpcObject {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const name = field.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
      const value = row[name] ?? null;
      return value === null ? [] : [[field, NUMBERS.has(name) ? Number(value) : value]];
    }),
  );
}

function json(value: unknown): Answered {
  return { status: 200, body: JSON.stringify(value), headers: { "content-type": "application/json" } };
}
