import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { type Address, numberToHex } from "viem";
import { afterEach, describe, expect, test } from "vitest";
import { createOtterscanFacts, FUNDING_WEI } from "../../../../service/ingest/enrich/otterscan-facts.ts";

const ACCOUNT: Address = `0x${"a1".repeat(20)}`;
const FUNDER: Address = `0x${"f0".repeat(20)}`;
const OTHER: Address = `0x${"b2".repeat(20)}`;
const ENTRY_POINT: Address = `0x${"e4".repeat(20)}`;
const FUNDING = numberToHex(FUNDING_WEI);
const ALMOST = numberToHex(FUNDING_WEI - 1n);
const POLICY = { timeoutMs: 300, tries: 2, pauseMs: 5, longestPauseMs: 100 };

const hash = (byte: string) => `0x${byte.repeat(32)}`;
const receipt = (byte: string, status = "0x1") => ({ transactionHash: hash(byte), status, timestamp: 1_000 });
const transaction = (byte: string, block: number, more: object) => ({
  hash: hash(byte),
  blockNumber: `0x${block.toString(16)}`,
  transactionIndex: "0x0",
  value: "0x0",
  ...more,
});

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

type Answers = Readonly<Record<string, unknown>>;

/** A source whose node answers each method so; undefined is silence. */
function sourceOf(answers: Answers) {
  return sourceAnswering((method) => answers[method]);
}

async function sourceAnswering(answerTo: (method: string, params: readonly unknown[]) => unknown) {
  const node = createServer((request, response) => {
    void text(request).then((body) => {
      const { method, params } = JSON.parse(body);
      const answer = answerTo(method, params);
      if (answer !== undefined) response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, ...Object(answer) }));
    });
  });
  node.listen(0, "127.0.0.1");
  await once(node, "listening");
  ends.push(() => {
    node.close();
    node.closeAllConnections();
  });
  const source = createOtterscanFacts({
    url: `http://127.0.0.1:${(node.address() as AddressInfo).port}`,
    entryPoints: new Set([ENTRY_POINT]),
    policy: POLICY,
  });
  return (hasCode: boolean) => source.read({ address: ACCOUNT, hasCode }, new AbortController().signal);
}

const page = (txs: readonly object[], receipts: readonly object[]) => ({
  result: { txs, receipts, firstPage: true, lastPage: true },
});
const unknown = { kind: "facts", creator: null, firstFunder: null, existed: null };

describe("the first funder", () => {
  test.each<{
    name: string;
    txs: readonly object[];
    receipts: readonly object[];
    operations?: object;
    firstFunder: Address | null;
    existed?: object;
  }>([
    {
      name: "is who paid first, not who called before",
      txs: [
        transaction("33", 9, { from: OTHER, to: ACCOUNT, value: FUNDING }),
        transaction("22", 8, { from: FUNDER, to: ACCOUNT, value: FUNDING }),
        transaction("11", 7, { from: OTHER, to: ACCOUNT }),
      ],
      receipts: [receipt("33"), receipt("22"), receipt("11")],
      firstFunder: FUNDER,
    },
    {
      name: "is not who failed to pay",
      txs: [
        transaction("22", 8, { from: FUNDER, to: ACCOUNT, value: FUNDING }),
        transaction("11", 7, { from: OTHER, to: ACCOUNT, value: FUNDING }),
      ],
      receipts: [receipt("22"), receipt("11", "0x0")],
      firstFunder: FUNDER,
    },
    {
      name: "is who came first within one block",
      txs: [
        transaction("33", 7, { from: OTHER, to: ACCOUNT, value: FUNDING, transactionIndex: "0x2" }),
        transaction("22", 7, { from: FUNDER, to: ACCOUNT, value: FUNDING, transactionIndex: "0x1" }),
      ],
      receipts: [receipt("33"), receipt("22")],
      firstFunder: FUNDER,
    },
    {
      name: "may have paid through a contract",
      txs: [transaction("11", 7, { from: FUNDER, to: OTHER, value: FUNDING })],
      receipts: [receipt("11")],
      operations: { result: [{ type: 0, from: OTHER, to: ACCOUNT, value: FUNDING }] },
      firstFunder: FUNDER,
    },
    {
      name: "is not who sent dust before",
      txs: [
        transaction("33", 9, { from: ACCOUNT, to: OTHER, value: "0x1" }),
        transaction("22", 8, { from: FUNDER, to: ACCOUNT, value: FUNDING }),
        transaction("11", 7, { from: OTHER, to: ACCOUNT, value: ALMOST }),
      ],
      receipts: [receipt("33"), receipt("22"), receipt("11")],
      firstFunder: FUNDER,
      existed: { block: 9, timestamp: 1_000 },
    },
    {
      name: "is nobody where an account that never sent anything has dust alone",
      txs: [transaction("11", 7, { from: OTHER, to: ACCOUNT, value: ALMOST })],
      receipts: [receipt("11")],
      firstFunder: null,
    },
    {
      name: "is who sent most of the little that the account then spent",
      txs: [
        transaction("44", 10, { from: OTHER, to: ACCOUNT, value: FUNDING }),
        transaction("33", 9, { from: ACCOUNT, to: OTHER, value: "0x1" }),
        transaction("22", 8, { from: FUNDER, to: ACCOUNT, value: "0x2" }),
        transaction("11", 7, { from: OTHER, to: ACCOUNT, value: "0x1" }),
      ],
      receipts: [receipt("44"), receipt("33"), receipt("22"), receipt("11")],
      firstFunder: FUNDER,
      existed: { block: 9, timestamp: 1_000 },
    },
    {
      name: "is not who had it called without value",
      txs: [transaction("11", 7, { from: FUNDER, to: OTHER, value: FUNDING })],
      receipts: [receipt("11")],
      operations: { result: [] },
      firstFunder: null,
    },
  ])("$name", async ({ txs, receipts, operations, firstFunder, existed = null }) => {
    const read = await sourceOf({
      ots_searchTransactionsAfter: page(txs, receipts),
      ots_getInternalOperations: operations,
    });
    expect(await read(false)).toEqual({ ...unknown, firstFunder, existed });
  });
});

describe("the first funder behind calls without value", () => {
  const asked: number[] = [];
  /** A node that knows of so many such calls, one per block from 1 on, and of a payment and a transaction sent behind them. */
  function spammed(calls: number) {
    asked.length = 0;
    const rows = Array.from({ length: calls + 2 }, (_, index) => {
      const number = (index + 1).toString(16).padStart(64, "0");
      const at = {
        hash: `0x${number}`,
        blockNumber: `0x${(index + 1).toString(16)}`,
        transactionIndex: "0x0",
      };
      if (index < calls) return { ...at, from: OTHER, to: ACCOUNT, value: "0x0" };
      return index === calls
        ? { ...at, from: FUNDER, to: ACCOUNT, value: FUNDING }
        : { ...at, from: ACCOUNT, to: OTHER, value: "0x1" };
    });
    return sourceAnswering((_, params) => {
      const [, after, size] = params as [string, number, number];
      asked.push(size);
      const txs = rows.slice(after, after + size).toReversed();
      const receipts = txs.map((sent) => ({
        transactionHash: sent.hash,
        status: "0x1",
        timestamp: Number(sent.blockNumber),
      }));
      return { result: { txs, receipts, firstPage: after + size >= rows.length, lastPage: after === 0 } };
    });
  }

  test.each([9, 10, 11, 234])("%i of them hide nobody", async (calls) => {
    const read = await spammed(calls);
    expect(await read(false)).toMatchObject({ firstFunder: FUNDER });
  });

  test("is not looked for without end", async () => {
    const read = await spammed(235);
    expect(await read(false)).toEqual(unknown);
    expect(asked).toEqual([10, ...Array.from({ length: 9 }, () => 25)]);
  });

  test("a node that does not get on is a failure", async () => {
    const txs = [transaction("11", 7, { from: OTHER, to: ACCOUNT })];
    const answer = { ...page(txs, [receipt("11")]).result, firstPage: false };
    const read = await sourceAnswering(() => ({ result: answer }));
    expect(await read(false)).toMatchObject({ kind: "failed", reason: "inconsistent" });
  });
});

describe("the creator", () => {
  const creation = { result: { hash: hash("11"), creator: OTHER } };
  const block = { result: { timestamp: "0x3e8" } };

  test("is who sent the transaction, whichever factory it went to", async () => {
    const read = await sourceOf({
      ots_getContractCreator: creation,
      eth_getTransactionReceipt: { result: { blockNumber: "0x7", from: FUNDER, to: OTHER } },
      eth_getBlockByNumber: block,
    });
    expect(await read(true)).toEqual({
      ...unknown,
      creator: FUNDER,
      existed: { block: 7, timestamp: 1_000 },
    });
  });

  test("is nobody known for an account of a bundle", async () => {
    const read = await sourceOf({
      ots_getContractCreator: creation,
      eth_getTransactionReceipt: { result: { blockNumber: "0x7", from: FUNDER, to: ENTRY_POINT } },
      eth_getBlockByNumber: block,
    });
    expect(await read(true)).toMatchObject({ creator: null, existed: { block: 7 } });
  });

  test("is nobody for a contract that was always there", async () => {
    const read = await sourceOf({ ots_getContractCreator: { result: null } });
    expect(await read(true)).toEqual(unknown);
  });
});

describe("a node that gives no sense is a failure, never unknown facts", () => {
  const txs = [transaction("11", 7, { from: FUNDER, to: ACCOUNT, value: FUNDING })];
  test.each<{ name: string; answer: unknown; reason: string }>([
    { name: "silence", answer: undefined, reason: "timeout" },
    { name: "an unknown method", answer: { error: { code: -32601, message: "no" } }, reason: "refused" },
    { name: "a limit of rate", answer: { error: { code: -32005, message: "no" } }, reason: "rate_limited" },
    { name: "trouble of its own", answer: { error: { code: -32603, message: "no" } }, reason: "unavailable" },
    { name: "null", answer: { result: null }, reason: "malformed" },
    { name: "words", answer: { result: "later" }, reason: "malformed" },
    { name: "a transaction without its receipt", answer: page(txs, []), reason: "inconsistent" },
    { name: "the receipt of another", answer: page(txs, [receipt("22")]), reason: "inconsistent" },
  ])("$name: $reason", async ({ answer, reason }) => {
    const read = await sourceOf({ ots_searchTransactionsAfter: answer });
    expect(await read(false)).toMatchObject({ kind: "failed", reason });
  });
});
