import fc from "fast-check";
import {
  type Address,
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  erc20Abi,
  erc721Abi,
  type Hex,
  parseAbi,
  parseAbiParameters,
} from "viem";
import { describe, expect, it, test } from "vitest";
import { accountsOf, type CallIntent, readIntent } from "../../../../service/reports/recovery/call-intent.ts";

const WALLET: Address = "0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc";
const ROUTER: Address = "0x00000000000000000000000000000000000000aa";
const FRIEND: Address = "0x00000000000000000000000000000000000000f1";
const [A, B, C] = ["0xa1", "0xb2", "0xc3"].map((start) => `${start}${"0".repeat(36)}01` as Address) as [
  Address,
  Address,
  Address,
];

const routers = parseAbi([
  "function swapExactTokensForTokens(uint256,uint256,address[],address,uint256)",
  "function swapTokensForExactTokens(uint256,uint256,address[],address,uint256)",
  "function swapExactETHForTokens(uint256,address[],address,uint256)",
  "function exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))",
  "function exactInput((bytes,address,uint256,uint256,uint256))",
  "function exactOutput((bytes,address,uint256,uint256,uint256))",
  "function multicall(uint256,bytes[])",
  "function execute(bytes,bytes[],uint256)",
]);
const aerodrome = parseAbi([
  "function swapExactTokensForTokens(uint256,uint256,(address,address,bool,address)[],address,uint256)",
]);
const pool = parseAbi(["function swap(address,uint256,uint256,address)"]);

const intentOf = (input: Hex, to: Address = ROUTER, value = 0n): CallIntent =>
  readIntent({ to, input, value }, WALLET);

const single = (tokenIn: Address, tokenOut: Address, recipient: Address): Hex =>
  encodeFunctionData({
    abi: routers,
    functionName: "exactInputSingle",
    args: [[tokenIn, tokenOut, 500, recipient, 5n, 1n, 0n]],
  });
const v2 = (path: readonly Address[], deadline = 99n): Hex =>
  encodeFunctionData({
    abi: routers,
    functionName: "swapExactTokensForTokens",
    args: [5n, 1n, path, WALLET, deadline],
  });
const packed = (...tokens: readonly Address[]): Hex =>
  concatHex(tokens.flatMap((token, place) => (place === 0 ? [token] : ["0x0001f4" as Hex, token])));

const SWAP_A_TO_C = `swap:${A}:${C}:${WALLET}`;

describe("the intent of a call", () => {
  it("is known by token and recipient for transfers, whatever the amount", () => {
    const pay = (amount: bigint) =>
      intentOf(encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [FRIEND, amount] }), A);
    expect(pay(5n)).toEqual({
      kind: "transfer",
      keys: [`transfer:${A}:${FRIEND}`],
      method: `method:${A}:0xa9059cbb`,
      parties: [A, FRIEND],
      spends: [{ token: A, spender: null, amount: 5n }],
      deadline: null,
    });
    expect(pay(6n).keys).toEqual(pay(5n).keys);
  });

  it("is the same for a transferFrom of the wallet's own tokens, which needs an allowance", () => {
    const input = encodeFunctionData({
      abi: erc20Abi,
      functionName: "transferFrom",
      args: [WALLET, FRIEND, 5n],
    });
    expect(intentOf(input, A)).toMatchObject({
      keys: [`transfer:${A}:${FRIEND}`],
      spends: [{ token: A, spender: WALLET, amount: 5n }],
    });
  });

  it("is known by token and spender for allowances, whatever the amount", () => {
    const allow = (amount: bigint) =>
      intentOf(encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [FRIEND, amount] }), A);
    expect(allow(5n)).toMatchObject({ kind: "approval", parties: [A, FRIEND] });
    expect(allow(6n).keys).toEqual(allow(5n).keys);
    const operate = (allowed: boolean) =>
      intentOf(
        encodeFunctionData({ abi: erc721Abi, functionName: "setApprovalForAll", args: [FRIEND, allowed] }),
        A,
      );
    expect(operate(true)).toMatchObject({ kind: "approval", parties: [A, FRIEND] });
  });

  it("is known by the recipient for plain transfers of the native coin", () => {
    expect(intentOf("0x", FRIEND, 7n)).toMatchObject({
      kind: "transfer",
      keys: [`transfer:native:${FRIEND}`],
    });
  });

  it.each<[string, Hex, bigint]>([
    ["V2, over another token", v2([A, B, C]), 0n],
    [
      "V2, for an exact output",
      encodeFunctionData({
        abi: routers,
        functionName: "swapTokensForExactTokens",
        args: [5n, 9n, [A, C], WALLET, 99n],
      }),
      0n,
    ],
    [
      "V2, paid in the native coin",
      encodeFunctionData({
        abi: routers,
        functionName: "swapExactETHForTokens",
        args: [1n, [A, C], WALLET, 99n],
      }),
      5n,
    ],
    ["V3, one pool", single(A, C, WALLET), 0n],
    [
      "V3, a packed path",
      encodeFunctionData({
        abi: routers,
        functionName: "exactInput",
        args: [[packed(A, B, C), WALLET, 99n, 5n, 1n]],
      }),
      0n,
    ],
    [
      "V3, for an exact output, whose path runs backwards",
      encodeFunctionData({
        abi: routers,
        functionName: "exactOutput",
        args: [[packed(C, B, A), WALLET, 99n, 5n, 9n]],
      }),
      0n,
    ],
    [
      "several calls, the bought token handed on by the router",
      encodeFunctionData({
        abi: routers,
        functionName: "multicall",
        args: [99n, [single(A, C, "0x0000000000000000000000000000000000000002")]],
      }),
      0n,
    ],
    [
      "Aerodrome's routes",
      encodeFunctionData({
        abi: aerodrome,
        functionName: "swapExactTokensForTokens",
        args: [
          5n,
          1n,
          [
            [A, B, false, ROUTER],
            [B, C, true, ROUTER],
          ],
          WALLET,
          99n,
        ],
      }),
      0n,
    ],
    [
      "commands of the Universal Router",
      encodeFunctionData({
        abi: routers,
        functionName: "execute",
        args: [
          "0x80",
          [
            encodeAbiParameters(parseAbiParameters("address, uint256, uint256, bytes, bool"), [
              "0x0000000000000000000000000000000000000001",
              5n,
              1n,
              packed(A, C),
              true,
            ]),
          ],
          99n,
        ],
      }),
      0n,
    ],
  ])("is one and the same swap: %s", (_name, input, value) => {
    expect(intentOf(input, ROUTER, value)).toMatchObject({ kind: "swap", keys: [SWAP_A_TO_C] });
  });

  it("takes from the wallet what a swap of an exact input sells, by the router's allowance", () => {
    expect(intentOf(v2([A, C])).spends).toEqual([{ token: A, spender: ROUTER, amount: 5n }]);
    expect(intentOf(single(A, C, WALLET), ROUTER, 5n).spends).toEqual([]);
  });

  it("distinguishes swaps for another account, and of other tokens", () => {
    expect(intentOf(single(A, C, FRIEND)).keys).not.toEqual([SWAP_A_TO_C]);
    expect(intentOf(single(A, B, WALLET)).keys).not.toEqual([SWAP_A_TO_C]);
    expect(intentOf(single(C, A, WALLET)).keys).not.toEqual([SWAP_A_TO_C]);
  });

  it("is known by the pool where that decides what is bought", () => {
    const input = encodeFunctionData({ abi: pool, functionName: "swap", args: [A, 5n, 1n, WALLET] });
    expect(intentOf(input).keys).toEqual([`swap:${A}:@${ROUTER}:${WALLET}`]);
  });

  it("has the earliest deadline of all that are called together", () => {
    const input = encodeFunctionData({
      abi: routers,
      functionName: "multicall",
      args: [99n, [v2([A, C], 50n)]],
    });
    expect(intentOf(input).deadline).toBe(50n);
  });

  it("has the deadline of commands that are no known swap, which are known by their calldata", () => {
    const input = encodeFunctionData({
      abi: routers,
      functionName: "execute",
      args: ["0x10", ["0x1234"], 77n],
    });
    expect(intentOf(input)).toMatchObject({
      kind: "other",
      keys: [`call:${ROUTER}:${input}`],
      deadline: 77n,
    });
  });

  it.each<[string, Hex]>([
    ["unknown methods", "0xdeadbeef00"],
    ["a transfer cut short", "0xa9059cbb00"],
    ["a swap cut short", v2([A, C]).slice(0, 80) as Hex],
    ["a multicall of garbage", "0xac9650d8ffff"],
  ])("is the exact calldata at the same account for %s", (_name, input) => {
    expect(intentOf(input).keys).toEqual([`call:${ROUTER}:${input.toLowerCase()}`]);
    expect(intentOf(input, A).keys).not.toEqual(intentOf(input).keys);
  });
});

test("a swap names each exchange and account once, however often it repeats them", () => {
  const input = encodeFunctionData({
    abi: parseAbi(["function execute(bytes,bytes[],uint256)"]),
    args: [
      `0x${"08".repeat(40)}`,
      Array.from({ length: 40 }, () =>
        encodeAbiParameters(parseAbiParameters("address, uint256, uint256, address[], bool"), [
          WALLET,
          ...([1n, 1n] as const),
          ...([[A, C], true] as const),
        ]),
      ),
      2n ** 40n,
    ],
  });
  const { keys, parties } = readIntent({ to: ROUTER, input, value: 0n }, WALLET);
  expect({ keys, parties }).toEqual({ keys: [SWAP_A_TO_C], parties: [ROUTER, WALLET] });
});

const named = (input: Hex) => [...accountsOf({ input }, { parties: [] })];

/** By looking at each byte, which takes long for calldata full of zeros. */
function namedAtEachByte(input: Hex): readonly Address[] {
  const digits = input.slice(10, 32_768);
  const found = new Set<Address>();
  for (let at = 0; at + 64 <= digits.length && found.size < 128; at += 2) {
    const account = digits.slice(at + 24, at + 64);
    if (!digits.startsWith("0".repeat(24), at)) continue;
    if (!account.startsWith("00") || at % 64 === 0) found.add(`0x${account}`);
  }
  return [...found];
}

const zeros = fc.integer({ min: 0, max: 200 }).map((count) => "0".repeat(count));
const digits = fc.oneof(zeros, fc.stringMatching(/^[0-9a-f]{1,60}$/), fc.constant("1".repeat(40)));

test("names what a look at each byte of calldata finds", () => {
  fc.assert(
    fc.property(fc.array(digits, { maxLength: 30 }), (parts) => {
      const input: Hex = `0x12345678${parts.join("")}`;
      expect(named(input)).toEqual(namedAtEachByte(input));
    }),
    { numRuns: 500 },
  );
});

test("names at most 128 accounts, those that come first", () => {
  const accounts = Array.from({ length: 200 }, (_, place) => (0x1001 + place).toString(16).repeat(10));
  const found = named(`0x12345678${accounts.map((account) => account.padStart(64, "0")).join("")}`);
  expect(found).toEqual(accounts.slice(0, 128).map((account) => `0x${account}`));
});
