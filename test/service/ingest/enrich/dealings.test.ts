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
  test.each<{ name: string; call: OwnCallRow; with: readonly Address[] }>([
    { name: "by a transaction with whom it calls", call: CALL, with: [TARGET] },
    { name: "by a failed transaction as well", call: { ...CALL, ok: false }, with: [TARGET] },
    { name: "by an execution with whom logged", call: execution({ emitters: [TARGET] }), with: [TARGET] },
    {
      name: "by an execution with whom the token logged to be paid",
      call: execution({ recipient: PAYEE, emitters: [TARGET] }),
      with: [PAYEE],
    },
    { name: "by an execution with nobody who did not log", call: execution({ emitters: [PAYEE] }), with: [] },
    {
      name: "by a failed execution with nobody",
      call: execution({ ok: false, recipient: PAYEE, emitters: [] }),
      with: [],
    },
  ])("$name", ({ call, with: expected }) => {
    expect(dealtWith(call)).toEqual(expected);
  });

  test("through a contract of its own with all that are kept of its logs", () => {
    const creation = { wallet: WALLET, contract: OWN, block: 1, transactionIndex: 0, timestamp: 1 };
    const dealings = dealingsOfCalls([{ ...CALL, to: OWN, emitters: [PAYEE, OWN, TARGET] }], [creation]);
    expect(dealings.map(({ counterparty }) => counterparty)).toEqual([OWN, PAYEE, TARGET]);
  });
});

test("of native coin only what transactions send is known", () => {
  const sent = nativeTransfers(1, [CALL, execution({ value: 9n }), { ...CALL, ok: false }], []);
  expect(sent).toMatchObject([{ from: WALLET, to: TARGET, amount: 9n, logIndex: -4 }]);
});

test("of a crowd that one transaction pays the first 32 have funds, and every sum that they got", () => {
  const token = { decimals: 6, feed: FEED };
  const market: Market = {
    listed: new Set(),
    native: null,
    wrappedNative: null,
    tokens: new Map([[TARGET, token]]),
    feeds: [FEED],
  };
  const paid = (to: Address, place: number, transactionHash: Hex) => ({
    ...{ chainId: 1, block: 7, logIndex: place, item: 0, timestamp: 1, token: TARGET, transactionHash },
    ...{ standard: "erc20" as const, from: WALLET, to, amount: 5n, tokenId: null, sender: WALLET },
  });
  const crowd = Array.from({ length: 40 }, (_, index) => paid(nth(index + 1), index, "0x5e"));
  const again = [paid(nth(2), 40, "0x5e"), paid(nth(40), 41, "0x5f")];
  const dealings = dealingsOfTransfers([...crowd, ...again], market, () => 5n);
  expect(dealings.map(({ counterparty }) => counterparty)).toEqual([
    ...crowd.slice(0, 32).map(({ to }) => to),
    nth(2),
    nth(40),
  ]);
});

test("ignores a transfer of zero, which any account can make in the name of another", () => {
  const market: Market = {
    listed: new Set(),
    native: null,
    wrappedNative: null,
    tokens: new Map([[TARGET, { decimals: 6, feed: FEED }]]),
    feeds: [FEED],
  };
  const moved = (amount: bigint) => ({
    ...{
      chainId: 1,
      block: 7,
      logIndex: 0,
      item: 0,
      timestamp: 1,
      token: TARGET,
      transactionHash: "0x5e" as const,
    },
    ...{ standard: "erc20" as const, from: WALLET, to: PAYEE, amount, tokenId: null, sender: null },
  });
  expect(dealingsOfTransfers([moved(0n)], market, () => 0n)).toEqual([]);
  expect(dealingsOfTransfers([moved(1n)], market, () => 0n)).toHaveLength(1);
});
