import { text } from "node:stream/consumers";
import { type Address, numberToHex } from "viem";
import { afterEach, describe, expect, test } from "vitest";
import { createOtterscanFacts, FUNDING_WEI } from "../../../../service/ingest/enrich/otterscan-facts.ts";
import { startLoopbackServer } from "../../../support/loopback-server.ts";

const ACCOUNT: Address = `0x${"a1".repeat(20)}`;
const FUNDER: Address = `0x${"f0".repeat(20)}`;
const OTHER: Address = `0x${"b2".repeat(20)}`;
const ENTRY_POINT: Address = `0x${"e4".repeat(20)}`;
const FUNDING = numberToHex(FUNDING_WEI);
const ALMOST = numberToHex(FUNDING_WEI - 1n);
const POLICY = { timeoutMs: 300, tries: 2, pauseMs: 5, longestPauseMs: 100 };

const word = (value: number) => numberToHex(value, { size: 32 });
/** A transaction, the only one of its block unless it has another index. */
const sent = (block: number, from: Address, to: Address, value = "0x0", index = 0) => ({
  ...{
    hash: word(16 * block + index),
    blockNumber: numberToHex(block),
    transactionIndex: numberToHex(index),
  },
  ...{ from, to, value },
});
const receipt = ({ hash }: { readonly hash: string }, status = "0x1") => ({
  transactionHash: hash,
  status,
  timestamp: 1_000,
});

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** A source whose node answers each method so; undefined is silence. */
function sourceOf(answers: Readonly<Record<string, unknown>>) {
  return sourceAnswering((method) => answers[method]);
}

async function sourceAnswering(answerTo: (method: string, params: readonly unknown[]) => unknown) {
  const { origin: url, close } = await startLoopbackServer((request, response) => {
    void text(request).then((body) => {
      const { method, params } = JSON.parse(body);
      const answer = answerTo(method, params);
      if (answer !== undefined) response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, ...Object(answer) }));
    });
  });
  ends.push(close);
  const source = createOtterscanFacts({ url, entryPoints: new Set([ENTRY_POINT]), policy: POLICY });
  return (hasCode: boolean) =>
    source.read({ address: ACCOUNT, hasCode, block: 100 }, new AbortController().signal);
}

const page = (txs: readonly object[], receipts: readonly object[]) => ({
  result: { txs, receipts, firstPage: true, lastPage: true },
});
const unknown = { kind: "facts", creator: null, firstFunder: null, existed: null };

describe("the first funder", () => {
  const funding = sent(8, FUNDER, ACCOUNT, FUNDING);
  const throughContract = [sent(7, FUNDER, OTHER, FUNDING)];
  const existed = { block: 9, timestamp: 1_000 };

  test.each<[string, readonly ReturnType<typeof sent>[], object, { operations?: object }?]>([
    [
      "is who paid first, not who called before",
      [sent(9, OTHER, ACCOUNT, FUNDING), funding, sent(7, OTHER, ACCOUNT)],
      { firstFunder: FUNDER },
    ],
    [
      "is who came first within one block",
      [sent(7, OTHER, ACCOUNT, FUNDING, 2), sent(7, FUNDER, ACCOUNT, FUNDING, 1)],
      { firstFunder: FUNDER },
    ],
    [
      "may have paid through a contract",
      throughContract,
      { firstFunder: FUNDER },
      { operations: { result: [{ type: 0, from: OTHER, to: ACCOUNT, value: FUNDING }] } },
    ],
    [
      "is not who sent dust before",
      [sent(9, ACCOUNT, OTHER, "0x1"), funding, sent(7, OTHER, ACCOUNT, ALMOST)],
      { firstFunder: FUNDER, existed },
    ],
    [
      "is nobody where an account that never sent anything has dust alone",
      [sent(7, OTHER, ACCOUNT, ALMOST)],
      {},
    ],
    [
      "is who sent most of the little that the account then spent",
      [
        sent(10, OTHER, ACCOUNT, FUNDING),
        sent(9, ACCOUNT, OTHER, "0x1"),
        sent(8, FUNDER, ACCOUNT, "0x2"),
        sent(7, OTHER, ACCOUNT, "0x1"),
      ],
      { firstFunder: FUNDER, existed },
    ],
    ["is not who had it called without value", throughContract, {}, { operations: { result: [] } }],
  ])("%s", async (_name, txs, facts, { operations } = {}) => {
    const receipts = txs.map((one) => receipt(one));
    const read = await sourceOf({
      ots_searchTransactionsAfter: page(txs, receipts),
      ots_getInternalOperations: operations,
    });
    expect(await read(false)).toEqual({ ...unknown, ...facts });
  });

  test("is not who failed to pay", async () => {
    const failed = sent(7, OTHER, ACCOUNT, FUNDING);
    const receipts = [receipt(funding), receipt(failed, "0x0")];
    const read = await sourceOf({ ots_searchTransactionsAfter: page([funding, failed], receipts) });
    expect(await read(false)).toEqual({ ...unknown, firstFunder: FUNDER });
  });
});

describe("the first funder behind calls without value", () => {
  const asked: number[] = [];
  /** A node that knows of so many such calls, one per block from 1 on, and of a payment and a transaction sent behind them. */
  function spammed(calls: number) {
    asked.length = 0;
    const rows = [
      ...Array.from({ length: calls }, (_, index) => sent(index + 1, OTHER, ACCOUNT)),
      sent(calls + 1, FUNDER, ACCOUNT, FUNDING),
      sent(calls + 2, ACCOUNT, OTHER, "0x1"),
    ];
    return sourceAnswering((_, params) => {
      const [, after, size] = params as [string, number, number];
      asked.push(size);
      const txs = rows.slice(after, after + size).toReversed();
      const receipts = txs.map((one) => receipt(one));
      return { result: { txs, receipts, firstPage: after + size >= rows.length, lastPage: after === 0 } };
    });
  }

  test.each([9, 10, 11, 234])("%i of them do not hide it", async (calls) => {
    const read = await spammed(calls);
    expect(await read(false)).toMatchObject({ firstFunder: FUNDER });
  });

  test("is not looked for without end", async () => {
    const read = await spammed(235);
    expect(await read(false)).toEqual(unknown);
    expect(asked).toEqual([10, ...Array.from({ length: 9 }, () => 25)]);
  });

  test("a node that does not get on is a failure", async () => {
    const call = sent(7, OTHER, ACCOUNT);
    const answer = { ...page([call], [receipt(call)]).result, firstPage: false };
    const read = await sourceAnswering(() => ({ result: answer }));
    expect(await read(false)).toMatchObject({ kind: "failed", reason: "inconsistent" });
  });
});

describe("the creator", () => {
  const creation = { result: { hash: word(1), creator: OTHER } };
  const block = { result: { timestamp: "0x3e8" } };

  test.each([
    ["is who sent the transaction, whichever factory it went to", OTHER, FUNDER],
    ["is nobody known for an account of a bundle", ENTRY_POINT, null],
  ])("%s", async (_name, to, creator) => {
    const read = await sourceOf({
      ots_getContractCreator: creation,
      eth_getTransactionReceipt: { result: { blockNumber: "0x7", from: FUNDER, to } },
      eth_getBlockByNumber: block,
    });
    expect(await read(true)).toEqual({ ...unknown, creator, existed: { block: 7, timestamp: 1_000 } });
  });

  test("is unknown for a contract that was always there", async () => {
    const read = await sourceOf({ ots_getContractCreator: { result: null } });
    expect(await read(true)).toEqual(unknown);
  });
});

describe("a node that gives no sense is a failure, never unknown facts", () => {
  const txs = [sent(7, FUNDER, ACCOUNT, FUNDING)];
  test.each<{ name: string; answer: unknown; reason: string }>([
    { name: "silence", answer: undefined, reason: "timeout" },
    { name: "an unknown method", answer: { error: { code: -32601, message: "no" } }, reason: "refused" },
    { name: "a limit of rate", answer: { error: { code: -32005, message: "no" } }, reason: "rate_limited" },
    { name: "trouble of its own", answer: { error: { code: -32603, message: "no" } }, reason: "unavailable" },
    { name: "null", answer: { result: null }, reason: "malformed" },
    { name: "words", answer: { result: "later" }, reason: "malformed" },
    { name: "a transaction without its receipt", answer: page(txs, []), reason: "inconsistent" },
    {
      name: "the receipt of another",
      answer: page(txs, [receipt({ hash: word(0) })]),
      reason: "inconsistent",
    },
  ])("$name: $reason", async ({ answer, reason }) => {
    const read = await sourceOf({ ots_searchTransactionsAfter: answer });
    expect(await read(false)).toMatchObject({ kind: "failed", reason });
  });
});
