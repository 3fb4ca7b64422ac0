import { type Address, concatHex, encodeFunctionData, erc20Abi, type Hex, numberToHex, parseAbi } from "viem";
import { describe, expect, it } from "vitest";
import { readIntents } from "../../../../service/reports/recovery/call-intent.ts";
import type {
  CallOutcomes,
  ReportedSuccess,
  SentCall,
} from "../../../../service/reports/recovery/failed-calls.ts";
import { openRecovery } from "../../../../service/reports/recovery/open-recovery.ts";
import { type RefusalCode, sortFailures } from "../../../../service/reports/recovery/sort-failures.ts";
import { WALLET } from "../../api/fake-ports.ts";
import {
  BLOCK,
  callOutcomes,
  failedCall,
  fakeRecovery,
  reportedOutcomes,
  TARGET,
  walletState,
} from "../../api/routes/fake-recovery.ts";

const OTHER = "0x00000000000000000000000000000000000000f2";
const FRIEND = "0x00000000000000000000000000000000000000f1";
const TOKEN = "0x00000000000000000000000000000000000000a1";
const SUCCESS: Hex = `0x${"5c".repeat(32)}`;
const MIXER = "0x00000000000000000000000000000000000000b1";
const DAY = 86_400;

const pay = (amount: bigint, to: Address = FRIEND): Partial<SentCall> => ({
  to: TOKEN,
  input: encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [to, amount] }),
});
const routers = parseAbi(["function swapExactTokensForTokens(uint256,uint256,address[],address,uint256)"]);
const swapBefore = (deadline: number, recipient: Address = WALLET) => ({
  input: encodeFunctionData({
    abi: routers,
    functionName: "swapExactTokensForTokens",
    args: [1n, 1n, [TOKEN, FRIEND], recipient, BigInt(deadline)],
  }),
});

const approveFor = (spender: Address): Partial<SentCall> => ({
  to: TOKEN,
  input: encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [spender, 1n] }),
});
const payFrom = (owner: Address): Partial<SentCall> => ({
  to: TOKEN,
  input: encodeFunctionData({ abi: erc20Abi, functionName: "transferFrom", args: [owner, FRIEND, 1n] }),
});
/** Calls of one method that nothing is known of. */
const UNKNOWN = (given: number): Hex => `0xaabbccdd${numberToHex(given, { size: 32 }).slice(2)}`;
const SELF_CALL = { hash: SUCCESS, block: 950, transactionIndex: 0 } as const;

type World = {
  readonly call?: Partial<SentCall>;
  readonly outcomes?: Partial<CallOutcomes>;
  readonly state?: Parameters<typeof walletState>[0];
  readonly listed?: readonly Address[];
};

async function sort({ call = {}, outcomes = {}, state = {}, listed = [MIXER] }: World) {
  const read = callOutcomes({ failures: [failedCall(call)], ...outcomes });
  return sortFailures({
    wallet: WALLET,
    listed: new Set(listed),
    outcomes: read,
    failures: await readIntents(read.failures, WALLET),
    state: walletState(state),
    block: BLOCK,
  });
}

const later = (changes: Partial<SentCall> = {}) => failedCall({ block: 950, hash: SUCCESS, ...changes });

describe("a failure", () => {
  it("is a candidate where nothing speaks against it", async () => {
    expect(await sort({})).toMatchObject({ candidates: [{ call: failedCall() }], refused: [] });
  });

  it.each<[string, World, RefusalCode, Hex | null]>([
    ["of a contract wallet", { state: { account: "smart_account" } }, "contract_wallet", null],
    ["of 15 days ago", { call: { timestamp: BLOCK.timestamp - 15 * DAY } }, "too_old", null],
    ["that a later success repaired", { outcomes: { successes: [later()] } }, "repaired", SUCCESS],
    [
      "repaired by a later call of the same block",
      { outcomes: { successes: [later({ block: 900, transactionIndex: 1 })] } },
      "repaired",
      SUCCESS,
    ],
    [
      "of a transfer that was made with another amount",
      { call: pay(10n), outcomes: { successes: [later(pay(4n))] } },
      "repaired",
      SUCCESS,
    ],
    ["of a call of a mixer", { call: { to: MIXER } }, "listed_account", null],
    ["of a payment to a mixer", { call: pay(1n, MIXER) }, "listed_account", null],
    [
      "since when the account's own code called the same method",
      { outcomes: { executed: [{ to: TARGET, selector: failedCall().selector, block: 950 }] } },
      "maybe_repaired",
      null,
    ],
    [
      "since when the same unknown method succeeded with other calldata",
      { call: { input: UNKNOWN(1) }, outcomes: { successes: [later({ input: UNKNOWN(2) })] } },
      "maybe_repaired",
      SUCCESS,
    ],
    [
      "for perhaps the same as a pending transaction of its unknown method",
      {
        call: { input: UNKNOWN(1) },
        state: { pendingNonce: 8, underWay: [later({ input: UNKNOWN(2) })] },
      },
      "under_way",
      SUCCESS,
    ],
    [
      "of a swap since when the router did something that cannot be read",
      {
        call: swapBefore(BLOCK.timestamp + 3_600),
        outcomes: { successes: [later({ input: swapBefore(1).input.slice(0, 10) as Hex })] },
      },
      "maybe_repaired",
      SUCCESS,
    ],
    [
      "of a transfer since when the wallet's own code made a batch of calls",
      { call: pay(10n), outcomes: { selfCall: SELF_CALL }, state: { account: "delegated_eoa" } },
      "maybe_repaired",
      SUCCESS,
    ],
    [
      "of a transfer since when the account's code did what is not known",
      { call: pay(10n), outcomes: { executed: [{ to: null, selector: null, block: 950 }] } },
      "maybe_repaired",
      null,
    ],
    [
      "of a wallet that runs another's code, whose newest executions are not read",
      { outcomes: { enrichedBlock: BLOCK.number - 1 }, state: { account: "delegated_eoa" } },
      "maybe_repaired",
      null,
    ],
    [
      "while a call of the wallet's own code is pending",
      { state: { pendingNonce: 8, underWay: [later({ to: WALLET, input: "0x12345678" })] } },
      "under_way",
      SUCCESS,
    ],
    ["of a wallet that is listed itself", { listed: [WALLET] }, "wallet_listed", null],
    ["of an approval of a listed spender", { call: approveFor(MIXER) }, "listed_account", null],
    ["of a swap for a listed recipient", { call: swapBefore(2_000_000_000, MIXER) }, "listed_account", null],
    ["of a transfer out of a listed account", { call: payFrom(MIXER) }, "listed_account", null],
    [
      "of an unknown method that names a listed account",
      { call: { input: `0x12345678${MIXER.slice(2).padStart(64, "0")}` } },
      "listed_account",
      null,
    ],
    ["before too many successes to read", { outcomes: { completeFrom: 901 } }, "history_too_long", null],
    [
      "for the same as a pending transaction",
      { state: { pendingNonce: 8, underWay: [later()] } },
      "under_way",
      SUCCESS,
    ],
    ["while the node hides what is pending", { state: { pendingNonce: 8 } }, "under_way_unseen", null],
    ["whose deadline passed", { call: swapBefore(BLOCK.timestamp - 1) }, "deadline_passed", null],
    [
      "whose deadline passes in a moment",
      { call: swapBefore(BLOCK.timestamp + 30) },
      "deadline_passed",
      null,
    ],
  ])("%s is refused", async (_name, world, code, by) => {
    const { candidates, refused } = await sort(world);
    expect(candidates).toEqual([]);
    expect(refused).toMatchObject([{ code, by }]);
  });

  it.each<[string, World]>([
    ["an earlier success of the same", { outcomes: { successes: [later({ block: 899 })] } }],
    ["a later success of another method", { outcomes: { successes: [later({ input: "0x12345678" })] } }],
    ["an earlier call of the wallet itself", { outcomes: { selfCall: { ...SELF_CALL, block: 899 } } }],
    ["a later success at another account", { outcomes: { successes: [later({ to: FRIEND })] } }],
    [
      "a later transfer to somebody else",
      { call: pay(10n), outcomes: { successes: [later(pay(10n, TOKEN))] } },
    ],
    [
      "a pending transaction for something else",
      {
        state: { pendingNonce: 8, underWay: [later({ input: "0x12345678" })] },
      },
    ],
    ["a deadline in an hour", { call: swapBefore(BLOCK.timestamp + 3_600) }],
    [
      "an earlier execution of the same method",
      { outcomes: { executed: [{ to: TARGET, selector: failedCall().selector, block: 899 }] } },
    ],
    ["unread executions where no other code acts for it", { outcomes: { enrichedBlock: null } }],
    [
      "other code that acts for it, once all executions are read",
      {
        outcomes: { enrichedBlock: BLOCK.number },
        state: { account: "delegated_eoa" },
      },
    ],
    ["13 days", { call: { timestamp: BLOCK.timestamp - 13 * DAY } }],
    ["a block from which on successes are complete", { outcomes: { completeFrom: 900 } }],
  ])("is a candidate in spite of %s", async (_name, world) => {
    expect(await sort(world)).toMatchObject({ candidates: [{}], refused: [] });
  });

  it("is not tried beyond the newest thirty, and those are the newest", async () => {
    const failures = Array.from({ length: 35 }, (_, place) =>
      failedCall({ block: 900 - place, input: `0xaabbccdd${String(place).padStart(2, "0")}` }),
    );
    const { candidates, refused } = await sort({ outcomes: { failures } });
    expect(candidates.map(({ call }) => call)).toEqual(failures.slice(0, 30));
    expect(refused.map(({ call, code }) => [call, code])).toEqual(
      failures.slice(30).map((call) => [call, "not_tried"]),
    );
  });
});

const selected = ({ input, ...call }: Partial<SentCall>): Partial<SentCall> => ({
  ...call,
  ...(input === undefined ? {} : { input, selector: input.slice(0, 10) as Hex }),
});
const INCREASE = "0x39509351";
const V2_SWAP = "0x38ed1739";
const plain: Partial<SentCall> = { to: FRIEND, input: "0x", selector: null, value: 5n };
const payment = selected(pay(5n));
const approval = selected(approveFor(FRIEND));

async function refusalOf(call: Partial<SentCall>, success: Partial<ReportedSuccess>) {
  const { to, selector } = failedCall(call);
  const successes = [
    { ...{ hash: SUCCESS, block: 950, transactionIndex: 0, to, selector, recipient: null }, ...success },
  ];
  const reported = reportedOutcomes({ failures: [], successes });
  const { refused } = await sort({ call, outcomes: { reported } });
  return refused[0] ?? null;
}

describe("a failure before a success that a history source reported", () => {
  it.each<[string, Partial<SentCall>, Partial<ReportedSuccess>]>([
    ["a payment of the same token to the same account", payment, { recipient: FRIEND }],
    ["a plain transfer to the same account", plain, {}],
  ])("was made good by %s", async (_name, call, success) => {
    expect(await refusalOf(call, success)).toMatchObject({ code: "repaired", by: SUCCESS });
  });

  it.each<[string, Partial<SentCall>, Partial<ReportedSuccess>]>([
    ["another call of its method, whose calldata is not known", {}, {}],
    ["a payment of the token to nobody knows whom", payment, {}],
    ["another approval of the token", approval, { selector: INCREASE }],
    ["a swap at any router", swapBefore(BLOCK.timestamp + 3_600), { to: OTHER, selector: V2_SWAP }],
    ["a call of the wallet itself, which may run its own code", {}, { to: WALLET, selector: "0x12345678" }],
  ])("may have been made good by %s", async (_name, call, success) => {
    expect(await refusalOf(call, success)).toMatchObject({ code: "maybe_repaired", by: SUCCESS });
  });

  it.each<[string, Partial<SentCall>, Partial<ReportedSuccess>]>([
    ["a success before it", {}, { block: 899 }],
    ["another method", {}, { selector: "0x12345678" }],
    ["another account", {}, { to: OTHER }],
    ["a payment of the token to another", payment, { recipient: OTHER }],
    ["a plain transfer to another", plain, { to: TARGET, selector: null }],
    ["an approval of another token", approval, { to: OTHER, selector: INCREASE }],
  ])("was not made good by %s", async (_name, call, success) => {
    expect(await refusalOf(call, success)).toBeNull();
  });
});

const nestedAbi = parseAbi([
  "function multicall(bytes[] calls)",
  "function exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))",
]);
const NESTED_SWAP = encodeFunctionData({
  abi: nestedAbi,
  functionName: "exactInputSingle",
  args: [[WALLET, WALLET, 500, WALLET, 5n, 1n, 0n]],
});
/** 5 KB of calldata each, as many failures as are listed: a megabyte. */
const largeFailures = Array.from({ length: 200 }, (_, place) =>
  failedCall({
    hash: numberToHex(place, { size: 32 }),
    input: encodeFunctionData({
      abi: nestedAbi,
      functionName: "multicall",
      args: [[...Array<Hex>(15).fill(NESTED_SWAP), concatHex(["0x00", numberToHex(place, { size: 32 })])]],
    }),
  }),
);
const CHARACTERS = largeFailures.reduce((sum, { input }) => sum + input.length, 0);
/** At most as much is read in one turn as of one call. */
const LEAST_TURNS = Math.floor(CHARACTERS / 32_768);

/** How many turns the event loop has while something is worked on. */
async function turnsDuring<Result>(work: () => Promise<Result>) {
  let turns = 0;
  let next = setImmediate(function count() {
    turns += 1;
    next = setImmediate(count);
  });
  const result = await work().finally(() => clearImmediate(next));
  return { turns, result };
}

it("other work has its turn while a recovery reads and sorts a megabyte of failures' calldata", async () => {
  expect(LEAST_TURNS).toBeGreaterThan(50);
  const opened = await turnsDuring(() => openRecovery(WALLET, fakeRecovery({}, { failures: largeFailures })));
  expect(opened.turns).toBeGreaterThanOrEqual(LEAST_TURNS);
  const { result: recovery } = opened;
  expect(recovery.failures[0]?.intent.kind).toBe("swap");
  const successes = largeFailures.map((call) => ({ ...call, block: call.block - 1 }));
  const sorted = await turnsDuring(() =>
    sortFailures({ ...recovery, outcomes: { ...recovery.outcomes, successes } }),
  );
  expect(sorted.turns).toBeGreaterThanOrEqual(2 * LEAST_TURNS);
  expect(sorted.result.candidates).toHaveLength(30);
});
