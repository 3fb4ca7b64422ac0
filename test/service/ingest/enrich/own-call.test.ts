import fc from "fast-check";
import { type Address, encodeFunctionData, erc20Abi, type Hex, pad, toHex } from "viem";
import { describe, expect, test } from "vitest";
import { APPROVAL, DEPOSIT, TRANSFER, WITHDRAWAL } from "../../../../service/chain/node/rpc-answers.ts";
import {
  describeCall,
  type EffectLog,
  type MinedCall,
  medianTip,
  ownCallRow,
  unreadCallRow,
} from "../../../../service/ingest/enrich/own-call.ts";

const WALLET: Address = `0x${"a1".repeat(20)}`;
const OTHER: Address = `0x${"b2".repeat(20)}`;
const TOKEN: Address = `0x${"70".repeat(20)}`;
const SECOND_TOKEN: Address = `0x${"71".repeat(20)}`;
const WRAPPED: Address = `0x${"ee".repeat(20)}`;
const NOBODY: Address = `0x${"00".repeat(20)}`;
const HASH: Hex = `0x${"5e".repeat(32)}`;

const word = (value: bigint): Hex => toHex(value, { size: 32 });

const moved = (from: Address, to: Address, amount: bigint, token = TOKEN): EffectLog => ({
  address: token,
  topics: [TRANSFER, pad(from), pad(to)],
  data: word(amount),
});
const approved = (token = TOKEN): EffectLog => ({
  address: token,
  topics: [APPROVAL, pad(WALLET), pad(OTHER)],
  data: word(5n),
});
const wrapping = (event: Hex, amount: bigint, address = WRAPPED): EffectLog => ({
  address,
  topics: [event, pad(WALLET)],
  data: word(amount),
});
const anything = (address: Address): EffectLog => ({ address, topics: [HASH], data: "0x" });

const CALL: MinedCall = {
  hash: HASH,
  block: 7,
  transactionIndex: 3,
  position: 0,
  timestamp: 1_790_000_000,
  wallet: WALLET,
  to: TOKEN,
  input: "0x12345678ff",
  value: 0n,
  ok: true,
  gasLimit: 100_000n,
  gasUsed: 60_000n,
  gasPrice: 20n,
  fee: 1_200_000n,
};

function receiptOf(logs: readonly EffectLog[]) {
  return describeCall(CALL, { logs, l1Fee: null, marketPrice: 18n }, WRAPPED).receipt;
}

describe("the effect of a call", () => {
  test.each<{ name: string; logs: readonly EffectLog[]; effect: string }>([
    { name: "without a log", logs: [], effect: "none" },
    { name: "whose only log is its own", logs: [anything(WALLET)], effect: "none" },
    { name: "that only approves", logs: [approved(), approved(SECOND_TOKEN)], effect: "approval" },
    { name: "that wraps", logs: [wrapping(DEPOSIT, 5n)], effect: "wrap" },
    {
      name: "that wraps into a token that logs a mint",
      logs: [wrapping(DEPOSIT, 5n), moved(NOBODY, WALLET, 5n, WRAPPED)],
      effect: "wrap",
    },
    {
      name: "that unwraps from a token that logs a burn",
      logs: [moved(WALLET, NOBODY, 5n, WRAPPED), wrapping(WITHDRAWAL, 5n)],
      effect: "wrap",
    },
    { name: "whose Deposit is another contract's", logs: [wrapping(DEPOSIT, 5n, TOKEN)], effect: "other" },
    { name: "that wraps and does more", logs: [wrapping(DEPOSIT, 5n), anything(OTHER)], effect: "other" },
    { name: "that only mints the wrapped coin", logs: [moved(NOBODY, WALLET, 5n, WRAPPED)], effect: "other" },
    { name: "that pays", logs: [moved(WALLET, OTHER, 5n)], effect: "transfer" },
    { name: "that pays wrapped coins", logs: [moved(WALLET, OTHER, 5n, WRAPPED)], effect: "transfer" },
    {
      name: "that pays two of one token",
      logs: [moved(WALLET, OTHER, 5n), moved(WALLET, TOKEN, 5n)],
      effect: "transfer",
    },
    {
      name: "that pays in a token that logs the spent allowance",
      logs: [moved(WALLET, OTHER, 5n), approved()],
      effect: "transfer",
    },
    {
      name: "that pays in two tokens",
      logs: [moved(WALLET, OTHER, 5n), moved(WALLET, OTHER, 5n, SECOND_TOKEN)],
      effect: "other",
    },
    {
      name: "that swaps",
      logs: [moved(WALLET, OTHER, 5n), moved(OTHER, WALLET, 6n, SECOND_TOKEN)],
      effect: "other",
    },
    { name: "that moves what is not the wallet's", logs: [moved(OTHER, TOKEN, 5n)], effect: "other" },
    {
      name: "that pays and makes a contract log",
      logs: [moved(WALLET, OTHER, 5n), anything(OTHER)],
      effect: "other",
    },
  ])("$name: $effect", ({ logs, effect }) => {
    expect(receiptOf(logs).effect).toBe(effect);
  });
});

describe("the wallet's net moves", () => {
  test("are summed up by token, by rising address, and what cancels out is left out", () => {
    const logs = [
      moved(OTHER, WALLET, 9n, SECOND_TOKEN),
      moved(WALLET, OTHER, 5n),
      moved(OTHER, WALLET, 2n),
      moved(WALLET, OTHER, 4n, WRAPPED),
      moved(OTHER, WALLET, 4n, WRAPPED),
      moved(OTHER, TOKEN, 100n),
    ];
    expect(receiptOf(logs).moves).toEqual([
      { token: TOKEN, amount: -3n },
      { token: SECOND_TOKEN, amount: 9n },
    ]);
  });

  test.each<[string, readonly EffectLog[], bigint]>([
    ["a silent wrap", [wrapping(DEPOSIT, 5n)], 5n],
    ["a silent unwrap", [wrapping(WITHDRAWAL, 5n)], -5n],
    ["a wrap with its mint", [wrapping(DEPOSIT, 5n), moved(NOBODY, WALLET, 5n, WRAPPED)], 5n],
    ["an unwrap with its burn", [wrapping(WITHDRAWAL, 5n), moved(WALLET, NOBODY, 5n, WRAPPED)], -5n],
  ])("%s counts once", (_name, logs, amount) => {
    expect(receiptOf(logs).moves).toEqual([{ token: WRAPPED, amount }]);
  });
});

test("a call is described whole: the L1 fee is part of what was paid, and emitters come once and in order", () => {
  const logs = [anything(OTHER), anything(TOKEN), anything(WALLET), anything(OTHER)];
  const input = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [OTHER, 8n] });
  expect(describeCall({ ...CALL, input }, { logs, l1Fee: 77n, marketPrice: null }, null)).toEqual({
    hash: HASH,
    blockNumber: 7,
    transactionIndex: 3,
    position: 0,
    timestamp: 1_790_000_000,
    to: TOKEN,
    selector: "0xa9059cbb",
    value: 0n,
    ok: true,
    gasLimit: 100_000n,
    gasUsed: 60_000n,
    gasPrice: 20n,
    fee: 1_200_077n,
    recipient: OTHER,
    amount: 8n,
    receipt: { marketPrice: null, effect: "other", emitters: [OTHER, TOKEN], moves: [] },
  });
});

describe("a call that makes a crowd log", () => {
  const crowd = Array.from({ length: 100 }, (_, index) => pad(toHex(200 - index), { size: 20 }));

  test("has the first 32 contracts", () => {
    const { emitters, effect } = receiptOf(crowd.flatMap((one) => [anything(one), anything(OTHER)]));
    expect(emitters).toEqual([crowd[0], OTHER, ...crowd.slice(1, 31)]);
    expect(effect).toBe("other");
  });

  test("moves the first 32 tokens, by rising address, and none that came to nothing", () => {
    const logs = crowd.flatMap((token) => [moved(OTHER, WALLET, 5n, token)]);
    const undone = moved(WALLET, OTHER, 5n, crowd[0]);
    expect(receiptOf([...logs, undone]).moves.map(({ token }) => token)).toEqual(
      crowd.slice(1, 33).toReversed(),
    );
  });
});

test("stores the transaction of a call whose receipt is missing", () => {
  const input = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [OTHER, 8n] });
  expect(unreadCallRow({ ...CALL, input }, { chainId: 1, origin: "transaction" })).toMatchObject({
    ...{
      wallet: WALLET,
      to: TOKEN,
      selector: "0xa9059cbb",
      recipient: OTHER,
      amount: 8n,
      feeWei: 1_200_000n,
    },
    ...{ source: "enrich", l1FeeWei: null, marketPriceWei: null },
    ...{ effect: null, logs: null, emitters: null, moves: null },
  });
});

test("its row keeps the fees apart", () => {
  const outcome = { logs: [moved(WALLET, OTHER, 5n)], l1Fee: 77n, marketPrice: 18n };
  expect(
    ownCallRow(CALL, outcome, { chainId: 1, wrappedNative: WRAPPED, origin: "transaction" }),
  ).toMatchObject({
    chainId: 1,
    wallet: WALLET,
    block: 7,
    source: "enrich",
    feeWei: 1_200_000n,
    l1FeeWei: 77n,
    gasPriceWei: 20n,
    marketPriceWei: 18n,
    effect: "transfer",
    logs: 1,
    moves: [`${TOKEN}:-5`],
  });
});

test("a plain payment has no selector, and a creation no recipient", () => {
  const outcome = { logs: [], l1Fee: null, marketPrice: null };
  expect(describeCall({ ...CALL, input: "0x" }, outcome, null).selector).toBeNull();
  const input = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [OTHER, 8n] });
  expect(describeCall({ ...CALL, input, to: null }, outcome, null)).toMatchObject({
    to: null,
    recipient: null,
    amount: null,
  });
});

test.each([
  { name: "one transaction", prices: [12n], base: 10n, tip: 2n },
  { name: "an odd number", prices: [30n, 11n, 12n], base: 10n, tip: 2n },
  { name: "an even number, rounded down", prices: [11n, 14n], base: 10n, tip: 2n },
  { name: "deposits of a rollup, which pay nothing", prices: [0n, 0n, 0n, 15n], base: 10n, tip: 5n },
  { name: "transactions without a tip", prices: [10n, 10n, 90n], base: 10n, tip: 0n },
  { name: "nothing but deposits", prices: [0n], base: 10n, tip: null },
  { name: "no transaction", prices: [], base: 10n, tip: null },
])("of $name it is $tip", ({ prices, base, tip }) => {
  expect(medianTip(prices, base)).toBe(tip);
});

test("at most half of the paying transactions lie above it and at most half below", () => {
  const price = fc.bigInt({ min: 0n, max: 1_000n });
  fc.assert(
    fc.property(fc.array(price, { minLength: 1 }), price, (prices, base) => {
      const tip = medianTip(prices, base);
      const paying = prices.filter((paid) => paid >= base);
      if (tip === null) {
        expect(paying).toEqual([]);
        return;
      }
      expect(paying.filter((paid) => paid - base > tip).length).toBeLessThanOrEqual(paying.length / 2);
      expect(paying.filter((paid) => paid - base < tip).length).toBeLessThanOrEqual(paying.length / 2);
    }),
  );
});
