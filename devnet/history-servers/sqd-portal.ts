import { type Answered, type FaultOf, type HistoryServer, serveAnswers } from "./http-server.ts";
import {
  listOf,
  matches,
  type RpcObject,
  type ServedBlock,
  type ServedChain,
  type WantedValues,
} from "./served-chain.ts";

const MAX_BODY_BYTES = 262_144;
const MAX_ITEMS = 100;
/** Blocks between the lines that hold a header alone, as at the edges of stored chunks. */
const HEADER_EVERY = 97;

/** JSON-RPC names of fields that the portal gives as numbers; all other quantities are hexadecimal. */
const NUMBERS = new Set(["number", "timestamp", "transactionIndex", "nonce", "type", "status", "logIndex"]);
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  block: [
    "number",
    "hash",
    "parentHash",
    "timestamp",
    "baseFeePerGas",
    "miner",
    "gasUsed",
    "gasLimit",
    "size",
  ],
  transaction: [
    ...[
      "transactionIndex",
      "hash",
      "from",
      "to",
      "nonce",
      "type",
      "value",
      "input",
      "gas",
      "gasPrice",
      "gasUsed",
    ],
    ...["cumulativeGasUsed", "effectiveGasPrice", "status", "contractAddress", "l1Fee", "maxFeePerGas"],
    ...["maxPriorityFeePerGas", "sighash", "chainId"],
  ],
  log: ["logIndex", "transactionIndex", "transactionHash", "address", "topics", "data"],
};
const ITEM_KEYS: Readonly<Record<string, readonly string[]>> = {
  transactions: ["from", "to", "sighash", "firstNonce", "lastNonce", "logs", "traces", "stateDiffs"],
  logs: [
    ...["address", "topic0", "topic1", "topic2", "topic3", "transaction", "transactionLogs"],
    ...["transactionTraces", "transactionStateDiffs"],
  ],
};
const KEYS = [
  "type",
  "fromBlock",
  "toBlock",
  "parentBlockHash",
  "includeAllBlocks",
  "fields",
  "transactions",
  "logs",
];

type Item = Readonly<Record<string, unknown>>;
type Query = {
  readonly fromBlock: number;
  readonly toBlock?: number;
  readonly includeAllBlocks?: boolean;
  readonly fields?: Readonly<Record<string, Readonly<Record<string, boolean>>>>;
  readonly transactions?: readonly Item[];
  readonly logs?: readonly Item[];
};

/**
 * An SQD Portal of one dataset, /datasets/local: its finalized stream and head, by the rules of sqd-portal 0.11.9. Answers end after
 * `blocksPerAnswer` blocks, or with the block that makes them `bytesPerAnswer` long.
 */
export async function startSqdPortal(options: {
  readonly chain: ServedChain;
  readonly blocksPerAnswer: number;
  readonly bytesPerAnswer?: number;
  readonly port?: number;
  readonly faultOf?: FaultOf;
}): Promise<HistoryServer & { readonly url: string }> {
  const { chain } = options;
  const server = await serveAnswers(
    async ({ path, body }) => {
      if (path === "/datasets/local/finalized-head") {
        const number = await chain.finalized();
        return json({ number, hash: (await chain.read(number))?.block.hash });
      }
      if (path !== "/datasets/local/finalized-stream") return { status: 404, body: "Unknown dataset" };
      return answerQuery(body, options);
    },
    { gzip: true, ...options },
  );
  return { ...server, url: `${server.origin}/datasets/local` };
}

async function answerQuery(
  body: string,
  {
    chain,
    blocksPerAnswer,
    bytesPerAnswer = Number.POSITIVE_INFINITY,
  }: Pick<Parameters<typeof startSqdPortal>[0], "chain" | "blocksPerAnswer" | "bytesPerAnswer">,
): Promise<Answered> {
  if (Buffer.byteLength(body) > MAX_BODY_BYTES) return badRequest("Query is too large");
  const query = JSON.parse(body) as Query;
  const fault = faultOf(query);
  if (fault !== null) return badRequest(fault);
  const head = await chain.finalized();
  const { fromBlock: from, toBlock = head } = query;
  if (from > head) return { status: 204, body: "" };
  const to = Math.min(toBlock, head, from + blocksPerAnswer - 1);
  const items = itemsOf(query);
  const lines: string[] = [];
  let bytes = 0;
  for (const number of blocksOf(query, chain, { from, to })) {
    const served = await chain.read(number);
    if (served === null) continue;
    const isEdge = number === from || number === to || number % HEADER_EVERY === 0;
    const line = lineOf(served, query, items);
    const hasRows = line.transactions !== undefined || line.logs !== undefined;
    if (!isEdge && query.includeAllBlocks !== true && !hasRows) continue;
    const text = `${JSON.stringify(line)}\n`;
    lines.push(text);
    bytes += text.length;
    // A line of a block ends the answer: the next query starts after it.
    if (bytes >= bytesPerAnswer) break;
  }
  const headers = { "content-type": "application/jsonl", "x-sqd-finalized-head-number": String(head) };
  return { status: 200, body: lines.join(""), headers };
}

/** Both ends, and every block between that may have rows. */
function blocksOf(
  query: Query,
  { naming }: ServedChain,
  range: { from: number; to: number },
): Iterable<number> {
  const items = [...(query.transactions ?? []), ...(query.logs ?? [])];
  const isOpen = query.includeAllBlocks === true || items.some((item) => accountsOf(item).length === 0);
  if (naming === undefined || isOpen)
    return Array.from({ length: range.to - range.from + 1 }, (_, place) => range.from + place);
  const accounts = new Set(items.flatMap(accountsOf));
  const named = new Set([range.from, ...naming(accounts, range), range.to]);
  return [...named].toSorted((a, b) => a - b);
}

const WORD_START = `0x${"0".repeat(24)}`;

function accountsOf({ from, to, address, topic1, topic2, topic3 }: Item): readonly string[] {
  return [from, to, topic1 ?? topic2 ?? topic3 ?? address].flatMap((list) =>
    Array.isArray(list) ? list.map((one) => String(one).toLowerCase().replace(WORD_START, "0x")) : [],
  );
}

function faultOf(query: Query): string | null {
  const unknown = Object.keys(query).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) return `unknown field \`${unknown}\``;
  const { fromBlock, toBlock = fromBlock } = query;
  if (toBlock < fromBlock) return `got "toBlock" < "fromBlock"`;
  const items = (["transactions", "logs"] as const).flatMap((table) =>
    (query[table] ?? []).map((item) => [table, item] as const),
  );
  if (items.length > MAX_ITEMS)
    return `query contains ${items.length} item requests, but only ${MAX_ITEMS} is allowed`;
  for (const [table, item] of items)
    for (const key of Object.keys(item))
      if (!ITEM_KEYS[table]?.includes(key)) return `unknown field \`${key}\``;
  for (const [table, fields] of Object.entries(query.fields ?? {}))
    for (const field of Object.keys(fields))
      if (!FIELDS[table]?.includes(field)) return `unknown field \`${field}\``;
  return null;
}

/** The items of a query with their lists as sets. */
function itemsOf(query: Query) {
  return {
    transactions: (query.transactions ?? []).map((item) => ({
      from: listOf(item.from),
      to: listOf(item.to),
      logs: item.logs === true,
    })),
    logs: (query.logs ?? []).map((item) => ({
      address: listOf(item.address),
      topics: [item.topic0, item.topic1, item.topic2, item.topic3].map(listOf),
      transaction: item.transaction === true,
      transactionLogs: item.transactionLogs === true,
    })),
  };
}

function lineOf({ block, receipts }: ServedBlock, { fields = {} }: Query, items: ReturnType<typeof itemsOf>) {
  const logs = receipts.flatMap((receipt) => receipt.logs);
  const whole = new Set<unknown>();
  const sent = new Set<unknown>();
  const single = new Set<unknown>();
  for (const { hash, ...transaction } of block.transactions) {
    const chosen = items.transactions.filter(
      ({ from, to }) => matches(from, transaction.from) && matches(to, transaction.to),
    );
    if (chosen.length > 0) sent.add(hash);
    if (chosen.some((item) => item.logs)) whole.add(hash);
  }
  for (const log of logs) {
    const topics = log.topics as readonly unknown[];
    const named = items.logs.filter(
      (item) =>
        matches(item.address, log.address) &&
        item.topics.every((list: WantedValues, place) => matches(list, topics[place])),
    );
    if (named.length > 0) single.add(log);
    if (named.some((item) => item.transaction)) sent.add(log.transactionHash);
    if (named.some((item) => item.transactionLogs)) whole.add(log.transactionHash);
  }
  const transactions = block.transactions.flatMap((transaction, place) =>
    sent.has(transaction.hash) ? [rowOf({ ...transaction, ...receipts[place] }, fields.transaction)] : [],
  );
  const chosen = logs.filter((log) => single.has(log) || whole.has(log.transactionHash));
  return {
    header: rowOf(block, fields.block),
    // A list without rows is absent.
    ...(transactions.length === 0 ? {} : { transactions }),
    ...(chosen.length === 0 ? {} : { logs: chosen.map((log) => rowOf(log, fields.log)) }),
  };
}

function rowOf(row: RpcObject, fields: Readonly<Record<string, boolean>> = {}) {
  return Object.fromEntries(
    Object.keys(fields).map((name) => {
      const value = row[name] ?? null;
      return [name, value !== null && NUMBERS.has(name) ? Number(value) : value];
    }),
  );
}

function badRequest(detail: string): Answered {
  return { status: 400, body: `Bad request: ${detail}` };
}

function json(value: unknown): Answered {
  return { status: 200, body: JSON.stringify(value), headers: { "content-type": "application/json" } };
}
