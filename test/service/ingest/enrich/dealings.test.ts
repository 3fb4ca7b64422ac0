import type { Address, Hex } from "viem";
import { describe, expect, test } from "vitest";
import { dealingsOfCalls, dealingsOfTransfers } from "../../../../service/ingest/enrich/contacts.ts";
import type { Market } from "../../../../service/ingest/enrich/context.ts";
import { nativeTransfers } from "../../../../service/ingest/enrich/log-rows.ts";
import type { OwnCallRow } from "../../../../service/ingest/enrich/own-call.ts";

const WALLET: Address = `0x${"a1".repeat(20)}`;
const TARGET: Address = `0x${"70".repeat(20)}`;
const PAYEE: Address = `0x${"fe".repeat(20)}`;
const OWN: Address = `0x${"0c".repeat(20)}`;
const FEED: Address = `0x${"fd".repeat(20)}`;
const nth = (index: number): Address => `0x${index.toString(16).padStart(40, "0")}`;

const CALL: OwnCallRow = {
  ...{ chainId: 1, wallet: WALLET, block: 7, transactionIndex: 3, position: 0, hash: "0x5e" },
  ...{ origin: "transaction", source: "enrich", timestamp: 1_790_000_000, to: TARGET, value: 9n, ok: true },
  ...{ gasLimit: 1n, gasUsed: 1n, gasPriceWei: 1n, feeWei: 1n, emitters: [] },
};
const execution = (parts: Partial<OwnCallRow>): OwnCallRow => ({ ...CALL, position: 5, value: 0n, ...parts });

const dealtWith = (call: OwnCallRow) => dealingsOfCalls([call], []).map(({ counterparty }) => counterparty);

describe("a wallet deals", () => {
  test.each<[string, OwnCallRow, readonly Address[]]>([
    ["by a transaction with whom it calls", CALL, [TARGET]],
    ["by a failed transaction as well", { ...CALL, ok: false }, [TARGET]],
    ["by an execution with whom logged", execution({ emitters: [TARGET] }), [TARGET]],
    [
      "by an execution with whom the token logged to be paid",
      execution({ recipient: PAYEE, emitters: [TARGET] }),
      [PAYEE],
    ],
    ["by an execution with nobody who did not log", execution({ emitters: [PAYEE] }), []],
    ["by a failed execution with nobody", execution({ ok: false, recipient: PAYEE, emitters: [] }), []],
  ])("%s", (_name, call, expected) => {
    expect(dealtWith(call)).toEqual(expected);
  });

  test("through a contract of its own with all stored emitters of its logs", () => {
    const creation = { wallet: WALLET, contract: OWN, block: 1, transactionIndex: 0, timestamp: 1 };
    const dealings = dealingsOfCalls([{ ...CALL, to: OWN, emitters: [PAYEE, OWN, TARGET] }], [creation]);
    expect(dealings.map(({ counterparty }) => counterparty)).toEqual([OWN, PAYEE, TARGET]);
  });
});

test("of native coin is known what transactions send, and executions by a trace", () => {
  const calls = [CALL, execution({ value: 9n }), execution({ value: null }), { ...CALL, ok: false }];
  const sent = nativeTransfers(1, calls, []).map(({ item, from, to, amount }) => ({
    item,
    from,
    to,
    amount,
  }));
  const known = { from: WALLET, to: TARGET, amount: 9n };
  expect(sent).toEqual([
    { item: 0, ...known },
    { item: 5, ...known },
  ]);
});

const MARKET: Market = {
  ...{ listed: new Set(), native: null, wrappedNative: null, feeds: [FEED] },
  tokens: new Map([[TARGET, { decimals: 6, feed: FEED }]]),
};
const paid = (to: Address, amount: bigint, logIndex = 0, transactionHash: Hex = "0x5e") => ({
  ...{ chainId: 1, block: 7, logIndex, item: 0, timestamp: 1, token: TARGET, transactionHash },
  ...{ standard: "erc20" as const, from: WALLET, to, amount, tokenId: null, sender: WALLET },
});

test("of a crowd that one transaction pays the first 32 have funds, and every sum that they got", () => {
  const crowd = Array.from({ length: 40 }, (_, index) => paid(nth(index + 1), 5n, index));
  const again = [paid(nth(2), 5n, 40), paid(nth(40), 5n, 41, "0x5f")];
  const dealings = dealingsOfTransfers([...crowd, ...again], MARKET, () => 5n);
  expect(dealings.map(({ counterparty }) => counterparty)).toEqual([
    ...crowd.slice(0, 32).map(({ to }) => to),
    nth(2),
    nth(40),
  ]);
});

test("ignores a transfer of zero, which any account can make in the name of another", () => {
  const dealings = (amount: bigint) => dealingsOfTransfers([paid(PAYEE, amount)], MARKET, () => 0n);
  expect([dealings(0n).length, dealings(1n).length]).toEqual([0, 1]);
});
