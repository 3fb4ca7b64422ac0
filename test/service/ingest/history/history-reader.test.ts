import { setTimeout as sleep } from "node:timers/promises";
import type { Address } from "viem";
import { afterEach, expect, test } from "vitest";
import {
  type HistoryEdge,
  type HistoryFailure,
  type HistoryRequest,
  type HistorySource,
  historyFailure,
  type SourcePage,
} from "../../../../service/ingest/history/history.ts";
import {
  createHistoryReader,
  HISTORY_LIMITS,
  type HistoryLimits,
  type HistoryReader,
} from "../../../../service/ingest/history/history-reader.ts";
import { asOfBlock, ownCalls, simulatedSource, steadyChain, WALLET } from "./simulated-chain.ts";

const chain = steadyChain(30);
const honest = simulatedSource(chain, { by: "number", pageSize: 10 });
const ALL: HistoryEdge = { kind: "since", timestamp: 0 };
const SHORT: HistoryLimits = { ...HISTORY_LIMITS, answerMs: 60 };

const readers: HistoryReader[] = [];
afterEach(async () => {
  await Promise.all(readers.splice(0).map((reader) => reader.close()));
});

/** A source whose first question waits until it is let go, heeding no signal, and that counts. */
function heldSource(answer: HistorySource = honest) {
  const gate = Promise.withResolvers<void>();
  const seen = { readings: 0, pages: 0, atOnce: 0, mostAtOnce: 0 };
  const source: HistorySource = {
    ...answer,
    checkReach: async (asOf, signal) => {
      seen.readings++;
      seen.atOnce++;
      seen.mostAtOnce = Math.max(seen.mostAtOnce, seen.atOnce);
      await gate.promise;
      seen.atOnce--;
      return answer.checkReach(asOf, signal);
    },
    readPage: (request, signal) => {
      seen.pages++;
      return answer.readPage(request, signal);
    },
  };
  return { source, seen, letGo: () => gate.resolve() };
}

function readerOf(
  source: HistorySource,
  limits = HISTORY_LIMITS,
  now: () => number = () => 0,
): HistoryReader {
  const reader = createHistoryReader({ source, now, limits });
  readers.push(reader);
  return reader;
}

function request(block = chain.head, wallet: Address = WALLET, edge = ALL): HistoryRequest {
  return { wallet, asOf: asOfBlock(chain, block), edge };
}

function walletNumber(number: number): Address {
  return `0x${number.toString(16).padStart(40, "0")}`;
}

test("callers of one wallet join one reading, and all get its result", async () => {
  const { source, seen, letGo } = heldSource();
  const reader = readerOf(source);
  const answers = [1, 2, 3].map(() => reader.read(request()));
  letGo();
  const found = { kind: "found", calls: ownCalls(chain, chain.head) };
  expect(await Promise.all(answers)).toMatchObject([found, found, found]);
  expect(seen.readings).toBe(1);
});

test("a caller who needs more than the reading that runs waits for it, and then for the rest", async () => {
  const { source, seen, letGo } = heldSource();
  const reader = readerOf(source);
  const [short, long] = [reader.read(request(10)), reader.read(request(25))];
  letGo();
  expect(await short).toMatchObject({ kind: "found", coverage: { toBlock: 10 } });
  expect(await long).toMatchObject({ kind: "found", calls: ownCalls(chain, 25), coverage: { toBlock: 25 } });
  expect(seen.mostAtOnce).toBe(1);
});

test("a caller gets a running answer after its time, and the result when it asks again", async () => {
  const { source, seen, letGo } = heldSource();
  const reader = readerOf(source, SHORT);
  expect(await reader.read(request())).toEqual({ kind: "running" });
  expect(await reader.read(request())).toEqual({ kind: "running" });
  letGo();
  expect(await reader.read(request())).toMatchObject({ kind: "found", calls: ownCalls(chain, chain.head) });
  expect(seen.readings).toBe(1);
});

test("answers from the cache without a request, at or below the cached block", async () => {
  const { source, seen, letGo } = heldSource();
  letGo();
  const reader = readerOf(source);
  await reader.read(request());
  const { pages } = seen;
  expect(await reader.read(request())).toMatchObject({ calls: ownCalls(chain, chain.head) });
  expect(await reader.read(request(12))).toMatchObject({
    calls: ownCalls(chain, 12),
    coverage: { toBlock: 12, complete: true },
  });
  expect(seen.pages).toBe(pages);
});

test("reads newer blocks from the end of the cached part", async () => {
  const asked: number[] = [];
  const source: HistorySource = {
    ...honest,
    readPage: (page, signal) => {
      asked.push(page.fromBlock);
      return honest.readPage(page, signal);
    },
  };
  const reader = readerOf(source);
  await reader.read(request(20));
  asked.length = 0;
  expect(await reader.read(request(24))).toMatchObject({ calls: ownCalls(chain, 24) });
  expect(new Set(asked)).toEqual(new Set([21]));
});

test("reads anew for an edge further back than the cached part", async () => {
  const reader = readerOf(honest);
  const recent: HistoryEdge = { kind: "since", timestamp: asOfBlock(chain, 25).timestamp };
  expect(await reader.read(request(chain.head, WALLET, recent))).toMatchObject({
    coverage: { fromBlock: 25 },
  });
  expect(await reader.read(request())).toMatchObject({ calls: ownCalls(chain, chain.head) });
});

test("no more than four wallets are read at once, and the others wait their turn", async () => {
  const { source, seen, letGo } = heldSource();
  const reader = readerOf(source);
  const answers = Array.from({ length: 12 }, (_, number) =>
    reader.read(request(chain.head, walletNumber(number))),
  );
  await sleep(20);
  expect(seen.atOnce).toBe(4);
  letGo();
  expect((await Promise.all(answers)).map(({ kind }) => kind)).toEqual(answers.map(() => "found"));
  expect(seen).toMatchObject({ readings: 12, mostAtOnce: 4 });
});

test("refuses a caller while too many wait, and accepts its next request", async () => {
  const { source, letGo } = heldSource();
  const reader = readerOf(source, { ...HISTORY_LIMITS, maxReading: 1, maxWaiting: 1 });
  const [first, second] = [1, 2].map((number) => reader.read(request(chain.head, walletNumber(number))));
  const third = request(chain.head, walletNumber(3));
  expect(await reader.read(third)).toMatchObject({ kind: "failed", reason: "busy" });
  letGo();
  await Promise.all([first, second]);
  expect(await reader.read(third)).toMatchObject({ kind: "found" });
});

test("a failure is answered for half a minute without a new try, to this wallet's callers alone", async () => {
  let time = 0;
  let readings = 0;
  let failure: HistoryFailure | null = historyFailure("unavailable", "down");
  const source: HistorySource = {
    ...honest,
    checkReach: async () => {
      readings++;
      return failure;
    },
  };
  const reader = readerOf(source, HISTORY_LIMITS, () => time);
  expect(await reader.read(request())).toBe(failure);
  const first = failure;
  failure = null;
  time = 29_999;
  expect(await reader.read(request())).toBe(first);
  expect(readings).toBe(1);
  expect(await reader.read(request(chain.head, walletNumber(2)))).toMatchObject({ kind: "found" });
  time = 30_000;
  expect(await reader.read(request())).toMatchObject({ kind: "found", calls: ownCalls(chain, chain.head) });
});

test.each([
  ["a source that wants to be left alone for longer is", 120, 120_000],
  ["no source can have itself left alone for years", 999_999_999, HISTORY_LIMITS.longestFailureMs],
])("%s", async (_name, retryAfterSeconds, untilMs) => {
  let time = 0;
  let readings = 0;
  const source: HistorySource = {
    ...honest,
    checkReach: async () => {
      readings++;
      return { ...historyFailure("rate_limited", "HTTP status 429"), retryAfterSeconds };
    },
  };
  const reader = readerOf(source, HISTORY_LIMITS, () => time);
  for (const [ms, count] of [
    [0, 1],
    [untilMs - 1, 1],
    [untilMs, 2],
  ] as const) {
    time = ms;
    await reader.read(request());
    expect(readings).toBe(count);
  }
});

test("a failure to extend leaves the cached history", async () => {
  let isDown = false;
  const down = historyFailure("unavailable", "down");
  const reader = readerOf({ ...honest, checkReach: async () => (isDown ? down : null) });
  await reader.read(request(20));
  isDown = true;
  expect(await reader.read(request(24))).toBe(down);
  expect(await reader.read(request(20))).toMatchObject({ kind: "found", calls: ownCalls(chain, 20) });
});

test("a source that throws is a failure, and frees its slot", async () => {
  const throwing: HistorySource = {
    ...honest,
    readPage: async (): Promise<SourcePage> => {
      throw new TypeError("broken");
    },
  };
  const reader = readerOf(throwing, { ...HISTORY_LIMITS, maxReading: 1 });
  for (const number of [1, 2]) {
    expect(await reader.read(request(chain.head, walletNumber(number)))).toMatchObject({
      kind: "failed",
      reason: "unavailable",
      detail: "the source threw TypeError",
    });
  }
});

test("a reading without end is given up, and the next wallet gets its turn", async () => {
  const { source } = heldSource();
  const reader = readerOf(source, { ...HISTORY_LIMITS, maxReading: 1, readMs: 50 });
  const outcomes = await Promise.all(
    [1, 2].map((number) => reader.read(request(chain.head, walletNumber(number)))),
  );
  expect(outcomes).toMatchObject([{ reason: "timeout" }, { reason: "timeout" }]);
});

test("close ends running and waiting readings", async () => {
  const { source } = heldSource();
  const reader = readerOf(source, { ...HISTORY_LIMITS, maxReading: 1 });
  const outcomes = [1, 2].map((number) => reader.read(request(chain.head, walletNumber(number))));
  await reader.close();
  expect(await Promise.all(outcomes)).toMatchObject([{ reason: "timeout" }, { reason: "timeout" }]);
});

test("histories beyond the room for them are forgotten, the longest unused first", async () => {
  const { source, seen, letGo } = heldSource();
  letGo();
  const reader = readerOf(source, { ...HISTORY_LIMITS, maxCachedCalls: 70 });
  const [a, b, c] = [1, 2, 3].map((number) => request(chain.head, walletNumber(number)));
  if (a === undefined || b === undefined || c === undefined) throw new Error("expected three");
  for (const one of [a, b, a, c]) await reader.read(one);
  expect(seen.readings).toBe(3);
  await reader.read(a);
  await reader.read(c);
  expect(seen.readings).toBe(3);
  await reader.read(b);
  expect(seen.readings).toBe(4);
});

test("one caller's slow wallets leave the source to others, and its full queue too", async () => {
  const { source, seen, letGo } = heldSource();
  const reader = readerOf(source, { ...SHORT, maxReading: 4, maxWaiting: 4 });
  const flood = Array.from({ length: 8 }, (_, index) =>
    reader.read(request(chain.head, walletNumber(index + 1)), "key:greedy"),
  );
  await expect.poll(() => seen.readings).toBe(3);
  const honest = reader.read(request(), "key:honest");
  await expect.poll(() => seen.readings).toBe(4);
  letGo();
  expect(await honest).toMatchObject({ kind: "found" });
  await Promise.all(flood);
});
