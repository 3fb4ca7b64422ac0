import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { createExplorerSource } from "../../../service/ingest/history/explorer-source.ts";
import type { HistorySource } from "../../../service/ingest/history/history.ts";
import type { HistoryLimits } from "../../../service/ingest/history/history-reader.ts";
import { createOtterscanSource } from "../../../service/ingest/history/otterscan-source.ts";
import { forFile } from "../../support/test-database.ts";
import {
  isList,
  type Misbehaviour,
  startExplorerStandIn,
  type WireRow,
  wireRow,
} from "../ingest/history/explorer-stand-in.ts";
import {
  isPage,
  type NodeMisbehaviour,
  startOtterscanStandIn,
} from "../ingest/history/otterscan-stand-in.ts";
import { chainOf, simulatedSource, WALLET } from "../ingest/history/simulated-chain.ts";
import { blockHash } from "../model/features/index-tables.ts";
import { createOnDemandWorld } from "./on-demand-world.ts";
import { FINALIZED } from "./record-world.ts";

const POLICY = { timeoutMs: 300, tries: 2, pauseMs: 5, longestPauseMs: 20 };
const PAGE_SIZE = 4;
const ROWS: readonly WireRow[] = Array.from({ length: FINALIZED }, (_, at) => wireRow(at + 1));
const PATH = `/ahs/${WALLET}`;
const OTHER = "0x2222222222222222222222222222222222222222";
const CROWDED = "0x4444444444444444444444444444444444444444";
const LISTED = "0x3333333333333333333333333333333333333333";

const world = await forFile(createOnDemandWorld);

const running: { readonly close: () => Promise<void> }[] = [];
afterEach(async () => {
  await world.closeReaders();
  await Promise.all(running.splice(0).map((standIn) => standIn.close()));
});

type Asked = { readonly source: HistorySource; readonly asked: readonly unknown[] };

async function explorer(misbehave?: Misbehaviour, rows = ROWS): Promise<Asked> {
  const standIn = await startExplorerStandIn(rows, misbehave);
  running.push(standIn);
  const options = { url: standIn.url, apiKey: "SECRETKEY", pageSize: PAGE_SIZE, policy: POLICY };
  return { source: createExplorerSource(options), asked: standIn.asked };
}

async function node(misbehave?: NodeMisbehaviour, rows = ROWS): Promise<Asked> {
  const standIn = await startOtterscanStandIn({ rows, hashOf: blockHash }, misbehave);
  running.push(standIn);
  const options = { url: standIn.url, pageSize: PAGE_SIZE, policy: POLICY };
  return { source: createOtterscanSource(options), asked: standIn.asked };
}

/** A source whose server has just gone. */
async function gone(start: () => Promise<Asked>): Promise<Asked> {
  const source = await start();
  await running.pop()?.close();
  return source;
}

const answer =
  (status: number, body: string, headers: Record<string, string> = {}): Misbehaviour & NodeMisbehaviour =>
  (_honest: unknown, _question: unknown, response) => {
    response.writeHead(status, headers).end(body);
    return true;
  };
const silence = () => true as const;
/** Changes the rows of every page of the explorer. */
const rowsOf =
  (change: (rows: WireRow[]) => unknown): Misbehaviour =>
  (honest, query) =>
    isList(query) && honest.status === "1"
      ? { ...honest, result: change(honest.result as WireRow[]) }
      : honest;
type Page = { readonly txs: object[]; readonly receipts: object[]; readonly lastPage: boolean };
/** Changes every page of the node. */
const pageOf =
  (change: (page: Page, before: number) => unknown): NodeMisbehaviour =>
  (honest, question) =>
    isPage(question)
      ? { result: change((honest as { result: Page }).result, Number(question.params[1])) }
      : honest;
const nodeError =
  (code: number): NodeMisbehaviour =>
  () => ({ error: { code, message: "no" } });

const FAILING: readonly (readonly [string, () => Promise<Asked>])[] = [
  ["an explorer that is down", () => gone(explorer)],
  ["an explorer that never answers", () => explorer(silence)],
  ["an explorer that answers 500", () => explorer(answer(500, "oops"))],
  ["an explorer that limits the rate", () => explorer(answer(429, "{}", { "retry-after": "60" }))],
  [
    "an explorer that limits the rate in words",
    () => explorer(() => ({ status: "0", message: "NOTOK", result: "Max rate limit reached" })),
  ],
  ["an explorer that refuses the key", () => explorer(answer(403, "{}"))],
  ["an explorer that answers HTML", () => explorer(answer(200, "<html>Just a moment...</html>"))],
  [
    "an explorer that answers an error as an empty list",
    () => explorer(() => ({ status: "0", message: "NOTOK", result: [] })),
  ],
  ["an explorer with garbage for rows", () => explorer(rowsOf((rows) => rows.map(() => ({ hash: "0x1" }))))],
  [
    "an explorer that repeats its first page",
    () =>
      explorer((honest, query) =>
        isList(query) ? { status: "1", message: "OK", result: ROWS.slice(-4).toReversed() } : honest,
      ),
  ],
  [
    "an explorer that stops before the end",
    () =>
      explorer((honest, query) =>
        isList(query) && Number(query.get("page")) > 2
          ? { status: "0", message: "No transactions found", result: [] }
          : honest,
      ),
  ],
  ["an explorer with smaller pages than it says", () => explorer(rowsOf((rows) => rows.slice(0, 3)))],
  ["an explorer that turns its pages round", () => explorer(rowsOf((rows) => rows.toReversed()))],
  ["an explorer that leaves a call out", () => explorer(undefined, ROWS.toSpliced(7, 1))],
  [
    "an explorer that is behind",
    () => explorer((honest, query) => (isList(query) ? honest : { ...honest, result: "3" })),
  ],
  ["a node that is down", () => gone(node)],
  ["a node that never answers", () => node(silence)],
  ["a node that answers 502", () => node(answer(502, "bad gateway"))],
  ["a node that limits the rate", () => node(answer(429, "{}"))],
  ["a node that limits the rate in its own way", () => node(nodeError(-32005))],
  ["a node without the methods", () => node(nodeError(-32601))],
  ["a node that answers garbage", () => node(answer(200, "\0\0\0"))],
  ["a node with garbage for a page", () => node(pageOf(() => ({ txs: [1, 2], receipts: "none" })))],
  [
    "a node that says too early that a page is the last",
    () => node(pageOf((page) => ({ ...page, lastPage: true }))),
  ],
  [
    "a node that answers an empty last page",
    () => node(pageOf(() => ({ txs: [], receipts: [], lastPage: true }))),
  ],
  [
    "a node that answers an empty page and promises more",
    () => node(pageOf(() => ({ txs: [], receipts: [], lastPage: false }))),
  ],
  [
    "a node that turns its pages round",
    () =>
      node(pageOf((page) => ({ ...page, txs: page.txs.toReversed(), receipts: page.receipts.toReversed() }))),
  ],
  [
    "a node that doubles transactions",
    () =>
      node(
        pageOf(({ txs, receipts }) => ({
          txs: [...txs, ...txs],
          receipts: [...receipts, ...receipts],
          lastPage: false,
        })),
      ),
  ],
  [
    "a node that leaves the newest call out",
    () => node((honest, { method }) => (method === "eth_getTransactionCount" ? { result: "0x15" } : honest)),
  ],
  [
    "a node on another chain",
    () =>
      node((honest, { method }) =>
        method === "eth_getBlockByNumber" ? { result: { hash: blockHash(77) } } : honest,
      ),
  ],
  [
    "a node that does not have the block yet",
    () => node((honest, { method }) => (method === "eth_getBlockByNumber" ? { result: null } : honest)),
  ],
];

describe("no score comes of", () => {
  test.each(FAILING)("%s: 503, nothing stored, nothing charged", async (_name, start) => {
    const { source } = await start();
    const before = await world.traces();
    const ask = world.appWith(source);
    const first = await ask(PATH);
    expect(first).toMatchObject({ status: 503, body: { type: "/docs#problem-history-unavailable" } });
    expect(Number(first.retryAfter)).toBeGreaterThanOrEqual(30);
    expect(JSON.stringify(first.body)).not.toMatch(/SECRETKEY|127\.0\.0\.1/);
    // The failure is remembered: the source is left alone, and still there is no score.
    expect(await ask(PATH)).toMatchObject({ status: 503 });
    expect(await world.traces()).toEqual(before);
  });

  test("a past in which others hide the wallet's own calls", async () => {
    const step = (blocks: number, own: boolean) => ({ blocks, seconds: 10, own });
    const steps = [
      step(1, true),
      step(1, true),
      step(1, false),
      ...Array.from({ length: 60 }, () => step(0, false)),
    ];
    const crowd = simulatedSource(chainOf({ steps }), { by: "number", pageSize: 1 });
    const before = await world.traces();
    expect(await world.appWith(crowd, { maxPages: 2 })(PATH)).toMatchObject({
      status: 503,
      retryAfter: "600",
      body: {
        type: "/docs#problem-history-unavailable",
        detail: "Others have sent the wallet so much that its own transactions were not found among theirs.",
      },
    });
    expect(await world.traces()).toEqual(before);
    expect(await world.appWith(crowd, { maxPages: 7 })(`/ahs/${CROWDED}`)).toMatchObject({
      status: 200,
      body: { coverage: { from_block: 0, complete: true } },
    });
  });

  test("a source for which the caller's time is not enough; its result is there for who asks again", async () => {
    const gate = Promise.withResolvers<void>();
    const { source } = await node();
    const slow: HistorySource = {
      ...source,
      checkReach: async (asOf, signal) => {
        await gate.promise;
        return source.checkReach(asOf, signal);
      },
    };
    const before = await world.traces();
    const ask = world.appWith(slow, { answerMs: 100 } satisfies Partial<HistoryLimits>);
    for (let time = 0; time < 2; time += 1) {
      expect(await ask(PATH)).toMatchObject({
        status: 503,
        retryAfter: "5",
        body: { detail: expect.stringContaining("still being read") },
      });
    }
    expect(await world.traces()).toEqual(before);
    gate.resolve();
    await sleep(100);
    expect(await ask(PATH)).toMatchObject({ status: 200 });
    expect(await world.traces()).toMatchObject({ balance: before.balance - 1_000 });
  });
});

describe("a wallet that the index does not follow", () => {
  test("is 404 where no source is configured: nothing is stored or charged", async () => {
    const before = await world.traces();
    expect(await world.appWith(null)(`/ahs/${OTHER}`)).toMatchObject({
      status: 404,
      body: { type: "/docs#problem-not-indexed" },
    });
    expect(await world.traces()).toEqual(before);
  });

  test("is never read for a routing decision", async () => {
    const { source, asked } = await node();
    expect(await world.appWith(source)(`/ahs/route/${OTHER}`)).toMatchObject({
      status: 200,
      body: { reason: "not_scored", action: "escrow", confidence: 0 },
    });
    expect(asked).toEqual([]);
  });

  test.each([
    ["explorer", explorer],
    ["otterscan", node],
  ])("is scored from the answers of an honest %s, for the price, and enrolled once", async (name, start) => {
    const fresh = await createOnDemandWorld();
    try {
      const { source, asked } = await start();
      const ask = fresh.appWith(source);
      const answer = await ask(PATH);
      expect(answer).toMatchObject({
        status: 200,
        body: {
          coverage: { from_block: 0, to_block: FINALIZED, complete: true, sources: [name] },
          as_of_block: FINALIZED,
        },
      });
      const once = { scores: 1, histories: 1, calls: ROWS.length, enrolments: 1 };
      expect(await fresh.traces()).toEqual({ ...once, balance: 9_000 });
      const questions = asked.length;
      expect(await ask(PATH)).toMatchObject({ status: 200 });
      expect(await fresh.traces()).toEqual({ ...once, balance: 8_000 });
      expect(asked.length).toBe(questions);
    } finally {
      await world.closeReaders();
      await fresh.closeReaders();
      await fresh.close();
    }
  });

  test("is not followed for a key whose answer fails, and which gets its price back", async () => {
    const { source } = await node();
    const before = await world.traces();
    // The key that signs scores is broken here.
    expect(await world.appWith(source)(`${PATH}?include=attestation`)).toMatchObject({ status: 500 });
    const { enrolments, balance } = await world.traces();
    expect({ enrolments, balance }).toEqual({ enrolments: before.enrolments, balance: before.balance });
  });

  test("that never sent anything is INSUFFICIENT, and its coverage claims nothing", async () => {
    const { source } = await explorer(undefined, []);
    const answer = await world.appWith(source)(`/ahs/${OTHER}`);
    expect(answer).toMatchObject({
      status: 200,
      body: { ahs_score: null, confidence_level: "INSUFFICIENT", coverage: { complete: false } },
    });
  });

  test("that is listed is rejected at once, whatever its source says", async () => {
    await world.sanction(LISTED, 10);
    const { source } = await gone(node);
    expect(await world.appWith(source)(`/ahs/${LISTED}`)).toMatchObject({
      status: 200,
      body: { ahs_score: 0, grade: "F", trust_routing: "reject" },
    });
  });
});

test("no wallet is enrolled by a request that is refused for want of a place for its visit", async () => {
  const { source, asked } = await node();
  const before = await world.traces();
  const agentUrl = encodeURIComponent("https://elsewhere.example/");
  const wallet = "0x5555555555555555555555555555555555555555";
  expect(await world.appWith(source)(`/ahs/${wallet}?agent_url=${agentUrl}`)).toMatchObject({
    status: 503,
    body: { type: "/docs#problem-scoring-unavailable" },
  });
  expect([await world.traces(), asked]).toEqual([before, []]);
});

describe("a wallet that the index began to follow late", () => {
  test("is read up to that block once, by a paid call, and not enrolled", async () => {
    const fresh = await createOnDemandWorld();
    try {
      await fresh.follow(WALLET, 12);
      const { source, asked } = await node();
      const ask = fresh.appWith(source);
      expect(await ask(PATH)).toMatchObject({
        status: 200,
        body: { coverage: { from_block: 0, complete: true, sources: ["index", "otterscan"] } },
      });
      expect(await fresh.traces()).toMatchObject({ histories: 1, calls: 12, enrolments: 0 });
      const questions = asked.length;
      expect(await ask(PATH)).toMatchObject({ status: 200 });
      expect(asked.length).toBe(questions);
    } finally {
      await fresh.closeReaders();
      await fresh.close();
    }
  });

  test("gets no score while its source fails", async () => {
    const fresh = await createOnDemandWorld();
    try {
      await fresh.follow(WALLET, 12);
      const { source } = await gone(node);
      expect(await fresh.appWith(source)(PATH)).toMatchObject({ status: 503 });
      expect(await fresh.traces()).toMatchObject({ scores: 0, balance: 10_000 });
    } finally {
      await fresh.closeReaders();
      await fresh.close();
    }
  });
});
