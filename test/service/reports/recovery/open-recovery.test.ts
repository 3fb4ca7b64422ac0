import { type Address, encodeFunctionData, erc20Abi, numberToHex, parseAbi } from "viem";
import { beforeEach, describe, expect, it } from "vitest";
import { NodeFailure } from "../../../../service/chain/node/failure.ts";
import { AHS_2026_2 } from "../../../../service/model/score/policy.ts";
import type {
  CallOutcomes,
  FailedCall,
  ReportedCall,
} from "../../../../service/reports/recovery/failed-calls.ts";
import {
  createListedAccounts,
  openRecovery,
  readReported,
} from "../../../../service/reports/recovery/open-recovery.ts";
import { NOTHING_BEFORE, recoverFailures } from "../../../../service/reports/recovery/recover-failures.ts";
import type { RecoveryNode, WalletState } from "../../../../service/reports/recovery/recovery-node.ts";
import { WALLET } from "../../api/fake-ports.ts";
import {
  BLOCK,
  callOutcomes,
  failedCall,
  fakeNode,
  fakeRecovery,
  reportedFailure,
  reportedOutcomes,
} from "../../api/routes/fake-recovery.ts";
import { account, USDC } from "../../model/features/histories.ts";
import { MIXER, useRowsWorld } from "../../scores/read/rows-world.ts";

const DAY = 86_400;

type Mined = NonNullable<Awaited<ReturnType<RecoveryNode["transaction"]>>>;

const mined = (call: ReportedCall, changes: Partial<Mined> = {}): Mined => ({
  ...{ hash: call.hash, from: WALLET, to: call.to, value: call.value, block: call.block },
  ...{ nonce: 3, input: "0x322e9f04" },
  ...changes,
});

type World = {
  readonly reported?: Partial<CallOutcomes["reported"]>;
  readonly account?: WalletState["account"];
  readonly transaction?: RecoveryNode["transaction"];
};

function read({ reported = {}, account = "eoa", transaction = async () => mined(reportedFailure()) }: World) {
  const known = { wallet: WALLET, state: { account }, block: BLOCK };
  const outcomes = callOutcomes({ reported: reportedOutcomes(reported) });
  return readReported(fakeNode({ transaction }), { ...known, outcomes });
}

describe("a failure that only a history source reported", () => {
  it("has its calldata and nonce from the node, and its place among the others", async () => {
    const { outcomes, unread } = await read({});
    expect(outcomes.failures).toEqual([
      failedCall(),
      { ...reportedFailure(), nonce: 3, input: "0x322e9f04" },
    ]);
    expect(unread).toEqual([]);
  });

  it.each<[string, World, string]>([
    ["that the node does not know", { transaction: async () => null }, "not_read"],
    [
      "of whose hash the node has another's transaction",
      { transaction: async () => mined(reportedFailure(), { from: `0x${"77".repeat(20)}` }) },
      "not_read",
    ],
    [
      "that the node has in another block",
      { transaction: async () => mined(reportedFailure(), { block: 801 }) },
      "not_read",
    ],
    ["before a gap that nobody tells of", { reported: { meetsIndex: false } }, "maybe_repaired"],
    ["of a wallet that runs another's code", { account: "delegated_eoa" }, "maybe_repaired"],
    ["of a contract wallet", { account: "smart_account" }, "contract_wallet"],
    ["before too many reported successes to read", { reported: { completeFrom: 801 } }, "history_too_long"],
    [
      "of 15 days ago",
      { reported: { failures: [reportedFailure({ timestamp: BLOCK.timestamp - 15 * DAY })] } },
      "too_old",
    ],
  ])("%s stays unread, with the reason", async (_name, world, code) => {
    const { outcomes, unread } = await read(world);
    expect(outcomes.failures).toEqual([failedCall()]);
    expect(unread).toMatchObject([{ call: { hash: reportedFailure().hash }, code }]);
  });

  it("is asked for among the newest thirty only", async () => {
    const failures = Array.from({ length: 35 }, (_, place) =>
      reportedFailure({ hash: numberToHex(place + 1, { size: 32 }), block: 800 - place }),
    );
    const asked: string[] = [];
    const { outcomes, unread } = await read({
      reported: { failures },
      transaction: async (hash) => {
        asked.push(hash);
        const call = failures.find((failure) => failure.hash === hash);
        return call === undefined ? null : mined(call);
      },
    });
    expect(asked.toSorted()).toEqual(failures.slice(0, 30).map(({ hash }) => hash));
    expect(outcomes.failures).toHaveLength(31);
    expect(unread.map(({ call, code }) => [call.hash, code])).toEqual(
      failures.slice(30).map(({ hash }) => [hash, "not_tried"]),
    );
  });

  it("leaves no answer where the node gives none", async () => {
    const transaction = async () => {
      throw new NodeFailure("timeout", "too late");
    };
    await expect(read({ transaction })).rejects.toMatchObject({ name: "NodeFailure", kind: "timeout" });
  });
});

const world = useRowsWorld();
const BAD: Address = "0x7f367cc41522ce07553e823bf3be79a889debe1b";
const OWN = account(0x0e1);
const router = parseAbi(["function swapExactTokensForTokens(uint256,uint256,address[],address,uint256)"]);

/** The reading of sanctions as it is made of the wallet's very failures, on the tables of the index. */
async function recover(failure: Partial<FailedCall>, wallet: Address = OWN) {
  const listed = createListedAccounts(world.db, { chainId: 31_337, mixers: [MIXER] });
  const failures = [failedCall(failure)];
  const ports = { ...fakeRecovery(), outcomes: async () => callOutcomes({ failures }), listed };
  const recovery = await openRecovery(wallet, ports);
  const bounds = { before: NOTHING_BEFORE, policy: AHS_2026_2 };
  const { offers, refused } = await recoverFailures(recovery, fakeNode(), bounds);
  return [...offers.map(() => "offered"), ...refused.map(({ code }) => code)];
}

const approve = (spender: Address): Partial<FailedCall> => ({
  to: USDC,
  input: encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [spender, 5n] }),
});
const swapFor = (recipient: Address): Partial<FailedCall> => ({
  input: encodeFunctionData({
    abi: router,
    functionName: "swapExactTokensForTokens",
    args: [1n, 1n, [USDC, account(0xe1)], recipient, 2n ** 40n],
  }),
});

describe("no transaction is prepared that deals with a listed account", () => {
  beforeEach(async () => {
    await world.client.query("truncate ahs.sanctions_entry");
    await world.client.query(
      "insert into ahs.sanctions_entry (source, address, reference, detected_at) values ('ofac-sdn', $1, 'test', now())",
      [BAD],
    );
  });

  it.each<[string, Partial<FailedCall>]>([
    ["a spender that failed to be approved", approve(BAD)],
    ["a mixer that failed to be approved", approve(MIXER)],
    ["who was to be paid by a swap", swapFor(BAD)],
    ["whom it calls", { to: BAD }],
    ["whom unknown calldata names", { input: `0x12345678${BAD.slice(2).padStart(64, "0")}` }],
    ["whom calldata within calldata names", { input: `0x1234567812345678${BAD.slice(2).padStart(64, "0")}` }],
  ])("as %s", async (_name, failure) => {
    expect(await recover(failure)).toEqual(["listed_account"]);
  });

  it("nor anything for a wallet that is listed itself", async () => {
    expect(await recover({}, BAD)).toEqual(["wallet_listed"]);
  });

  it.each<[string, Partial<FailedCall>]>([
    ["approving", approve(account(0xd1))],
    ["paying by a swap", swapFor(OWN)],
  ])("while %s others is offered", async (_name, failure) => {
    expect(await recover(failure)).toEqual(["offered"]);
  });
});
