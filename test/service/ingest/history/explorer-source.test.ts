import { encodeFunctionData, erc20Abi } from "viem";
import { afterEach, describe, expect, test } from "vitest";
import { createExplorerSource } from "../../../../service/ingest/history/explorer-source.ts";
import {
  answerFrom,
  type History,
  type HistoryFailure,
  type HistoryRequest,
} from "../../../../service/ingest/history/history.ts";
import { readHistory } from "../../../../service/ingest/history/read-history.ts";
import type { AsOf } from "../../../../service/model/features/types.ts";
import {
  isList,
  type Misbehaviour,
  type StandIn,
  startExplorerStandIn,
  timeOfBlock,
  type WireRow,
  wireRow,
} from "./explorer-stand-in.ts";
import { hashOfBlock, WALLET } from "./simulated-chain.ts";

const LIMITS = { maxPages: 20, maxTransactions: 10_000 };
const POLICY = { timeoutMs: 5_000, tries: 3, pauseMs: 5, longestPauseMs: 1_500 };
const HASTY = { ...POLICY, timeoutMs: 200 };
const OTHER = "0x3333333333333333333333333333333333333333";
const PAID = "0x00000000000000000000000000000000c0ffee11";
const KEY = "SECRETKEY";
const HEAD = 40;

const running: StandIn[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((standIn) => standIn.close()));
});

async function started(rows: readonly WireRow[], misbehave?: Misbehaviour): Promise<StandIn> {
  const standIn = await startExplorerStandIn(rows, misbehave);
  running.push(standIn);
  return standIn;
}

const asOf: AsOf = { blockNumber: HEAD, blockHash: hashOfBlock(HEAD), timestamp: timeOfBlock(HEAD) };

type Wanted = { since?: number; pageSize?: number; maxPages?: number; policy?: typeof POLICY };

async function read(
  url: string,
  { since = 0, pageSize = 4, policy = POLICY, ...limits }: Wanted = {},
): Promise<History | HistoryFailure> {
  const source = createExplorerSource({ url, apiKey: KEY, pageSize, policy });
  const request: HistoryRequest = { wallet: WALLET, asOf, edge: { kind: "since", timestamp: since } };
  const signal = AbortSignal.timeout(25_000);
  const outcome = await readHistory(null, request, { source, limits: { ...LIMITS, ...limits }, signal });
  return outcome.kind === "failed" ? outcome : answerFrom(outcome, request, source.name);
}

function rowsUpTo(block: number): readonly WireRow[] {
  return Array.from({ length: block }, (_, at) => wireRow(at + 1));
}

describe("an honest explorer", () => {
  test("gives own calls, failed ones too, and leaves out what others sent", async () => {
    const standIn = await started([
      wireRow(1, { to: "", contractAddress: OTHER, input: "0x6080604052" }),
      wireRow(2, { from: OTHER, to: WALLET, hash: hashOfBlock(902), nonce: "77" }),
      wireRow(3, {
        nonce: "1",
        input: encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [PAID, 12n] }),
        isError: "1",
        txreceipt_status: "0",
        L1FeesPaid: "1000",
        to: OTHER.toUpperCase().replace("X", "x"),
      }),
      wireRow(4, { nonce: "2", input: "0x", txreceipt_status: "" }),
    ]);
    const same = {
      ...{ position: 0, value: 5n, receipt: null },
      ...{ gasLimit: 100_000n, gasUsed: 60_000n, gasPrice: 7n },
    };
    expect(await read(standIn.url)).toEqual({
      kind: "found",
      calls: [
        {
          ...{ hash: hashOfBlock(4), blockNumber: 4, transactionIndex: 3, timestamp: timeOfBlock(4) },
          ...{ to: "0x2222222222222222222222222222222222222222", selector: null, ok: true, fee: 420_000n },
          ...{ ...same, recipient: null, amount: null },
        },
        {
          ...{ hash: hashOfBlock(3), blockNumber: 3, transactionIndex: 3, timestamp: timeOfBlock(3) },
          ...{ to: OTHER, selector: "0xa9059cbb", ok: false, fee: 421_000n },
          ...{ ...same, recipient: PAID, amount: 12n },
        },
        {
          ...{ hash: hashOfBlock(1), blockNumber: 1, transactionIndex: 3, timestamp: timeOfBlock(1) },
          ...{ to: null, selector: "0x60806040", ok: true, fee: 420_000n },
          ...{ ...same, recipient: null, amount: null },
        },
      ],
      coverage: { fromBlock: 0, fromTimestamp: 0, toBlock: HEAD, complete: true, source: "explorer" },
    });
  });

  test("is asked newest first, page by page, with the key, and no further than the edge", async () => {
    const standIn = await started(rowsUpTo(30));
    const history = await read(standIn.url, { since: timeOfBlock(24) });
    expect(history).toMatchObject({ coverage: { fromBlock: 24, toBlock: HEAD, complete: true } });
    expect(history.kind === "found" && history.calls.map((call) => call.blockNumber)).toEqual([
      30, 29, 28, 27, 26, 25, 24,
    ]);
    expect(standIn.asked.map((query) => Object.fromEntries(query))).toEqual([
      {
        ...{ chainid: "31337", module: "block", action: "getblocknobytime", apikey: KEY },
        ...{ timestamp: String(timeOfBlock(HEAD)), closest: "before" },
      },
      ...[1, 2].map((page) => ({
        ...{ chainid: "31337", module: "account", action: "txlist", apikey: KEY, address: WALLET },
        ...{ startblock: "0", endblock: String(HEAD), page: String(page), offset: "4", sort: "desc" },
      })),
    ]);
  });

  test("without transactions gives an empty history", async () => {
    expect(await read((await started([])).url)).toEqual({
      kind: "found",
      calls: [],
      coverage: { fromBlock: 0, fromTimestamp: 0, toBlock: HEAD, complete: true, source: "explorer" },
    });
  });

  test("with more than the pages allowed gives the newest, incomplete", async () => {
    const history = await read((await started(rowsUpTo(30))).url, { maxPages: 3 });
    expect(history).toMatchObject({ coverage: { fromBlock: 20, complete: false } });
    expect(history.kind === "found" && history.calls.length).toBe(11);
  });

  test("that lets 10,000 rows be counted through is asked for older ones by their blocks", async () => {
    const dust = (block: number, at: number) =>
      wireRow(block, { from: OTHER, to: WALLET, hash: hashOfBlock(100_000 + at), nonce: String(at) });
    const rows = [...rowsUpTo(20), ...Array.from({ length: 12_000 }, (_, at) => dust(21 + (at % 20), at))];
    const refusing: Misbehaviour = (honest, query) =>
      isList(query) && Number(query.get("page")) * Number(query.get("offset")) > 10_000
        ? { status: "0", message: "Result window is too large", result: null }
        : honest;
    const standIn = await started(rows, refusing);
    const history = await read(standIn.url, { pageSize: 1_000 });
    expect(history).toMatchObject({ coverage: { fromBlock: 0, complete: true } });
    expect(history.kind === "found" && history.calls.map((call) => call.blockNumber)).toEqual(
      rowsUpTo(20).map((_, at) => 20 - at),
    );
    // This explorer omits one row if it is asked for the same block again.
    const forgetful = await started(rows, (honest, query, response) => {
      const answer = refusing(honest, query, response);
      if (answer === true || !isList(query) || query.get("endblock") === String(HEAD)) return answer;
      return { ...honest, result: (honest.result as WireRow[]).slice(1) };
    });
    expect(await read(forgetful.url, { pageSize: 1_000 })).toMatchObject({ reason: "inconsistent" });
    const oneBlock = [...rowsUpTo(20), ...Array.from({ length: 12_000 }, (_, at) => dust(21, at))];
    const crowded = await started(oneBlock, refusing);
    expect(await read(crowded.url, { pageSize: 1_000 })).toMatchObject({ reason: "crowded" });
  });

  test("may answer its reach as Blockscout does", async () => {
    const standIn = await started(rowsUpTo(2), (honest, query) =>
      isList(query) ? honest : { ...honest, result: { blockNumber: String(HEAD) } },
    );
    expect(await read(standIn.url)).toMatchObject({ kind: "found", coverage: { complete: true } });
  });

  test("may stumble, and is asked again", async () => {
    let stumbles = 2;
    const standIn = await started(rowsUpTo(2), (honest, _query, response) => {
      if (stumbles-- <= 0) return honest;
      response.writeHead(503).end();
      return true;
    });
    expect(await read(standIn.url)).toMatchObject({ kind: "found", coverage: { complete: true } });
  });

  test("that is rate-limited is asked again when it wishes, no sooner", async () => {
    let refusedAt = 0;
    let waitedMs = 0;
    const standIn = await started(rowsUpTo(2), (honest, _query, response) => {
      if (refusedAt === 0) {
        refusedAt = performance.now();
        response.writeHead(429, { "retry-after": "1" }).end();
        return true;
      }
      if (waitedMs === 0) waitedMs = performance.now() - refusedAt;
      return honest;
    });
    expect(await read(standIn.url)).toMatchObject({ kind: "found" });
    expect(waitedMs).toBeGreaterThanOrEqual(990);
  });
});

describe("calls that are missing by their nonces", () => {
  const gap = rowsUpTo(20).toSpliced(7, 1);
  const withCode =
    (answer: object): Misbehaviour =>
    (honest, query) =>
      query.get("module") === "proxy" ? (answer as typeof honest) : honest;

  test("are the wallet's own doing where it runs another account's code: the history is incomplete", async () => {
    const code = `0xEF0100${OTHER.slice(2)}`;
    const standIn = await started(gap, withCode({ jsonrpc: "2.0", id: 1, result: code }));
    expect(await read(standIn.url)).toMatchObject({ kind: "found", coverage: { complete: false } });
    expect(Object.fromEntries(standIn.asked.at(-1) ?? [])).toMatchObject({
      ...{ module: "proxy", action: "eth_getCode", address: WALLET, tag: "latest", apikey: KEY },
    });
  });

  test.each([
    ["no code", { jsonrpc: "2.0", id: 1, result: "0x" }, "inconsistent"],
    ["no such question", { status: "0", message: "NOTOK", result: "Unknown module" }, "refused"],
    ["garbage", { jsonrpc: "2.0", id: 1, result: "code" }, "malformed"],
  ])("are the explorer's fault where it answers %s", async (_name, answer, reason) => {
    const standIn = await started(gap, withCode(answer));
    expect(await read(standIn.url)).toMatchObject({ kind: "failed", reason });
  });
});

test("detects missing calls at the newest end, or of a whole history, by the count of a node", async () => {
  for (const [rows, count, kind] of [
    [rowsUpTo(19), 20, "failed"],
    [[], 20, "failed"],
    [rowsUpTo(20), 20, "found"],
  ] as const) {
    const { url } = await started(rows);
    const options = { url, apiKey: KEY, pageSize: 4, policy: POLICY };
    const source = createExplorerSource({ ...options, countSent: async () => ({ count }) });
    const request: HistoryRequest = { wallet: WALLET, asOf, edge: { kind: "since", timestamp: 0 } };
    const reading = { source, limits: LIMITS, signal: AbortSignal.timeout(25_000) };
    const outcome = await readHistory(null, request, reading);
    expect(outcome.kind === "failed" ? "failed" : "found").toBe(kind);
  }
});

describe("an explorer that misbehaves never has a history:", () => {
  const says =
    (result: unknown, message = "NOTOK", status = "0"): Misbehaviour =>
    () => ({ status, message, result });
  const status =
    (code: number, headers: Record<string, string> = {}): Misbehaviour =>
    (_honest, _query, response) => {
      response.writeHead(code, headers).end("{}");
      return true;
    };
  const body =
    (text: string): Misbehaviour =>
    (_honest, _query, response) => {
      response.end(text);
      return true;
    };
  /** Changes the rows of a page, given its number. */
  const page =
    (change: (rows: WireRow[], number: number) => unknown): Misbehaviour =>
    (honest, query) =>
      isList(query) && honest.status === "1"
        ? { ...honest, result: change(honest.result as WireRow[], Number(query.get("page"))) }
        : honest;
  const row = (given: WireRow): Misbehaviour => page((rows) => rows.map((one) => ({ ...one, ...given })));

  const cases: readonly (readonly [string, Misbehaviour, HistoryFailure["reason"]])[] = [
    ["HTTP 500", status(500), "unavailable"],
    ["HTTP 502 with a wish", status(502, { "retry-after": "60" }), "unavailable"],
    ["HTTP 403", status(403), "refused"],
    ["HTTP 404", status(404), "refused"],
    ["HTTP 429", status(429), "rate_limited"],
    ["HTTP 429 for a minute", status(429, { "retry-after": "60" }), "rate_limited"],
    ["a rate limit in words", says("Max calls per sec rate limit reached (5/sec)"), "rate_limited"],
    ["a wrong key", says("Invalid API Key (#err2)|AB1-"), "refused"],
    [
      "a timeout in words",
      says("Query Timeout occured. Please select a smaller result dataset"),
      "unavailable",
    ],
    ["an empty list with an error", says([], "Something went wrong"), "refused"],
    ["an empty list that is an error in words", says([], "NOTOK"), "refused"],
    ["no list", says(null, "OK", "1"), "malformed"],
    ["HTML", body("<html>Just a moment...</html>"), "malformed"],
    ["nothing", body(""), "malformed"],
    ["half an answer", body('{"status":"1","message":"OK","result":['), "malformed"],
    ["other JSON", body("[]"), "malformed"],
    ["null", body("null"), "malformed"],
    ["a list of texts", page(() => ["0x1", "0x2"]), "malformed"],
    ["a text for the list", page(() => "none"), "malformed"],
    ["rows without members", page(() => [{}]), "malformed"],
    ["a block number that is none", row({ blockNumber: "latest" }), "malformed"],
    ["a negative fee", row({ gasPrice: "-1" }), "malformed"],
    ["a number beyond all chains", row({ gasUsed: "9".repeat(100) }), "malformed"],
    ["a hash that is none", row({ hash: "0x12" }), "malformed"],
    ["an outcome that is none", row({ isError: "maybe" }), "malformed"],
    ["an outcome that contradicts itself", row({ isError: "1", txreceipt_status: "1" }), "inconsistent"],
    ["rows of another address", row({ from: OTHER, to: OTHER }), "inconsistent"],
    [
      "blocks after the last one asked for",
      row({ blockNumber: "41", timeStamp: String(timeOfBlock(41)) }),
      "inconsistent",
    ],
    [
      "the same page always",
      page((rows) => (rows.length > 0 ? rowsUpTo(20).slice(16).toReversed() : rows)),
      "inconsistent",
    ],
    ["pages in the wrong order", page((rows) => rows.toReversed()), "inconsistent"],
    ["a row twice", page((rows) => [...rows.slice(0, 3), rows[2]]), "inconsistent"],
    [
      "all rows at once",
      page((_rows, number) => (number === 1 ? rowsUpTo(20).toReversed() : [])),
      "inconsistent",
    ],
    ["more rows than asked for", page((rows) => [...rows, ...rowsUpTo(9)]), "inconsistent"],
    ["smaller pages than asked for", page((rows) => rows.slice(0, 3)), "inconsistent"],
    ["two calls with one nonce", row({ nonce: "7" }), "inconsistent"],
  ];

  test.each(cases)("%s", async (_name, misbehave, reason) => {
    const standIn = await started(rowsUpTo(20), misbehave);
    const outcome = await read(standIn.url);
    expect(outcome).toMatchObject({ kind: "failed", reason });
    expect(JSON.stringify(outcome)).not.toContain(KEY);
    expect(standIn.asked.length).toBeLessThanOrEqual(8);
  });

  test("one that repeats the key in its refusal does not get it into our words", async () => {
    const standIn = await started([], says(`Invalid API Key ${KEY}`));
    expect(await read(standIn.url)).toMatchObject({
      reason: "refused",
      detail: "the explorer says: NOTOK Invalid API Key …",
    });
  });

  test("one that wants to be left alone says for how long, in seconds or as a date", async () => {
    const now = Date.now();
    const date = (seconds: number) => new Date(now + 1000 * seconds).toUTCString();
    const wishes = [
      [{ "retry-after": "60" }, 60],
      [{ "retry-after": date(90), date: date(0) }, 90],
      [{ "retry-after": "soon" }, null],
    ] as const;
    for (const [headers, retryAfterSeconds] of wishes) {
      const standIn = await started([], status(429, headers));
      expect(await read(standIn.url)).toMatchObject({ reason: "rate_limited", retryAfterSeconds });
    }
  });

  test("one that is behind the index", async () => {
    const standIn = await started(rowsUpTo(20), (honest, query) =>
      isList(query) ? honest : { ...honest, result: String(HEAD - 1) },
    );
    expect(await read(standIn.url)).toMatchObject({
      reason: "behind",
      detail: "the explorer is at block 39, before 40",
    });
  });

  test("one that never answers is given up after each try's time", async () => {
    const standIn = await started(rowsUpTo(20), () => true);
    expect(await read(standIn.url, { policy: HASTY })).toMatchObject({ kind: "failed", reason: "timeout" });
    expect(standIn.asked.length).toBe(3);
  });

  test("one that drips its answer is given up too", async () => {
    const standIn = await started(rowsUpTo(20), (_honest, _query, response) => {
      const timer = setInterval(() => response.write(" "), 10);
      response.on("close", () => clearInterval(timer));
      return true;
    });
    expect(await read(standIn.url, { policy: HASTY })).toMatchObject({ kind: "failed", reason: "timeout" });
  });

  test("one that sends us elsewhere, key and all", async () => {
    const elsewhere = await started(rowsUpTo(20));
    const standIn = await started([], (_honest, query, response) => {
      response.writeHead(302, { location: `${elsewhere.url}&${query}` }).end();
      return true;
    });
    expect(await read(standIn.url)).toMatchObject({ kind: "failed", reason: "unavailable" });
    expect(elsewhere.asked).toEqual([]);
  });

  test("one whose answer has no end", async () => {
    const standIn = await started(rowsUpTo(20), (_honest, _query, response) => {
      const more = () => {
        while (!response.destroyed && response.write("a".repeat(1_000_000)));
      };
      response.on("drain", more);
      more();
      return true;
    });
    const patient = { ...POLICY, timeoutMs: 20_000 };
    expect(await read(standIn.url, { policy: patient })).toMatchObject({
      reason: "malformed",
      detail: "the answer is larger than 33554432 bytes",
    });
  });

  test("one that resets the connection, or is not there", async () => {
    const resets = await started(rowsUpTo(20), (_honest, _query, response) => {
      response.socket?.resetAndDestroy();
      return true;
    });
    expect(await read(resets.url)).toMatchObject({ kind: "failed", reason: "unavailable" });
    const gone = await startExplorerStandIn([]);
    await gone.close();
    expect(await read(gone.url)).toMatchObject({
      reason: "unavailable",
      detail: "the connection failed: ECONNREFUSED",
    });
  });

  test("one that fails on the last page has not even the first ones", async () => {
    const standIn = await started(rowsUpTo(20), (honest, query, response) => {
      if (query.get("page") !== "5") return honest;
      response.writeHead(500).end();
      return true;
    });
    expect(await read(standIn.url)).toMatchObject({ kind: "failed", reason: "unavailable" });
  });
});
