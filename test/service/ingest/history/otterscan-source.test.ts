import { type Address, type Hex, numberToHex } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  answerFrom,
  type History,
  type HistoryEdge,
  type HistoryFailure,
} from "../../../../service/ingest/history/history.ts";
import { createOtterscanSource } from "../../../../service/ingest/history/otterscan-source.ts";
import { readHistory } from "../../../../service/ingest/history/read-history.ts";
import type { AsOf } from "../../../../service/model/features/types.ts";
import { startTestChain, type TestChain } from "../../../support/anvil-testkit/chain.ts";
import { startLoopbackServer } from "../../../support/loopback-server.ts";

const LIMITS = { maxPages: 20, maxTransactions: 10_000 };
const POLICY = { timeoutMs: 5_000, tries: 2, pauseMs: 5, longestPauseMs: 100 };
const AGENT: Address = "0x00000000000000000000000000000000000a9e17";
const STRANGER: Address = "0x0000000000000000000000000000000000057a46";
const NOBODY: Address = "0x000000000000000000000000000000000000b0d7";
const ONE_ETHER = 10n ** 18n;

type Sent = { readonly hash: Hex; readonly status: "success" | "reverted"; readonly blockNumber: number };

let chain: TestChain;
/** Of the agent, oldest first. */
const sent: Sent[] = [];

beforeAll(async () => {
  chain = await startTestChain(86_400);
  for (const account of [AGENT, STRANGER]) {
    await chain.rpc.request("anvil_setBalance", account, numberToHex(ONE_ETHER));
  }
  for (let round = 0; round < 4; round++) {
    sent.push(await chain.succeed(AGENT), await chain.revert(AGENT));
    await chain.succeed(STRANGER);
    await chain.send({ from: STRANGER, to: AGENT, value: 3n });
    await chain.moveTime(600);
    sent.push(await chain.send({ from: AGENT, to: STRANGER, value: 7n, gas: 30_000n }));
  }
});

afterAll(() => chain.stop());

type Block = { readonly hash: Hex; readonly timestamp: Hex };

async function asOfBlock(blockNumber: number): Promise<AsOf> {
  const block = (await chain.rpc.request("eth_getBlockByNumber", numberToHex(blockNumber), false)) as Block;
  return { blockNumber, blockHash: block.hash, timestamp: Number(block.timestamp) };
}

type Wanted = { url?: string; wallet?: Address; asOf?: AsOf; edge?: HistoryEdge; pageSize?: number };

async function read({
  url = chain.rpcUrl,
  wallet = AGENT,
  pageSize = 500,
  ...given
}: Wanted = {}): Promise<History | HistoryFailure> {
  const source = createOtterscanSource({ url, pageSize, policy: POLICY });
  const asOf = given.asOf ?? (await asOfBlock(await chain.head()));
  const request = { wallet, asOf, edge: given.edge ?? { kind: "since" as const, timestamp: 0 } };
  const outcome = await readHistory(null, request, {
    source,
    limits: LIMITS,
    signal: AbortSignal.timeout(20_000),
  });
  return outcome.kind === "failed" ? outcome : answerFrom(outcome, request, source.name);
}

function found(outcome: History | HistoryFailure): History {
  if (outcome.kind === "failed") throw new Error(`${outcome.reason}: ${outcome.detail}`);
  return outcome;
}

type Transaction = { to: Address; gas: Hex; value: Hex; transactionIndex: Hex };
type Receipt = { readonly gasUsed: Hex; readonly effectiveGasPrice: Hex };

describe("on a real node", () => {
  test.each([1, 2, 5, 500])(
    "pages of %i give exactly the calls that the wallet sent, reverted ones too",
    async (pageSize) => {
      const { calls, coverage } = found(await read({ pageSize }));
      expect(calls.map(({ hash, ok, blockNumber }) => ({ hash, ok, blockNumber }))).toEqual(
        sent
          .map(({ hash, status, blockNumber }) => ({ hash, ok: status === "success", blockNumber }))
          .reverse(),
      );
      expect(coverage).toEqual({
        ...{ fromBlock: 0, fromTimestamp: 0, toBlock: await chain.head() },
        ...{ complete: true, source: "otterscan" },
      });
    },
  );

  test("every member of a call is what the node says of its transaction", async () => {
    const { calls } = found(await read());
    for (const call of calls) {
      const transaction = (await chain.rpc.request("eth_getTransactionByHash", call.hash)) as Transaction & {
        readonly input: Hex;
      };
      const receipt = (await chain.rpc.request("eth_getTransactionReceipt", call.hash)) as Receipt;
      const { timestamp } = await asOfBlock(call.blockNumber);
      expect(call).toMatchObject({
        timestamp,
        transactionIndex: Number(transaction.transactionIndex),
        to: transaction.to,
        selector: transaction.input === "0x" ? null : transaction.input.slice(0, 10),
        value: BigInt(transaction.value),
        gasLimit: BigInt(transaction.gas),
        gasUsed: BigInt(receipt.gasUsed),
        fee: BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice),
        gasPrice: BigInt(receipt.effectiveGasPrice),
        ...{ position: 0, recipient: null, amount: null, receipt: null },
      });
    }
    expect(new Set(calls.map(({ ok }) => ok))).toEqual(new Set([true, false]));
    expect(calls.some(({ selector }) => selector === null)).toBe(true);
  });

  test("a block and an edge bound the calls at both ends", async () => {
    const [first, last] = [sent[4], sent[8]];
    if (first === undefined || last === undefined) throw new Error("expected nine calls");
    const asOf = await asOfBlock(last.blockNumber);
    const { timestamp } = await asOfBlock(first.blockNumber);
    const { calls, coverage } = found(await read({ asOf, edge: { kind: "since", timestamp }, pageSize: 2 }));
    const inside = [];
    for (const call of sent) {
      const block = await asOfBlock(call.blockNumber);
      if (block.timestamp >= timestamp && call.blockNumber <= last.blockNumber) inside.push(call.hash);
    }
    expect(calls.map(({ hash }) => hash)).toEqual(inside.reverse());
    expect(coverage).toMatchObject({ fromTimestamp: timestamp, toBlock: last.blockNumber, complete: true });
  });

  test("an account that never sent anything has an empty, complete history", async () => {
    expect(found(await read({ wallet: NOBODY }))).toMatchObject({ calls: [], coverage: { complete: true } });
  });

  test("a block that is not there yet, or is another one, is a failure", async () => {
    const head = await asOfBlock(await chain.head());
    expect(await read({ asOf: { ...head, blockNumber: head.blockNumber + 1 } })).toMatchObject({
      reason: "behind",
    });
    const [first] = sent;
    const other = await asOfBlock(first?.blockNumber ?? 0);
    expect(await read({ asOf: { ...head, blockHash: other.blockHash } })).toMatchObject({
      reason: "inconsistent",
    });
  });
});

describe("returns no history from a node that misbehaves:", () => {
  const servers: Awaited<ReturnType<typeof startLoopbackServer>>[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close();
  });

  type Page = { txs: Record<string, unknown>[]; receipts: Record<string, unknown>[]; lastPage: boolean };

  /**
   * Passes questions on to the real node, and gives what the test makes of the answer to a page; some methods answer the
   * same always.
   */
  async function standIn(
    change: (page: Page, before: number) => unknown,
    fixed: Readonly<Record<string, object>> = {},
  ): Promise<string> {
    const server = await startLoopbackServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const question = JSON.parse(Buffer.concat(chunks).toString()) as { method: string; params: unknown[] };
      const result = await chain.rpc.request(question.method, ...question.params);
      const isPage = question.method === "ots_searchTransactionsBefore";
      const honest = isPage ? change(result as Page, Number(question.params[1])) : { result };
      const answer = fixed[question.method] ?? honest;
      response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, ...(answer as object) }));
    });
    servers.push(server);
    return server.origin;
  }

  const error = (code: number) => () => ({ error: { code, message: "no" } });
  const eachSent = (given: Record<string, unknown>) => (page: Page) => ({
    result: { ...page, txs: page.txs.map((one) => ({ ...one, ...given })) },
  });
  const eachMined = (given: Record<string, unknown>) => (page: Page) => ({
    result: { ...page, receipts: page.receipts.map((one) => ({ ...one, ...given })) },
  });
  let firstPage: Page | null = null;

  const cases: readonly (readonly [
    string,
    (page: Page, before: number) => unknown,
    HistoryFailure["reason"],
  ])[] = [
    ["no such method", error(-32601), "refused"],
    ["an error in unknown words", error(-32602), "unavailable"],
    ["an internal error", error(-32603), "unavailable"],
    ["its own limit", error(-32005), "rate_limited"],
    ["neither result nor error", () => ({}), "malformed"],
    ["null for a page", () => ({ result: null }), "malformed"],
    [
      "a page without a mark for the last",
      ({ txs, receipts }) => ({ result: { txs, receipts } }),
      "malformed",
    ],
    ["transactions without receipts", (page) => ({ result: { ...page, receipts: [] } }), "inconsistent"],
    [
      "receipts in another order",
      (page) => ({ result: { ...page, receipts: page.receipts.toReversed() } }),
      "inconsistent",
    ],
    ["receipts without a status", eachMined({ status: null }), "malformed"],
    ["receipts without a time", eachMined({ timestamp: null }), "malformed"],
    ["transactions without a nonce", eachSent({ nonce: null }), "malformed"],
    ["calldata that is none", eachSent({ input: "0x123" }), "malformed"],
    [
      "an empty page with more to come",
      () => ({ result: { txs: [], receipts: [], lastPage: false } }),
      "inconsistent",
    ],
    [
      "the first page again",
      (page) => {
        firstPage ??= page;
        return { result: { ...firstPage, lastPage: false } };
      },
      "inconsistent",
    ],
    [
      "the oldest first",
      (page) => ({
        result: { ...page, txs: page.txs.toReversed(), receipts: page.receipts.toReversed() },
      }),
      "inconsistent",
    ],
    ["one block for all", eachSent({ blockNumber: "0x5" }), "inconsistent"],
  ];

  test.each(cases)("%s", async (_name, change, reason) => {
    const outcome = await read({ url: await standIn(change), pageSize: 4 });
    expect(outcome).toMatchObject({ kind: "failed", reason });
  });

  test("one that ends too soon, by its nonces", async () => {
    const url = await standIn((page) => ({ result: { ...page, lastPage: true } }));
    expect(await read({ url, pageSize: 4 })).toMatchObject({ kind: "failed", reason: "inconsistent" });
  });

  test("one with an empty page for a wallet that sent something, by their number", async () => {
    const url = await standIn(() => ({ result: { txs: [], receipts: [], lastPage: true } }));
    expect(await read({ url })).toMatchObject({ kind: "failed", reason: "inconsistent" });
  });

  test.each([
    [-32602, "block out of range"],
    [-32000, "missing trie node 12ab (path )"],
  ])("asks a node without past state (%i: %s) once for the number of calls", async (code, message) => {
    let asked = 0;
    const url = await standIn((page) => ({ result: page }), {
      get eth_getTransactionCount() {
        asked += 1;
        return { error: { code, message } };
      },
    });
    expect(found(await read({ url })).calls).toHaveLength(sent.length);
    expect(asked).toBe(1);
  });

  test("a node that limits the rate when it is asked for the number has no history", async () => {
    const url = await standIn((page) => ({ result: page }), {
      eth_getTransactionCount: { error: { code: -32005, message: "slow down" } },
    });
    expect(await read({ url })).toMatchObject({ kind: "failed", reason: "rate_limited" });
  });

  test("a time given as a number, as Erigon does, is the same time", async () => {
    const url = await standIn((page) => ({
      result: {
        ...page,
        receipts: page.receipts.map((one) => ({ ...one, timestamp: Number(one.timestamp), l1Fee: "0x10" })),
      },
    }));
    const [numbers, quantities] = [found(await read({ url })), found(await read())];
    expect(numbers.calls).toEqual(quantities.calls.map((call) => ({ ...call, fee: call.fee + 16n })));
  });
});
