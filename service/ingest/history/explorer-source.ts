import { z } from "zod";
import { address, word as hash } from "../../chain/node/rpc-answers.ts";
import type { AsOf } from "../../model/features/types.ts";
import {
  ASK_POLICY,
  type AskPolicy,
  askJson,
  bytes,
  decimalBigint,
  decimalNumber,
  isFailure,
  numberedCall,
  readAs,
  readRows,
} from "./ask-source.ts";
import {
  type HistoryFailure,
  type HistorySource,
  historyFailure,
  type PageRequest,
  type SourcePage,
  type SourceRow,
} from "./history.ts";

type ExplorerOptions = {
  /** Endpoint with the query parameters that every request needs, as https://api.etherscan.io/v2/api?chainid=8453. */
  readonly url: string;
  /** Null for explorers that want none. */
  readonly apiKey: string | null;
  /** Rows per page, at most as many as an explorer lets be counted through. */
  readonly pageSize: number;
  readonly policy?: AskPolicy;
  /**
   * Asked of a node: explorers count transactions as of now alone, when more may have been sent. Without it calls that an
   * explorer leaves out at the newest end pass for calls that were never made.
   */
  readonly countSent?: HistorySource["countSent"];
};

const envelopeSchema = z.object({ status: z.string(), message: z.string(), result: z.unknown() });
const rowSchema = z.object({
  hash,
  blockNumber: decimalNumber,
  transactionIndex: decimalNumber,
  timeStamp: decimalNumber,
  from: address,
  to: z.union([z.literal("").transform(() => null), address]).nullish(),
  contractAddress: z.union([z.literal("").transform(() => null), address]).nullish(),
  nonce: decimalNumber,
  value: decimalBigint,
  gas: decimalBigint,
  gasPrice: decimalBigint,
  gasUsed: decimalBigint,
  input: z.union([z.literal("").transform(() => "0x"), bytes]),
  isError: z.enum(["0", "1"]),
  txreceipt_status: z.enum(["", "0", "1"]),
  /** Optimistic rollups only. */
  L1FeesPaid: z.union([z.literal("").transform(() => 0n), decimalBigint]).nullish(),
});
const codeSchema = z
  .object({ jsonrpc: z.string(), result: bytes })
  .transform(({ result }) => ({ hasCode: result !== "0x" }));
/** Etherscan answers the number alone, Blockscout an object around it. */
const blockNumberSchema = z.union([
  decimalNumber.transform((newest) => ({ newest })),
  z.object({ blockNumber: decimalNumber }).transform(({ blockNumber }) => ({ newest: blockNumber })),
]);

const MAX_SHOWN_CHARACTERS = 200;
/** Explorers refuse page × size above this; what is older is asked for by its blocks. */
const COUNTED_ROWS = 10_000;

/** History from an explorer that speaks Etherscan's API: `txlist`, `getblocknobytime` for its reach, and `eth_getCode`. */
export function createExplorerSource(options: ExplorerOptions): HistorySource {
  const { policy = ASK_POLICY, countSent = async () => ({ count: null }) } = options;
  const ask = <Result extends object>(
    query: Record<string, string | number>,
    read: (json: unknown) => Result | HistoryFailure,
    signal: AbortSignal,
  ) => askJson(urlOf(options, query), read, { policy, signal });
  return {
    name: "explorer",
    checkReach: async (asOf, signal) => {
      const { timestamp } = asOf;
      const query = { module: "block", action: "getblocknobytime", timestamp, closest: "before" };
      const read = (result: unknown) => compareReach(result, asOf);
      const answer = await ask(query, (json) => readEnvelope(json, read, options), signal);
      return isFailure(answer) ? answer : null;
    },
    readPage: (request, signal) => {
      const read = (result: unknown) => readPage(result, request, options);
      return ask(pageQuery(request, options), (json) => readEnvelope(json, read, options), signal);
    },
    countSent,
    checkCode: ({ wallet }, signal) => {
      const query = { module: "proxy", action: "eth_getCode", address: wallet, tag: "latest" };
      const none = () => historyFailure("malformed", "the explorer returned no code");
      // A proxied call answers as the node does; only a refusal comes in the explorer's own envelope.
      return ask(
        query,
        (json) => codeSchema.safeParse(json).data ?? readEnvelope(json, none, options),
        signal,
      );
    },
  };
}

function pageQuery(request: PageRequest, { pageSize }: ExplorerOptions) {
  const { wallet, fromBlock, toBlock, pagesBefore, oldestBlock } = request;
  const isOlder = isBeyondCount(request, pageSize) && oldestBlock !== null;
  return {
    module: "account",
    action: "txlist",
    address: wallet,
    startblock: fromBlock,
    endblock: isOlder ? oldestBlock : toBlock,
    page: isOlder ? 1 : pagesBefore + 1,
    offset: pageSize,
    sort: "desc",
  };
}

function isBeyondCount({ pagesBefore }: PageRequest, pageSize: number): boolean {
  return (pagesBefore + 1) * pageSize > COUNTED_ROWS;
}

function urlOf({ url, apiKey }: ExplorerOptions, query: Record<string, string | number>): URL {
  const whole = new URL(url);
  for (const [name, value] of Object.entries(query)) whole.searchParams.set(name, String(value));
  if (apiKey !== null) whole.searchParams.set("apikey", apiKey);
  return whole;
}

/** The protocol says "0" both of failures, which it explains in words, and of lists without an entry. */
function readEnvelope<Result>(
  json: unknown,
  read: (result: unknown) => Result | HistoryFailure,
  { apiKey }: ExplorerOptions,
): Result | HistoryFailure {
  const envelope = envelopeSchema.safeParse(json);
  if (!envelope.success) return historyFailure("malformed", "the answer has no status, message and result");
  const { status, message, result } = envelope.data;
  if (status === "1") return read(result);
  const isEmpty = Array.isArray(result) && result.length === 0 && /^no transactions found/i.test(message);
  if (status === "0" && isEmpty) return read(result);
  const words = `${message} ${typeof result === "string" ? result : ""}`;
  if (/rate limit/i.test(words))
    return historyFailure("rate_limited", "the explorer's rate limit is reached");
  if (/timeout|busy|unexpected|try again/i.test(words)) {
    return historyFailure("unavailable", "the explorer cannot answer now");
  }
  const shown = apiKey === null ? words : words.replaceAll(apiKey, "…");
  return historyFailure("refused", `the explorer says: ${shown.slice(0, MAX_SHOWN_CHARACTERS)}`);
}

function compareReach(result: unknown, { blockNumber }: AsOf): { readonly newest: number } | HistoryFailure {
  const answer = readAs(blockNumberSchema, result, "the explorer named no block");
  if (isFailure(answer) || answer.newest >= blockNumber) return answer;
  return historyFailure("behind", `the explorer is at block ${answer.newest}, before ${blockNumber}`);
}

function readPage(
  result: unknown,
  request: PageRequest,
  { pageSize }: ExplorerOptions,
): SourcePage | HistoryFailure {
  if (!Array.isArray(result)) return historyFailure("malformed", "the explorer answered no list");
  if (result.length > pageSize) {
    return historyFailure("inconsistent", `${result.length} rows where at most ${pageSize} were asked for`);
  }
  const isBeyond = isBeyondCount(request, pageSize);
  // A silent cap on the page size would otherwise pass for the end of the history.
  if (!isBeyond && result.length > 0 && request.rowsBefore !== request.pagesBefore * pageSize) {
    return historyFailure("inconsistent", "more rows after a page that was not full");
  }
  const rows = readRows(result, (item) => readRow(item, request));
  if (isFailure(rows)) return rows;
  // Only an empty page proves that nothing is left.
  return isBeyond ? withoutKnown(rows, request, pageSize) : { kind: "page", rows, last: rows.length === 0 };
}

/** A page that begins with the block of the oldest known row repeats what is known of it. */
function withoutKnown(
  rows: readonly SourceRow[],
  { oldestHashes }: PageRequest,
  pageSize: number,
): SourcePage | HistoryFailure {
  const known = new Set(oldestHashes);
  if (known.size >= pageSize) {
    return historyFailure("crowded", `one block has more than the ${pageSize} rows of a page`);
  }
  const older = rows.filter(({ hash: id }) => !known.has(id));
  if (rows.length - older.length !== known.size) {
    return historyFailure("inconsistent", "rows of an earlier page are missing from a later one");
  }
  return { kind: "page", rows: older, last: older.length === 0 };
}

function readRow(item: unknown, { wallet }: PageRequest): SourceRow | HistoryFailure {
  const parsed = rowSchema.safeParse(item);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return historyFailure("malformed", `a row with an unreadable ${String(issue?.path[0] ?? "shape")}`);
  }
  const sent = parsed.data;
  if (![sent.from, sent.to, sent.contractAddress].includes(wallet)) {
    return historyFailure("inconsistent", "a row of another address");
  }
  const row = { hash: sent.hash, blockNumber: sent.blockNumber, timestamp: sent.timeStamp };
  if (sent.from !== wallet) return { ...row, own: null };
  const ok = outcomeOf(sent);
  if (ok === null) return historyFailure("inconsistent", "a call both failed and successful");
  const { transactionIndex, nonce, input, value, gasUsed, gasPrice } = sent;
  return {
    ...row,
    own: numberedCall({
      ...row,
      wallet,
      transactionIndex,
      nonce,
      input,
      value,
      ok,
      gasUsed,
      gasPrice,
      to: sent.to ?? null,
      gasLimit: sent.gas,
      settlementFee: sent.L1FeesPaid ?? 0n,
    }),
  };
}

/** Null if the two members contradict each other. Without a receipt status the first one decides. */
function outcomeOf({ isError, txreceipt_status: status }: z.infer<typeof rowSchema>): boolean | null {
  const ok = isError === "0";
  if (status === "") return ok;
  return ok === (status === "1") ? ok : null;
}
