import {
  type Address,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  pad,
  parseAbi,
  toHex,
  zeroAddress,
} from "viem";
import { describe, expect, test } from "vitest";
import { entryPointAbi } from "../../../../devnet/abi/entry-point.ts";
import {
  type RawLog,
  SAFE_FAILURE,
  SAFE_SUCCESS,
  TRANSFER,
  USER_OPERATION,
} from "../../../../service/chain/node/rpc-answers.ts";
import {
  type BundleTransaction,
  describeExecutions,
  findExecutions,
  MAX_EXECUTIONS,
  withPayments,
} from "../../../../service/ingest/enrich/executions.ts";
import { readFrames } from "../../../../service/ingest/enrich/native-payments.ts";
import { describeCall } from "../../../../service/ingest/enrich/own-call.ts";
import { cpuMsOf } from "../../../support/cpu-time.ts";

const SAFE: Address = `0x${"5a".repeat(20)}`;
const OTHER_SAFE: Address = `0x${"5b".repeat(20)}`;
const ENTRY_POINT: Address = `0x${"e0".repeat(20)}`;
const FORGER: Address = `0x${"f0".repeat(20)}`;
const TOKEN: Address = `0x${"70".repeat(20)}`;
const PAYEE: Address = `0x${"fe".repeat(20)}`;
const STRANGER: Address = `0x${"c3".repeat(20)}`;
const HASH: Hex = `0x${"5e".repeat(32)}`;

const believed = {
  followed: new Map<Address, number>([
    [SAFE, 0],
    [OTHER_SAFE, 0],
  ]),
  entryPoints: new Set([ENTRY_POINT]),
};
const word = (value: bigint): Hex => toHex(value, { size: 32 });
const account = parseAbi([
  "function execute(address to, uint256 value, bytes data)",
  "function execTransaction(address to, uint256 value, bytes data, uint8 operation, uint256 safeTxGas, uint256 baseGas, uint256 gasPrice, address gasToken, address refundReceiver, bytes signatures)",
]);

type Event = Pick<RawLog, "address" | "topics" | "data">;

const safeEvent = (event: Hex, safe = SAFE): Event => ({
  address: safe,
  topics: [event, HASH],
  data: word(0n),
});
const operated = (entryPoint: Address, sender = SAFE, nonce = 0n): Event => ({
  address: entryPoint,
  topics: [USER_OPERATION, HASH, pad(sender), pad(zeroAddress)],
  data: `${word(nonce)}${[1n, 10n ** 15n, 90_000n].map((value) => word(value).slice(2)).join("")}`,
});
const paid = (amount: bigint, to = PAYEE, token = TOKEN): Event => ({
  address: token,
  topics: [TRANSFER, pad(SAFE), pad(to)],
  data: word(amount),
});
const anything = (address: Address): Event => ({ address, topics: [HASH], data: "0x" });

function carrying(events: readonly Event[], sent: { to?: Address; input?: Hex } = {}): BundleTransaction {
  const place = { blockNumber: 7, blockHash: HASH, transactionHash: HASH };
  return {
    block: 7,
    index: 3,
    to: sent.to ?? FORGER,
    input: sent.input ?? "0x",
    gasLimit: 500_000n,
    gasUsed: 100_000n,
    gasPrice: 7n,
    logs: events.map((event, logIndex) => ({ ...event, ...place, logIndex })),
  };
}

function executed(bundle: BundleTransaction) {
  const { executions, dropped } = findExecutions(bundle.logs, believed);
  const { entryPoints } = believed;
  return { dropped, ...describeExecutions(executions, bundle, entryPoints) };
}

const execute = (to: Address, value: bigint, data: Hex): Hex =>
  encodeFunctionData({
    abi: account,
    functionName: "execTransaction",
    args: [to, value, data, 0, 0n, 0n, 0n, zeroAddress, zeroAddress, "0x"],
  });
const transfer = (to: Address, amount: bigint): Hex =>
  encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [to, amount] });

function operate(nonces: readonly bigint[], callData: Hex): Hex {
  const operations = nonces.map((nonce) => ({
    sender: SAFE,
    nonce,
    initCode: "0x" as const,
    callData,
    accountGasLimits: word(50_000n),
    preVerificationGas: 0n,
    gasFees: word(0n),
    paymasterAndData: "0x" as const,
    signature: "0x" as const,
  }));
  return encodeFunctionData({ abi: entryPointAbi, functionName: "handleOps", args: [operations, STRANGER] });
}

describe("a fake Safe", () => {
  test("has the first 64 executions that it claims in one transaction, and delays no other", () => {
    const events = [
      ...Array.from({ length: 12_000 }, () => safeEvent(SAFE_SUCCESS)),
      safeEvent(SAFE_SUCCESS, OTHER_SAFE),
    ];
    const bundle = carrying(events);
    expect(cpuMsOf(() => executed(bundle))).toBeLessThan(1_500);
    const { calls, dropped } = executed(bundle);
    expect(dropped).toBe(12_000 - MAX_EXECUTIONS);
    expect(calls.map(({ call }) => [call.wallet, call.position])).toEqual([
      ...Array.from({ length: MAX_EXECUTIONS }, (_, index) => [SAFE, index + 1]),
      [OTHER_SAFE, 12_001],
    ]);
  });

  test("has the logs of a crowd read once for all accounts among them", () => {
    const safes = Array.from({ length: 60 }, (_, index) => pad(toHex(index + 1), { size: 20 }));
    const followed = new Map(safes.map((safe) => [safe, 0]));
    const events = [
      ...Array.from({ length: 12_000 }, () => paid(5n)),
      ...safes.map((safe) => safeEvent(SAFE_SUCCESS, safe)),
    ];
    const bundle = carrying(events);
    const { executions } = findExecutions(bundle.logs, { ...believed, followed });
    const describeAll = (some: typeof executions) =>
      describeExecutions(some, bundle, believed.entryPoints).calls.map(({ call, ...outcome }) =>
        describeCall({ ...call, timestamp: 1 }, { ...outcome, l1Fee: null, marketPrice: null }, null),
      );
    const one = cpuMsOf(() => describeAll(executions.slice(0, 1)));
    const sixty = cpuMsOf(() => describeAll(executions));
    expect(executions).toHaveLength(60);
    expect(sixty).toBeLessThan(20 * one + 200);
  });

  test("shares at most 100,000 logs of a transaction with others, whichever of them are followed", () => {
    const safes = Array.from({ length: 400 }, (_, index) => pad(toHex(index + 1), { size: 20 }));
    const events = [
      ...Array.from({ length: 1_000 }, () => anything(TOKEN)),
      ...safes.map((safe) => safeEvent(SAFE_SUCCESS, safe)),
      operated(ENTRY_POINT),
    ];
    const { logs, ...bundle } = carrying(events);
    const { entryPoints } = believed;
    const describeAll = (accounts: readonly Address[]) => {
      const followed = new Map(accounts.map((account) => [account, 0]));
      const { executions } = findExecutions(logs, { followed, entryPoints });
      return describeExecutions(executions, { ...bundle, logs }, entryPoints);
    };
    const all = describeAll([...safes, SAFE]);
    expect(all.leftOut).toBe(304);
    expect(all.calls.map(({ call }) => call.wallet)).toEqual([...safes.slice(0, 96), SAFE]);
    expect(all.calls.reduce((sum, { logs }) => sum + logs.length, 0)).toBeLessThan(103_000);
    expect(safes.slice(94, 98).map((safe) => describeAll([safe]).leftOut)).toEqual([0, 0, 1, 1]);
  });

  test("has its calldata decoded once, however large it is and however much it claims", () => {
    const input = execute(TOKEN, 0n, `0x${"ab".repeat(2_000_000)}`);
    const once = cpuMsOf(() => executed(carrying([safeEvent(SAFE_SUCCESS)], { to: SAFE, input })));
    const many = Array.from({ length: MAX_EXECUTIONS }, () => safeEvent(SAFE_SUCCESS));
    const often = cpuMsOf(() => executed(carrying(many, { to: SAFE, input })));
    expect(often).toBeLessThan(16 * once + 200);
  });

  test("has the logs between its executions, each once, whatever others claim", () => {
    const events = [
      anything(TOKEN),
      safeEvent(SAFE_SUCCESS, FORGER),
      safeEvent(SAFE_SUCCESS),
      anything(PAYEE),
      safeEvent(SAFE_FAILURE, OTHER_SAFE),
      safeEvent(SAFE_FAILURE),
    ];
    const logs = executed(carrying(events)).calls.map((one) => one.logs.map(({ logIndex }) => logIndex));
    expect(logs).toEqual([
      [0, 1],
      [0, 1, 2, 3],
      [3, 4],
    ]);
  });
});

describe("a Safe's execution", () => {
  test("that is part of an operation of the same account is not counted by itself", () => {
    const { calls } = executed(carrying([safeEvent(SAFE_FAILURE), operated(ENTRY_POINT)]));
    expect(calls.map(({ execution, call }) => [execution.origin, call.position])).toEqual([["erc4337", 2]]);
  });

  test.each<[string, Event]>([
    ["an operation that no believed entry point tells of", operated(FORGER)],
    ["an operation of another account", operated(ENTRY_POINT, OTHER_SAFE)],
  ])("is not hidden by %s", (_name, after) => {
    const { calls } = executed(carrying([safeEvent(SAFE_FAILURE), after, operated(FORGER)]));
    expect(calls.map(({ call: { wallet, ok } }) => [wallet, ok])).toContainEqual([SAFE, false]);
  });
});

describe("calldata of an account with its own code", () => {
  const byOperation = (events: readonly Event[], input: Hex, nonces: readonly bigint[] = [0n]) =>
    executed(carrying(events, { to: ENTRY_POINT, input: operate(nonces, input) })).calls;
  const bySafe = (event: Hex, events: readonly Event[], input: Hex) =>
    executed(carrying([...events, safeEvent(event)], { to: SAFE, input })).calls[0]?.call;
  const claim = transfer(PAYEE, 5n);

  test.each([true, false])("sends an unknown amount of native coin without a trace, success %s", (ok) => {
    expect(bySafe(ok ? SAFE_SUCCESS : SAFE_FAILURE, [], execute(PAYEE, 10n ** 18n, "0x"))).toMatchObject({
      to: PAYEE,
      value: null,
    });
    const input = encodeFunctionData({ abi: account, functionName: "execute", args: [PAYEE, 9n, "0x"] });
    const [{ call, asked } = {}] = byOperation([operated(ENTRY_POINT)], input);
    expect(call).toMatchObject({ to: PAYEE, value: null });
    expect(asked).toEqual({
      account: SAFE,
      call: { to: PAYEE, value: 9n, input: "0x" },
      entry: { by: ENTRY_POINT, input, isWhole: true, turn: 0, turns: 1 },
    });
  });

  test("sends what the trace of its transaction shows, by the turn of the operation", () => {
    const input = encodeFunctionData({ abi: account, functionName: "execute", args: [PAYEE, 9n, "0x"] });
    const calls = byOperation([operated(ENTRY_POINT, SAFE, 1n), operated(ENTRY_POINT, SAFE, 2n)], input, [
      1n,
      2n,
    ]);
    const sending = { type: "CALL", from: SAFE, to: PAYEE, value: "0x9", input: "0x" };
    const entering = { type: "CALL", from: ENTRY_POINT, to: SAFE, value: "0x0", input };
    const trace = {
      ...{ type: "CALL", from: STRANGER, to: ENTRY_POINT, input: "0x" },
      calls: [entering, { ...entering, calls: [sending] }],
    };
    const values = (frames: ReturnType<typeof readFrames>) =>
      withPayments(calls, frames).map(({ call }) => call.value);
    expect(values(readFrames(trace))).toEqual([0n, 9n]);
    expect(values(null)).toEqual([null, null]);
  });

  test("pays whom the token's own log says that it was paid, and as much", () => {
    expect(bySafe(SAFE_SUCCESS, [paid(5n)], execute(TOKEN, 0n, claim))?.input).toBe(claim);
  });

  test.each<[string, readonly Event[]]>([
    ["nothing", []],
    ["another amount", [paid(4n)]],
    ["another payee", [paid(5n, STRANGER)]],
    ["another token", [paid(5n, PAYEE, FORGER)]],
    ["what is no movement", [anything(TOKEN)]],
  ])("pays no account where the logs show %s", (_name, events) => {
    expect(bySafe(SAFE_SUCCESS, events, execute(TOKEN, 0n, claim))).toMatchObject({
      to: TOKEN,
      input: claim.slice(0, 10),
    });
  });

  test("stays as it is where it failed: a failure only costs", () => {
    expect(bySafe(SAFE_FAILURE, [], execute(TOKEN, 0n, claim))).toMatchObject({ ok: false, input: claim });
  });

  test("is distinguished by nonce where one bundle has several operations", () => {
    const input = encodeFunctionData({ abi: account, functionName: "execute", args: [TOKEN, 0n, "0x"] });
    const events = [operated(ENTRY_POINT, SAFE, 1n), operated(ENTRY_POINT, SAFE, 2n)];
    expect(byOperation(events, input, [1n]).map(({ call }) => call.to)).toEqual([TOKEN, null]);
  });
});

test("throws for an execution that the transaction's logs do not show", () => {
  const { logs } = carrying([safeEvent(SAFE_SUCCESS), safeEvent(SAFE_SUCCESS)]);
  const { executions } = findExecutions(logs, believed);
  const bundle = carrying([safeEvent(SAFE_SUCCESS)]);
  const { entryPoints } = believed;
  expect(() => describeExecutions(executions, bundle, entryPoints)).toThrow(/not in its receipt/);
});

test("ignores logs before the block in which a wallet is followed", () => {
  const { logs } = carrying([safeEvent(SAFE_SUCCESS)]);
  const followed = new Map([[SAFE, 8]]);
  expect(findExecutions(logs, { ...believed, followed }).executions).toEqual([]);
});
