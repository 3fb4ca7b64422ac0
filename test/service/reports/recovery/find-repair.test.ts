import { type Address, encodeFunctionData, erc20Abi, type Hex, parseAbi } from "viem";
import { describe, expect, it } from "vitest";
import { readIntent } from "../../../../service/reports/recovery/call-intent.ts";
import type { SentCall } from "../../../../service/reports/recovery/failed-calls.ts";
import { toldFinder } from "../../../../service/reports/recovery/find-repair.ts";
import type { ToldSuccess } from "../../../../service/reports/recovery/told-calls.ts";
import { WALLET } from "../../api/fake-ports.ts";
import { failedCall, TARGET } from "../../api/routes/fake-recovery.ts";

const FRIEND: Address = "0x00000000000000000000000000000000000000f1";
const OTHER: Address = "0x00000000000000000000000000000000000000f2";
const TOKEN: Address = "0x00000000000000000000000000000000000000a1";
const SUCCESS: Hex = `0x${"5c".repeat(32)}`;
const INCREASE = "0x39509351";
const V2_SWAP = "0x38ed1739";

const erc20 = (functionName: "transfer" | "approve"): Partial<SentCall> => {
  const input = encodeFunctionData({ abi: erc20Abi, functionName, args: [FRIEND, 5n] });
  return { to: TOKEN, input, selector: input.slice(0, 10) as Hex };
};
const swap: Partial<SentCall> = {
  input: encodeFunctionData({
    abi: parseAbi(["function swapExactTokensForTokens(uint256,uint256,address[],address)"]),
    args: [1n, 1n, [TOKEN, FRIEND], WALLET],
  }),
};
const plain: Partial<SentCall> = { to: FRIEND, input: "0x", selector: null, value: 5n };

function find(call: Partial<SentCall>, success: Partial<ToldSuccess>) {
  const failed = failedCall(call);
  const told: ToldSuccess = {
    ...{ hash: SUCCESS, block: 950, transactionIndex: 0, to: failed.to, selector: failed.selector },
    recipient: null,
    ...success,
  };
  const findRepair = toldFinder({ wallet: WALLET, outcomes: { told: { successes: [told] } } });
  return findRepair(failed, readIntent(failed, WALLET));
}

describe("a failure before a success that a history source told of", () => {
  it.each<[string, Partial<SentCall>, Partial<ToldSuccess>]>([
    ["a payment of the same token to the same account", erc20("transfer"), { recipient: FRIEND }],
    ["a plain transfer to the same account", plain, {}],
  ])("was made good by %s", (_name, call, success) => {
    expect(find(call, success)).toMatchObject({ code: "repaired", by: SUCCESS });
  });

  it.each<[string, Partial<SentCall>, Partial<ToldSuccess>]>([
    ["another call of its method, whose calldata is not known", {}, {}],
    ["a payment of the token to nobody knows whom", erc20("transfer"), {}],
    ["another approval of the token", erc20("approve"), { selector: INCREASE }],
    ["a swap at any router", swap, { to: OTHER, selector: V2_SWAP }],
    ["a call of the wallet itself, which may run its own code", {}, { to: WALLET, selector: "0x12345678" }],
  ])("may have been made good by %s", (_name, call, success) => {
    expect(find(call, success)).toMatchObject({ code: "maybe_repaired", by: SUCCESS });
  });

  it.each<[string, Partial<SentCall>, Partial<ToldSuccess>]>([
    ["a success before it", {}, { block: 899 }],
    ["another method", {}, { selector: "0x12345678" }],
    ["another account", {}, { to: OTHER }],
    ["a payment of the token to another", erc20("transfer"), { recipient: OTHER }],
    ["a plain transfer to another", plain, { to: TARGET, selector: null }],
    ["an approval of another token", erc20("approve"), { to: OTHER, selector: INCREASE }],
  ])("was not made good by %s", (_name, call, success) => {
    expect(find(call, success)).toBeNull();
  });
});
