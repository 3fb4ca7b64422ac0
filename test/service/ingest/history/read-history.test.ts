import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  answerFrom,
  type CachedHistory,
  type HistoryEdge,
  type HistoryFailure,
  type HistoryRequest,
  type HistorySource,
  historyFailure,
  planHistory,
  type SourcePage,
} from "../../../../service/ingest/history/history.ts";
import { HISTORY_LIMITS } from "../../../../service/ingest/history/history-reader.ts";
import { readHistory, type WalkLimits } from "../../../../service/ingest/history/read-history.ts";
import {
  asOfBlock,
  chainOf,
  chains,
  hashOfBlock,
  ownCalls,
  type Paging,
  type Shape,
  type SimulatedChain,
  simulatedSource,
  steadyChain,
  WALLET,
} from "./simulated-chain.ts";

const LIMITS = { maxPages: 1_000, maxTransactions: 10_000 };
const signal = new AbortController().signal;
const readFrom = (
  source: HistorySource,
  request: HistoryRequest,
  known: CachedHistory | null = null,
  limits: WalkLimits = LIMITS,
) => readHistory(known, request, { source, limits, signal });
const ALL: HistoryEdge = { kind: "since", timestamp: 0 };
const LAST_PAGE: SourcePage = { kind: "page", rows: [], last: true };

const pagings: fc.Arbitrary<Paging> = fc.record({
  by: fc.constantFrom("number", "block"),
  pageSize: fc.integer({ min: 1, max: 20 }),
});
const edges: fc.Arbitrary<HistoryEdge> = fc.oneof(
  fc.record({
    kind: fc.constant("since" as const),
    timestamp: fc.integer({ min: 1_699_999_000, max: 1_700_030_000 }),
  }),
  fc.record({ kind: fc.constant("before_last_call" as const), seconds: fc.integer({ min: 0, max: 30_000 }) }),
);

function requestAt(chain: SimulatedChain, blockNumber: number, edge: HistoryEdge): HistoryRequest {
  return { wallet: WALLET, asOf: asOfBlock(chain, blockNumber), edge };
}

async function cachedFrom(outcome: Promise<CachedHistory | HistoryFailure>): Promise<CachedHistory> {
  const history = await outcome;
  if (history.kind === "failed") throw new Error(`${history.reason}: ${history.detail}`);
  return history;
}

/** Calls that the chain holds for the request. */
function expectedCalls(chain: SimulatedChain, { asOf, edge }: HistoryRequest) {
  const calls = ownCalls(chain, asOf.blockNumber);
  const since =
    edge.kind === "since" ? edge.timestamp : (calls[0]?.timestamp ?? Number.POSITIVE_INFINITY) - edge.seconds;
  return calls.filter((call) => call.timestamp >= since);
}

test("an honest source gives every own call from the edge to the block, however it pages", async () => {
  await fc.assert(
    fc.asyncProperty(chains, pagings, edges, fc.nat(200), async (chain, paging, edge, block) => {
      const request = requestAt(chain, block, edge);
      const source = simulatedSource(chain, paging);
      const history = await cachedFrom(readFrom(source, request));
      const answer = answerFrom(history, request, source.name);
      expect(answer.calls).toEqual(expectedCalls(chain, request));
      expect(answer.coverage).toMatchObject({ toBlock: block, complete: true, source: "simulated" });
    }),
    { numRuns: 500 },
  );
});

test("coverage claims no block whose calls are not there", async () => {
  const limits = fc.record({
    maxPages: fc.integer({ min: 1, max: 8 }),
    maxTransactions: fc.integer({ min: 1, max: 40 }),
  });
  await fc.assert(
    fc.asyncProperty(chains, pagings, edges, limits, async (chain, paging, edge, limit) => {
      const request = requestAt(chain, chain.head, edge);
      const source = simulatedSource(chain, paging);
      const outcome = await readHistory(null, request, { source, limits: limit, signal });
      if (outcome.kind === "failed") {
        expect(outcome.reason).toBe("crowded");
        return;
      }
      const history = outcome;
      const { calls, coverage } = answerFrom(history, request, source.name);
      const claimed = ownCalls(chain, chain.head).filter((call) => call.blockNumber >= coverage.fromBlock);
      const sinceThen = ownCalls(chain, chain.head).filter(
        (call) => call.timestamp >= coverage.fromTimestamp,
      );
      expect(calls).toEqual(claimed);
      expect(calls).toEqual(expect.arrayContaining([...sinceThen]));
      expect(history.calls.length).toBeLessThanOrEqual(limit.maxTransactions);
      if (coverage.complete) expect(calls).toEqual(expectedCalls(chain, request));
    }),
    { numRuns: 500 },
  );
});

test("a history that is extended block by block equals one that is read at once", async () => {
  await fc.assert(
    fc.asyncProperty(
      chains,
      pagings,
      edges,
      fc.array(fc.nat(120), { minLength: 1, maxLength: 4 }),
      async (chain, paging, edge, stops) => {
        const source = simulatedSource(chain, paging);
        let known: CachedHistory | null = null;
        for (const block of [...stops].sort((a, b) => a - b)) {
          const request = requestAt(chain, block, edge);
          if (known === null || planHistory(known, request) !== "answer") {
            known = await cachedFrom(readFrom(source, request, known));
          }
          const whole = answerFrom(await cachedFrom(readFrom(source, request)), request, source.name);
          const answer = answerFrom(known, request, source.name);
          expect(answer.calls).toEqual(whole.calls);
          expect(answer.coverage.complete).toBe(true);
        }
      },
    ),
    { numRuns: 400 },
  );
});

test("answers a nearer edge and an older block from the cache, and claims no more than it returns", async () => {
  await fc.assert(
    fc.asyncProperty(chains, edges, fc.nat(150), async (chain, edge, block) => {
      const source = simulatedSource(chain, { by: "block", pageSize: 9 });
      const everything = requestAt(chain, 200, ALL);
      const history = await cachedFrom(readFrom(source, everything));
      const request = requestAt(chain, block, edge);
      expect(planHistory(history, request)).toBe("answer");
      const { calls, coverage } = answerFrom(history, request, source.name);
      expect(calls).toEqual(expectedCalls(chain, request));
      const claimed = ownCalls(chain, block).filter((call) => call.blockNumber >= coverage.fromBlock);
      expect(calls).toEqual(claimed);
      expect(coverage).toMatchObject({ toBlock: block, complete: true });
    }),
    { numRuns: 300 },
  );
});

test("a history that grows past the limit keeps the newest calls, and claims no others", async () => {
  await fc.assert(
    fc.asyncProperty(
      chains,
      pagings,
      // Of 60 transactions others have fewer than ten times six.
      fc.integer({ min: 6, max: 20 }),
      async (chain, paging, maxTransactions) => {
        const source = simulatedSource(chain, paging);
        let known: CachedHistory | null = null;
        for (let block = 5; block <= 100; block += 5) {
          const request = requestAt(chain, block, ALL);
          known = await cachedFrom(readFrom(source, request, known, { ...LIMITS, maxTransactions }));
          expect(known.calls.length).toBeLessThanOrEqual(maxTransactions);
          // Limited or not, it was read as deep as allowed: nothing is read twice for the same edge.
          expect(planHistory(known, request)).toBe("answer");
          const { calls, coverage } = answerFrom(known, request, "s");
          const claimed = ownCalls(chain, block).filter((call) => call.blockNumber >= coverage.fromBlock);
          expect(calls).toEqual(claimed);
          const isAll = calls.length === ownCalls(chain, block).length;
          if (coverage.complete) expect(isAll).toBe(true);
        }
      },
    ),
    { numRuns: 200 },
  );
});

describe("transactions that others send to a wallet", () => {
  const own = (count: number) => Array.from({ length: count }, () => ({ blocks: 1, seconds: 10, own: true }));
  const others = (count: number) =>
    Array.from({ length: count }, () => ({ blocks: 1, seconds: 10, own: false }));
  const read = (steps: Shape["steps"], limits: WalkLimits = HISTORY_LIMITS, paging: Paging = OTTERSCAN) => {
    const chain = chainOf({ steps });
    const request = requestAt(chain, chain.head, { kind: "before_last_call", seconds: 15_552_000 });
    return readHistory(null, request, { source: simulatedSource(chain, paging), limits, signal });
  };
  const OTTERSCAN: Paging = { by: "block", pageSize: 25 };

  test.each([
    ["after its calls", [...own(200), ...others(500)]],
    ["between its calls", own(200).flatMap((call) => [call, ...others(9)])],
  ])("%s takes none of them away", async (_where, steps) => {
    const history = await cachedFrom(read(steps));
    expect([history.calls.length, history.fromBlock, history.limited]).toEqual([200, 0, false]);
  });

  test("never make a history truncated: own calls that are not found among them are a failure", async () => {
    expect(await read([...own(200), ...others(5_000)])).toMatchObject({
      kind: "failed",
      reason: "crowded",
      detail: "0 own calls among the newest 5000 transactions",
      retryAfterSeconds: 600,
    });
    expect(await read([...own(200), ...others(4_000), ...own(3)])).toMatchObject({ kind: "cached" });
    const few = { maxPages: 1_000, maxTransactions: 30 };
    expect(await read([...own(20), ...others(300)], few)).toMatchObject({ reason: "crowded" });
  });

  test("does not lift the limits of what it did itself", async () => {
    const history = await cachedFrom(read(own(600).flatMap((call) => [call, ...others(1)])));
    expect([history.calls.length, history.limited]).toEqual([499, true]);
    const limits = { maxPages: 1_000, maxTransactions: 50 };
    const short = await cachedFrom(read([...own(60), ...others(40)], limits));
    expect([short.calls.length, short.limited]).toEqual([50, true]);
  });

  test("shift no limit, at any place, and cut no history short", async () => {
    const steps = fc.array(
      fc.record({ blocks: fc.constant(1), seconds: fc.constant(10), own: fc.boolean() }),
      { maxLength: 150 },
    );
    await fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 1, max: 8 }), async (mixed, maxPages) => {
        const limits = { maxPages, maxTransactions: 10_000 };
        const paging: Paging = { by: "block", pageSize: 5 };
        const alone = await cachedFrom(
          read(
            mixed.filter((step) => step.own),
            limits,
            paging,
          ),
        );
        const among = await read(mixed, limits, paging);
        if (among.kind === "failed") expect(among.reason).toBe("crowded");
        else
          expect(among.calls.length).toBeGreaterThanOrEqual(Math.min(alone.calls.length, 5 * maxPages - 1));
      }),
      { numRuns: 200 },
    );
  });
});

test("new calls that do not follow the stored ones are inconsistent", async () => {
  const old = steadyChain(5);
  const other = steadyChain(3, 4);
  const of = (chain: SimulatedChain) => simulatedSource(chain, { by: "number", pageSize: 9 });
  const first = await cachedFrom(readFrom(of(old), requestAt(old, 6, ALL)));
  expect(await readFrom(of(other), requestAt(other, 13, ALL), first)).toMatchObject({
    reason: "inconsistent",
    detail: "new calls do not follow those read before",
  });
});

test("does not answer the same block number of another chain from the cache", async () => {
  const chain = chainOf({ steps: [{ blocks: 1, seconds: 10, own: true }] });
  const request = requestAt(chain, 5, ALL);
  const source = simulatedSource(chain, { by: "number", pageSize: 9 });
  const history = await cachedFrom(readFrom(source, request));
  expect(planHistory(history, request)).toBe("answer");
  const replaced = { ...request, asOf: { ...request.asOf, blockHash: hashOfBlock(77) } };
  expect(planHistory(history, replaced)).toBe("read");
});

test("an extension requests nothing older than the cached history, and reaches it", async () => {
  const chain = steadyChain(40);
  const asked: number[] = [];
  const honest = simulatedSource(chain, { by: "number", pageSize: 5 });
  const source: HistorySource = {
    ...honest,
    readPage: (request, ends) => {
      asked.push(request.fromBlock);
      return honest.readPage(request, ends);
    },
  };
  const first = await cachedFrom(readFrom(source, requestAt(chain, 30, ALL)));
  asked.length = 0;
  await cachedFrom(readFrom(source, requestAt(chain, 34, ALL), first));
  expect(asked).toEqual([31, 31]);
});

test("drops the cached part if the limits leave a gap before it", async () => {
  const chain = steadyChain(60);
  const source = simulatedSource(chain, { by: "number", pageSize: 5 });
  const limits = { maxPages: 4, maxTransactions: 10_000 };
  const first = await cachedFrom(readFrom(source, requestAt(chain, 15, ALL), null, limits));
  expect(answerFrom(first, requestAt(chain, 15, ALL), "s").coverage).toMatchObject({
    fromBlock: 0,
    complete: true,
  });
  const request = requestAt(chain, 61, ALL);
  const grown = answerFrom(await cachedFrom(readFrom(source, request, first, limits)), request, "s");
  expect(grown.coverage).toMatchObject({ fromBlock: 43, toBlock: 61, complete: false });
  expect(grown.calls.map((call) => call.blockNumber)).toEqual(
    Array.from({ length: 19 }, (_, older) => 61 - older),
  );
});

describe("own calls that are missing", () => {
  const steps = Array.from({ length: 10 }, () => ({ blocks: 1, seconds: 10, own: true }));
  const chain = chainOf({ steps });
  const request = requestAt(chain, chain.head, ALL);
  /** A source that omits one call of the chain. `sent` is its count of calls, or null for no count. */
  const without = (missing: number, sent: number | null, hasCode: boolean): HistorySource => ({
    ...simulatedSource({ ...chain, rows: chain.rows.toSpliced(missing, 1) }, { by: "block", pageSize: 3 }),
    countSent: async () => ({ count: sent }),
    checkCode: async () => ({ hasCode }),
  });
  const read = (source: HistorySource) => readFrom(source, request);

  test.each([0, 4])("make a source incredible, by the nonces around call %i", async (missing) => {
    expect(await read(without(missing, null, false))).toMatchObject({
      kind: "failed",
      reason: "inconsistent",
      detail: "own calls are missing, by their nonces",
    });
  });

  test("at the newest end are noticed by the number of calls", async () => {
    expect(await read(without(9, 10, false))).toMatchObject({ reason: "inconsistent" });
    expect(await read(without(9, null, false))).toMatchObject({ kind: "cached" });
  });

  test("altogether are no empty history", async () => {
    const source = { ...without(0, 10, false), readPage: async () => LAST_PAGE };
    expect(await read(source)).toMatchObject({ reason: "inconsistent" });
  });

  test("are not missed for a contract, whose nonces count its creations", async () => {
    const source = { ...without(0, 1, true), readPage: async () => LAST_PAGE };
    expect(await read(source)).toMatchObject({ kind: "cached", calls: [] });
  });

  test("may be nonces that a delegated wallet's code used: the coverage is incomplete", async () => {
    const history = await cachedFrom(read(without(4, 10, true)));
    expect(answerFrom(history, request, "s").coverage.complete).toBe(false);
  });

  test.each(["countSent", "checkCode"] as const)("are no matter once %s fails", async (method) => {
    const down = historyFailure("unavailable", "down");
    expect(await read({ ...without(4, 10, true), [method]: async () => down })).toBe(down);
  });
});

test("an empty history is a history, complete and without calls", async () => {
  const chain = chainOf({ steps: [] });
  const request = requestAt(chain, 7, { kind: "before_last_call", seconds: 100 });
  for (const by of ["number", "block"] as const) {
    const source = simulatedSource(chain, { by, pageSize: 10 });
    const history = await cachedFrom(readFrom(source, request));
    expect(answerFrom(history, request, "s")).toEqual({
      kind: "found",
      calls: [],
      coverage: { fromBlock: 0, fromTimestamp: 0, toBlock: 7, complete: true, source: "s" },
    });
  }
});

test("a wallet idle for years is read back from its last call, not from today", async () => {
  const chain = chainOf({
    steps: Array.from({ length: 30 }, () => ({ blocks: 1, seconds: 100, own: true })),
  });
  const last = chain.rows.at(-1)?.timestamp ?? 0;
  const asOf = { blockNumber: 9_999, blockHash: hashOfBlock(9_999), timestamp: last + 100_000_000 };
  const request: HistoryRequest = {
    wallet: WALLET,
    asOf,
    edge: { kind: "before_last_call", seconds: 1_000 },
  };
  const source = simulatedSource(chain, { by: "number", pageSize: 4 });
  const { calls, coverage } = answerFrom(await cachedFrom(readFrom(source, request)), request, "s");
  expect(calls.length).toBe(11);
  expect(coverage).toMatchObject({ complete: true, fromTimestamp: last - 1_000 });
});

test("a chain that the source does not know any more is read anew", async () => {
  const old = steadyChain(5);
  const chain = steadyChain(9, 2);
  const paging: Paging = { by: "block", pageSize: 3 };
  const first = await cachedFrom(readFrom(simulatedSource(old, paging), requestAt(old, 5, ALL)));
  const replaced: HistorySource = {
    ...simulatedSource(chain, paging),
    checkReach: async (asOf) =>
      asOf.blockNumber === 5 ? historyFailure("inconsistent", "block 5 is another one") : null,
  };
  const request = requestAt(chain, chain.head, ALL);
  const grown = await cachedFrom(readFrom(replaced, request, first));
  expect(answerFrom(grown, request, "s").calls).toEqual(ownCalls(chain, chain.head));
});

test("a source that does not know the block yet has no history", async () => {
  const chain = chainOf({ steps: [] });
  const behind = historyFailure("behind", "at block 3");
  const source = { ...simulatedSource(chain, { by: "block", pageSize: 3 }), checkReach: async () => behind };
  const request = requestAt(chain, 7, ALL);
  expect(await readFrom(source, request)).toBe(behind);
});

type Lie = (page: SourcePage, pagesBefore: number, chain: SimulatedChain) => SourcePage;

const lies: Readonly<Record<string, Lie>> = {
  "repeats a page": (page, pagesBefore, { rows }) =>
    pagesBefore === 0 ? page : { ...page, rows: rows.toReversed().slice(0, 4), last: false },
  "turns a page round": (page) => ({ ...page, rows: page.rows.toReversed() }),
  "doubles a row": (page) => ({ ...page, rows: page.rows.flatMap((row) => [row, row]) }),
  "answers later blocks": (page) => ({
    ...page,
    rows: page.rows.map((row) => ({ ...row, blockNumber: row.blockNumber + 100 })),
  }),
  "answers nothing, but not the last of it": (page) => ({ ...page, rows: [], last: false }),
  "lets time run backwards": (page) => ({
    ...page,
    rows: page.rows.map((row) => ({ ...row, timestamp: 2_000_000_000 - row.timestamp })),
  }),
  "swaps nonces": (page) => ({
    ...page,
    rows: page.rows.map((row) =>
      row.own === null ? row : { ...row, own: { ...row.own, nonce: 500 - row.own.nonce } },
    ),
  }),
  "gives each call the same nonce": (page) => ({
    ...page,
    rows: page.rows.map((row) => (row.own === null ? row : { ...row, own: { ...row.own, nonce: 3 } })),
  }),
};

test.each(Object.entries(lies))("a source that %s is inconsistent", async (_name, lie) => {
  const chain = steadyChain(12);
  const honest = simulatedSource(chain, { by: "number", pageSize: 4 });
  const source: HistorySource = {
    ...honest,
    readPage: async (request, ends) => {
      const page = await honest.readPage(request, ends);
      return page.kind === "failed" ? page : lie(page, request.pagesBefore, chain);
    },
  };
  const request = requestAt(chain, chain.head, ALL);
  const outcome = await readFrom(source, request);
  expect(outcome).toMatchObject({ kind: "failed", reason: "inconsistent" });
});

test("returns a failure or an ordered history within the request, for any pages of a source", async () => {
  const rows = chains.map((chain) => chain.rows);
  const pages = fc.array(
    fc.record({
      kind: fc.constant("page" as const),
      rows: rows.chain((r) => fc.shuffledSubarray([...r])),
      last: fc.boolean(),
    }),
    {
      minLength: 1,
      maxLength: 4,
    },
  );
  await fc.assert(
    fc.asyncProperty(pages, edges, async (made, edge) => {
      const source: HistorySource = {
        name: "made up",
        checkReach: async () => null,
        readPage: async ({ pagesBefore }) => made[pagesBefore] ?? LAST_PAGE,
        countSent: async () => ({ count: null }),
        checkCode: async () => ({ hasCode: true }),
      };
      const asOf = { blockNumber: 60, blockHash: hashOfBlock(60), timestamp: 1_700_010_000 };
      const request: HistoryRequest = { wallet: WALLET, asOf, edge };
      const outcome = await readFrom(source, request);
      if (outcome.kind === "failed") {
        expect(outcome.reason).toBe("inconsistent");
        return;
      }
      const { calls } = answerFrom(outcome, request, source.name);
      expect(new Set(calls.map(({ hash }) => hash)).size).toBe(calls.length);
      expect(calls.every((call) => call.blockNumber <= 60)).toBe(true);
      expect(calls).toEqual(calls.toSorted((a, b) => b.blockNumber - a.blockNumber));
    }),
    { numRuns: 500 },
  );
});
