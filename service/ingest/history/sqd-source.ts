import { type Address, pad } from "viem";
import { z } from "zod";
import { safeDetail } from "../../chain/node/failure.ts";
import { readText } from "../../net/read-text.ts";
import { type AskPolicy, askJson, brokenOff, isFailure, readAs, refusalOf, requestOf } from "./ask-source.ts";
import { answersOf, BATCH_POLICY, PORTION_ROWS, type Portion } from "./batch-answers.ts";
import { anyCount, type BlockRows, type L1Fee, readRows } from "./batch-rows.ts";
import { BELIEVED_LOGS, NAMING_LOGS, SAFE_LOGS, walletsPart, wholeBlock } from "./batch-select.ts";
import type { BatchSource, BlockRange, WalletsRequest } from "./batch-source.ts";
import { type HistoryFailure, historyFailure } from "./history.ts";
import { createPace, type Pace } from "./pace.ts";
import { readLines } from "./read-lines.ts";

/** The portal refuses a longer query; a wallet takes 480 bytes of one. */
const MAX_BODY_BYTES = 262_144;
const MAX_WALLETS = 500;
/** Of the public portal, which allows twenty. */
const PUBLIC_PACE = { requests: 18, perMs: 10_000 };

const STREAM_LIMITS = {
  longestMs: 600_000,
  maxBytes: 1_073_741_824,
  // A block with its calldata and logs takes 1 to 3 MB on Base.
  maxLine: 67_108_864,
};

const headSchema = z.object({ number: anyCount }).nullable();
const lineSchema = z.object({
  header: z.object({ number: z.int().nonnegative() }).loose(),
  transactions: z.array(z.unknown()).nullish(),
  logs: z.array(z.unknown()).nullish(),
});

/**
 * Batches from an SQD Portal by `finalized-stream`, one JSON line per block. An answer ends at any line; the next request starts
 * after its last block. The protocol is that of sqd-portal 0.11.9.
 */
export function createSqdSource(options: {
  /** URL of the dataset, as https://portal.sqd.dev/datasets/base-mainnet. */
  readonly url: string;
  /** Null for the public portal. */
  readonly apiKey: string | null;
  readonly l1Fee: L1Fee;
  readonly policy?: AskPolicy;
  readonly pace?: Pace;
}): BatchSource {
  const { url, apiKey, l1Fee, policy = BATCH_POLICY, pace = createPace(PUBLIC_PACE) } = options;
  // Dedicated portals read the first, and are to read the second.
  const headers = apiKey === null ? {} : { "x-api-key": apiKey, authorization: `Bearer ${apiKey}` };
  const askFor = (range: BlockRange, wanted: Readonly<Record<string, unknown>>) =>
    async function* ask(from: number, signal: AbortSignal) {
      await pace(signal);
      const body = { type: "evm", fromBlock: from, toBlock: range.to, fields: fieldsOf(l1Fee), ...wanted };
      yield* stream(urlOf(url, "finalized-stream"), { body, headers, from, l1Fee, policy, signal });
    };
  return {
    name: "sqd",
    maxWallets: MAX_WALLETS,
    newestBlock: async (signal) => {
      await pace(signal);
      const read = (json: unknown) => {
        const head = readAs(
          headSchema.transform((newest) => ({ newest })),
          json,
          "the portal returned no head",
        );
        return isFailure(head) ? head : (head.newest ?? historyFailure("behind", "the portal has no head"));
      };
      return askJson<{ readonly number: number }>(urlOf(url, "finalized-head"), read, {
        policy,
        signal,
        headers,
      });
    },
    readWallets: (request, signal) =>
      answersOf(
        request,
        { ask: askFor(request, filterOf(request)), select: walletsPart(request), policy },
        signal,
      ),
    readBlocks: (range, signal) => {
      const ask = askFor(range, { includeAllBlocks: true, transactions: [{ logs: true }] });
      return answersOf(range, { ask, select: wholeBlock, policy, everyBlock: true }, signal);
    },
  };
}

/** The dataset's URL may hold a key in its query. */
function urlOf(dataset: string, path: string): URL {
  const url = new URL(dataset);
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/${path}`;
  return url;
}

function fieldsOf(l1Fee: L1Fee) {
  const chosen = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, true]));
  const fees = l1Fee === "paid" ? ["l1Fee"] : [];
  const sent = ["hash", "transactionIndex", "from", "to", "nonce", "type", "value", "input", "gas"];
  return {
    block: chosen("number", "hash", "parentHash", "timestamp", "baseFeePerGas"),
    transaction: chosen(...sent, "gasUsed", "effectiveGasPrice", "status", "contractAddress", ...fees),
    log: chosen("logIndex", "transactionHash", "address", "topics", "data"),
  };
}

/** An empty list matches nothing. */
function filterOf({ wallets, tokens, entryPoints }: WalletsRequest) {
  const words = wallets.map((wallet) => pad(wallet));
  const emitters: Readonly<Record<"tokens" | "entryPoints", readonly Address[]>> = { tokens, entryPoints };
  const withLogs = { transaction: true, transactionLogs: true };
  return {
    transactions: [{ from: wallets, logs: true }, { to: wallets }],
    logs: [
      ...NAMING_LOGS.map(({ place, events }) => ({ topic0: events, [`topic${place}`]: words })),
      ...BELIEVED_LOGS.map(({ place, events, by }) => ({
        address: emitters[by],
        topic0: events,
        [`topic${place}`]: words,
        ...withLogs,
      })),
      { address: wallets, topic0: SAFE_LOGS, ...withLogs },
    ],
  };
}

type Stream = {
  readonly body: object;
  readonly headers: Readonly<Record<string, string>>;
  readonly from: number;
  readonly l1Fee: L1Fee;
  readonly policy: AskPolicy;
  readonly signal: AbortSignal;
};

/** One request. The first block of the covered range always comes, with or without rows. */
async function* stream(url: URL, asked: Stream): AsyncGenerator<Portion | HistoryFailure> {
  const response = await open(url, asked);
  if (isFailure(response)) {
    yield response;
    return;
  }
  let expected: number | null = asked.from;
  let [blocks, rows]: [BlockRows[], number] = [[], 0];
  const limits = { ...STREAM_LIMITS, idleMs: asked.policy.timeoutMs };
  let failure: HistoryFailure | null = null;
  for await (const line of readLines(response, limits, asked.signal)) {
    const block = typeof line === "string" ? readLine(line, asked.l1Fee) : line;
    if (isFailure(block)) {
      failure = block;
      break;
    }
    const { number } = block.header;
    if (expected !== null && number !== expected) {
      failure = historyFailure(
        "inconsistent",
        `asked for blocks from ${expected}, got block ${number} first`,
      );
      break;
    }
    expected = null;
    blocks.push(block);
    rows += 1 + block.transactions.length + block.logs.length;
    if (rows < PORTION_ROWS) continue;
    yield { kind: "portion", blocks, to: number };
    [blocks, rows] = [[], 0];
  }
  const last = blocks.at(-1);
  if (last !== undefined) yield { kind: "portion", blocks, to: last.header.number };
  if (failure !== null) yield failure;
}

/** Answers may come in any compression that Node asks for by itself; the portal's preferred one it does not read. */
const ONLY_GZIP = { "accept-encoding": "gzip" };
const NO_CONTENT = 204;
const SHOWN_BYTES = 4_096;

async function open(url: URL, { body, headers, policy, signal }: Stream): Promise<Response | HistoryFailure> {
  if (Buffer.byteLength(JSON.stringify(body)) > MAX_BODY_BYTES)
    return historyFailure("refused", `a query is larger than ${MAX_BODY_BYTES} bytes: ask for fewer wallets`);
  // Ends with the headers: the body has its own limits.
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(), policy.timeoutMs);
  const onAbort = () => patience.abort();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    signal.throwIfAborted();
    const request = { body, headers: { ...headers, ...ONLY_GZIP }, signal: patience.signal };
    const response = await fetch(url, requestOf(request));
    if (response.status === NO_CONTENT)
      return historyFailure("behind", "the portal does not have the block yet");
    const refusal = refusalOf(response);
    if (refusal === null) return response;
    const words = await readText(response, SHOWN_BYTES);
    return { ...refusal, detail: `${refusal.detail}: ${safeDetail(words ?? "")}` };
  } catch (error) {
    return brokenOff(error, AbortSignal.any([patience.signal, signal]));
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

function readLine(line: string, l1Fee: L1Fee): BlockRows | HistoryFailure {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch {
    return historyFailure("malformed", "a line is not JSON");
  }
  const { data: block } = lineSchema.safeParse(json);
  if (block === undefined) return historyFailure("malformed", "a line is no block");
  const { header, transactions, logs } = block;
  return readRows({ header, transactions: transactions ?? [], logs: logs ?? [] }, l1Fee);
}
