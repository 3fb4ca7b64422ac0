import { type Address, encodeFunctionData, erc20Abi, parseAbi } from "viem";
import { beforeEach, describe, expect, it } from "vitest";
import { AHS_2026_1 } from "../../../../service/model/score/policy.ts";
import type { FailedCall } from "../../../../service/reports/recovery/failed-calls.ts";
import { createListedAccounts } from "../../../../service/reports/recovery/listed-accounts.ts";
import { openRecovery } from "../../../../service/reports/recovery/open-recovery.ts";
import { NOTHING_BEFORE, recoverFailures } from "../../../../service/reports/recovery/recover-failures.ts";
import { callOutcomes, failedCall, fakeNode, fakeRecovery } from "../../api/recovery/fake-recovery.ts";
import { account, USDC } from "../../model/features/histories.ts";
import { MIXER, useRowsWorld } from "../../scores/read/rows-world.ts";

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
  const bounds = { before: NOTHING_BEFORE, policy: AHS_2026_1 };
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
