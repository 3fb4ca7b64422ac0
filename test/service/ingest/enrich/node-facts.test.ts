import { text } from "node:stream/consumers";
import { type Address, numberToHex } from "viem";
import { afterEach, describe, expect, test } from "vitest";
import { createNodeFacts } from "../../../../service/ingest/enrich/node-facts.ts";
import { startLoopbackServer } from "../../../support/loopback-server.ts";

const ACCOUNT: Address = `0x${"a1".repeat(20)}`;
const CREATOR: Address = `0x${"c4".repeat(20)}`;
const POLICY = { timeoutMs: 20_000, tries: 1, pauseMs: 5, longestPauseMs: 100 };
const LAST = 1_000_000;
const unknown = { kind: "facts", creator: null, firstFunder: null, existed: null };
const gone = { error: { code: -32_000, message: "missing trie node" } };

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** A node of a chain of a block each ten seconds, on which the account exists from a block on. */
async function nodeWith({
  since,
  receipts = [],
  oldest = 0,
  code = "0x6001",
  troubles = [],
}: {
  readonly since: number | null;
  readonly receipts?: readonly object[];
  /** First block with a state. */
  readonly oldest?: number;
  readonly code?: string;
  /** Errors of the first answers. */
  readonly troubles?: readonly { readonly code: number; readonly message: string }[];
}) {
  const asked: string[] = [];
  const missing: string[] = [];
  const answerTo = (method: string, params: readonly unknown[]): object => {
    asked.push(method);
    const error = troubles[asked.length - 1];
    if (error !== undefined) return { error };
    const stateAt = Number(params[1]);
    const exists = since !== null && stateAt >= since;
    switch (method) {
      case "eth_getCode":
        return stateAt < oldest ? gone : { result: exists ? code : "0x" };
      case "eth_getTransactionCount":
        return stateAt < oldest ? gone : { result: exists ? "0x3" : "0x0" };
      case "eth_getBlockByNumber":
        return { result: { timestamp: numberToHex(10 * Number(params[0])) } };
      default:
        return { result: receipts };
    }
  };
  const { origin: url, close } = await startLoopbackServer((request, response) => {
    void text(request).then((body) => {
      const { method, params } = JSON.parse(body);
      response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, ...answerTo(method, params) }));
    });
  });
  ends.push(close);
  const onMissing = () => missing.push("old states");
  const source = createNodeFacts({ url, policy: POLICY, pauseMs: 0, onMissing });
  const read = (hasCode: boolean) =>
    source.read({ address: ACCOUNT, hasCode, block: LAST }, new AbortController().signal);
  return { read, asked, missing };
}

describe("a contract", () => {
  test("exists since the first block with its code, by the sender of its creation", async () => {
    const receipts = [
      { from: ACCOUNT, contractAddress: null },
      { from: CREATOR, contractAddress: ACCOUNT },
    ];
    const { read, asked } = await nodeWith({ since: 123_457, receipts });
    const existed = { block: 123_457, timestamp: 1_234_570 };
    expect(await read(true)).toEqual({ ...unknown, creator: CREATOR, existed });
    expect(asked.length).toBeLessThan(26);
  });

  test("that a factory created, or that is older than the chain, has no creator", async () => {
    const made = await nodeWith({ since: 7, receipts: [{ from: CREATOR, contractAddress: null }] });
    expect(await made.read(true)).toEqual({ ...unknown, existed: { block: 7, timestamp: 70 } });
    const there = await nodeWith({ since: 0 });
    expect(await there.read(true)).toEqual({ ...unknown, existed: { block: 0, timestamp: 0 } });
  });

  test("is no delegation of an account", async () => {
    const { read } = await nodeWith({ since: 7, code: `0xef0100${CREATOR.slice(2)}` });
    expect(await read(true)).toEqual(unknown);
  });
});

describe("an account without code", () => {
  test("exists since its first own transaction, or some blocks later", async () => {
    const { read } = await nodeWith({ since: 123_457 });
    const facts = await read(false);
    const block = "existed" in facts ? (facts.existed?.block ?? 0) : 0;
    expect(facts).toEqual({ ...unknown, existed: { block, timestamp: 10 * block } });
    expect(block - 123_457).toBeGreaterThanOrEqual(0);
    expect(block - 123_457).toBeLessThan(256);
  });

  test("that never sent anything is unknown", async () => {
    expect(await (await nodeWith({ since: null })).read(false)).toEqual(unknown);
  });
});

test("a node without old states is asked for three accounts and no more", async () => {
  const { read, asked, missing } = await nodeWith({ since: 999_990, oldest: 999_900 });
  for (let account = 0; account < 5; account += 1) expect(await read(true)).toEqual(unknown);
  expect([asked.length, missing]).toEqual([3, ["old states"]]);
});

test("a node in trouble is not taken for one without old states", async () => {
  const troubles = [
    { code: -32_603, message: "Internal error" },
    { code: -32_011, message: "no backend is currently healthy to serve traffic" },
    { code: -32_012, message: "credits limited to 6000/sec" },
    { code: -32_000, message: "not today" },
  ];
  const { read, missing } = await nodeWith({ since: 999_990, troubles });
  for (const _ of troubles) expect(await read(true)).toMatchObject({ kind: "failed" });
  expect(await read(true)).toMatchObject({ existed: { block: 999_990 } });
  expect(missing).toEqual([]);
});
