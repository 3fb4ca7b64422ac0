import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type Address,
  encodeFunctionData,
  getAddress,
  type Hex,
  numberToHex,
  zeroAddress,
  zeroHash,
} from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { keeperTargetAbi } from "../../../../devnet/abi/keeper-target.ts";
import { revertOnDemandAbi } from "../../../../devnet/abi/revert-on-demand.ts";
import { NodeFailure } from "../../../../service/chain/node/failure.ts";
import {
  type AskNode,
  createRecoveryNode,
  type NodeBlock,
  type RecoveryNode,
  readTransaction,
} from "../../../../service/reports/recovery/recovery-node.ts";
import { startTestChain, type TestChain } from "../../../support/anvil-testkit/chain.ts";
import { failedCall } from "../../api/routes/fake-recovery.ts";

const AGENT: Address = "0x00000000000000000000000000000000000a9e01";
const OPTIONS = { timeoutMs: 5_000, retries: 0, deadlineMs: 20_000, monotonicMs: () => performance.now() };

const perform = encodeFunctionData({ abi: keeperTargetAbi, functionName: "perform", args: [1n, 2n ** 63n] });
const run = (mode: number, text: string) =>
  encodeFunctionData({ abi: revertOnDemandAbi, functionName: "run", args: [mode, text] });

let chain: TestChain;
let node: RecoveryNode;

beforeAll(async () => {
  chain = await startTestChain();
  await chain.register(AGENT);
  node = createRecoveryNode({ url: chain.rpcUrl, ...OPTIONS });
});
afterAll(() => chain.stop());

async function headBlock(): Promise<NodeBlock> {
  const block = await node.block(await chain.head());
  if (block === null) throw new Error("the chain has no head");
  return block;
}

async function attempt(to: Address, data: Hex, value = 0n) {
  return node.attempt({ from: AGENT, to, data, value }, await headBlock());
}

describe("a node's answer to a call that is tried", () => {
  it("is what it needs where it passes", async () => {
    const trial = await attempt(chain.contracts.keeperTarget1, perform);
    expect(trial).toEqual({ kind: "passes", gas: expect.any(BigInt), l1Fee: 0n });
    const { status } = await chain.send({
      from: AGENT,
      to: chain.contracts.keeperTarget1,
      data: perform,
      gas: trial.kind === "passes" ? trial.gas : 0n,
    });
    expect(status).toBe("success");
  });

  it.each<[string, number, string]>([
    ["with a text", 1, "not today"],
    ["with an error of its own", 2, "custom error "],
    ["with nothing", 3, "no reason given"],
    ["by a panic", 4, "Panic(1)"],
  ])("is the reason where it reverts %s", async (_name, mode, reason) => {
    expect(await attempt(chain.contracts.revertOnDemand, run(mode, "not today"))).toEqual({
      kind: "fails",
      reason: expect.stringContaining(reason),
    });
  });

  it("is what the contract says, even where that sounds like the node's own trouble", async () => {
    expect(await attempt(chain.contracts.revertOnDemand, run(1, "header not found"))).toEqual({
      kind: "fails",
      reason: "header not found",
    });
  });

  it("is that the called account has no code", async () => {
    expect(await attempt(getAddress(`0x${"77".repeat(20)}`), perform)).toEqual({ kind: "no_code" });
  });

  it("is a failure of the call, not of the node, where the value is beyond the balance", async () => {
    expect(await attempt(AGENT, "0x", 10n ** 30n)).toEqual({
      kind: "fails",
      reason: "The balance does not cover its value.",
    });
  });

  it("covers calls in a row, each on the state that the others left", async () => {
    const { revertOnDemand, keeperTarget1 } = chain.contracts;
    const call = (to: Address, data: Hex) => ({ from: AGENT, to, data, value: 0n, gas: 200_000n });
    const calls = [
      call(keeperTarget1, perform),
      call(revertOnDemand, run(1, "no")),
      call(keeperTarget1, perform),
    ];
    expect(await node.simulateSequence(calls, await headBlock())).toEqual([null, "no", null]);
  });
});

describe("the answer of a node about a wallet", () => {
  it("is its balance, nonces and what is pending", async () => {
    const block = await chain.head();
    const before = await node.wallet(AGENT, block);
    const hash = await chain.rpc.request("eth_sendTransaction", {
      from: AGENT,
      to: chain.contracts.keeperTarget1,
      data: perform,
      gas: numberToHex(200_000n),
    });
    const after = await node.wallet(AGENT, block);
    expect(before).toMatchObject({ account: "eoa", pendingNonce: before.nonce, underWay: [] });
    expect(after).toMatchObject({
      nonce: before.nonce,
      pendingNonce: before.nonce + 1,
      underWay: [{ hash, to: chain.contracts.keeperTarget1.toLowerCase(), input: perform, value: 0n }],
    });
    expect(after.balance).toBeLessThan(before.balance);
    await chain.tick();
    expect((await node.wallet(AGENT, block)).underWay).toMatchObject([{ hash }]);
  });

  it("is that a contract has no key, while an EIP-7702 delegation leaves it", async () => {
    const block = await chain.head();
    expect(await node.wallet(chain.contracts.smartWallet, block)).toMatchObject({ account: "smart_account" });
    await chain.rpc.request("anvil_setCode", AGENT, `0xef0100${"11".repeat(20)}`);
    expect(await node.wallet(AGENT, block)).toMatchObject({ account: "delegated_eoa" });
    await chain.rpc.request("anvil_setCode", AGENT, "0x");
  });

  it("is its amount of a token, and null where the contract is no token", async () => {
    const block = await chain.head();
    const { usdc, keeperTarget1 } = chain.contracts;
    expect(await node.holding(AGENT, { token: usdc, spender: null }, block)).toBe(0n);
    expect(await node.holding(AGENT, { token: usdc, spender: keeperTarget1 }, block)).toBe(0n);
    expect(await node.holding(AGENT, { token: keeperTarget1, spender: null }, block)).toBeNull();
    const approval = { token: chain.contracts.identityRegistry, spender: keeperTarget1 };
    expect(await node.approvesAll(AGENT, approval, block)).toBe(false);
  });

  it("is why a call failed, on the state before its block; null for a block that it does not have", async () => {
    const { revertOnDemand } = chain.contracts;
    const input = run(1, "not today");
    const { blockNumber } = await chain.send({ from: AGENT, to: revertOnDemand, data: input });
    const call = failedCall({ to: revertOnDemand, input, block: blockNumber, gasLimit: 500_000n });
    expect(await node.replay(call, AGENT)).toEqual({ reason: "not today", isSlippage: false });
    expect(await node.replay({ ...call, block: 10_000_000 }, AGENT)).toBeNull();
    expect(await node.block(10_000_000)).toBeNull();
  });
});

describe("a node in trouble", () => {
  let server: Server | null = null;
  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
  });

  /** A node that answers every request with a text, or not at all. */
  async function stubbornNode(text: string | null, options: Partial<typeof OPTIONS> = {}) {
    server = createServer((_request, response) => {
      if (text !== null) response.setHeader("content-type", "application/json").end(text);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    return createRecoveryNode({ url: `http://127.0.0.1:${port}`, ...OPTIONS, ...options });
  }

  const result = (value: unknown) => JSON.stringify({ jsonrpc: "2.0", id: 1, result: value });
  const error = (code: number, message: string) =>
    JSON.stringify({ jsonrpc: "2.0", id: 1, error: { code, message } });
  const header = (number: Hex) => ({
    number,
    hash: zeroHash,
    timestamp: "0x1",
    gasLimit: "0x1",
    baseFeePerGas: "0x1",
  });

  it.each<[string, string, string]>([
    ["answers with what is no JSON", "<html>", "garbage"],
    ["answers in the wrong form", result({ number: 5 }), "garbage"],
    ["answers with another block", result(header("0x6")), "garbage"],
    ["asks for fewer requests", error(-32005, "limit exceeded"), "rate_limited"],
    ["has trouble of its own", error(-32603, "internal error"), "unreachable"],
    ["lacks the state", error(-32000, "missing trie node abc"), "state_missing"],
    ["lacks the header", error(-32000, "header not found"), "node_behind"],
  ])("that %s gives no answer", async (_name, text, kind) => {
    await expect((await stubbornNode(text)).block(5)).rejects.toMatchObject({ name: "NodeFailure", kind });
  });

  it("that never answers is given up after its time", async () => {
    const slow = await stubbornNode(null, { timeoutMs: 100 });
    await expect(slow.block(5)).rejects.toMatchObject({ kind: "timeout" });
  });

  it("that is gone is out of reach", async () => {
    const gone = createRecoveryNode({ url: "http://127.0.0.1:1", ...OPTIONS });
    await expect(gone.block(5)).rejects.toMatchObject({ kind: "unreachable" });
  });

  it("is asked nothing more once the time for the whole answer is over", async () => {
    let now = 0;
    const node = await stubbornNode(result(header("0x5")), { monotonicMs: () => now, deadlineMs: 1_000 });
    expect(await node.block(5)).toMatchObject({ number: 5 });
    now = 1_001;
    await expect(node.block(5)).rejects.toMatchObject({ kind: "timeout" });
  });
});

const HASH: Hex = `0x${"f1".repeat(32)}`;
const MINED = {
  hash: HASH,
  from: "0x00000000000000000000000000000000000000A1",
  to: zeroAddress,
  nonce: "0x6",
  input: "0xAABB",
  value: "0x3",
  blockNumber: "0x384",
};

/** A node that answers so, checked as a real one is. */
function answering(value: unknown): AskNode {
  return async (schema) => {
    const parsed = schema.safeParse(value);
    if (parsed.success) return { kind: "answer", value: parsed.data };
    throw new NodeFailure("garbage", parsed.error.message);
  };
}

const refusing: AskNode = async () => ({
  kind: "refused",
  failure: { kind: "refused", message: "transaction indexing is in progress", revertData: null },
});

describe("a transaction that a node is asked for", () => {
  it("is what was sent, and the block that it is in", async () => {
    expect(await readTransaction(answering(MINED), HASH)).toEqual({
      hash: HASH,
      from: "0x00000000000000000000000000000000000000a1",
      to: zeroAddress,
      nonce: 6,
      input: "0xaabb",
      value: 3n,
      block: 900,
    });
  });

  it.each<[string, AskNode]>([
    ["does not know", answering(null)],
    ["refuses to look up", refusing],
  ])("is nothing where the node %s it", async (_name, ask) => {
    expect(await readTransaction(ask, HASH)).toBeNull();
  });

  it.each<[string, unknown]>([
    ["another transaction", { ...MINED, hash: `0x${"f2".repeat(32)}` }],
    ["what is none", { hash: HASH }],
  ])("is a failure of the node where %s comes", async (_name, value) => {
    await expect(readTransaction(answering(value), HASH)).rejects.toMatchObject({ kind: "garbage" });
  });
});
