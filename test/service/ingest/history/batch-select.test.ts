import { type Hex, pad } from "viem";
import { describe, expect, test } from "vitest";
import {
  APPROVAL,
  AUTHORIZATION_USED,
  SAFE_SUCCESS,
  TRANSFER,
  TRANSFER_SINGLE,
  USER_OPERATION,
} from "../../../../service/chain/node/rpc-answers.ts";
import { type NamedRows, readRows } from "../../../../service/ingest/history/batch-rows.ts";
import { walletsPart } from "../../../../service/ingest/history/batch-select.ts";
import {
  blocksOf,
  ENTRY_POINTS,
  hashOf,
  PLAIN,
  type SentShape,
  STRANGERS,
  TOKENS,
  WALLETS,
  WANTED,
} from "./batch-world.ts";

const [WALLET] = WALLETS;
const [STRANGER, OTHER] = STRANGERS;
const [TOKEN] = TOKENS;
const word = (account: Hex) => pad(account);

/** The part of a block of that transaction alone. */
function partOf(shape: SentShape, edit: (named: NamedRows) => NamedRows = (named) => named) {
  const [served] = blocksOf([[shape]]);
  if (served === undefined) throw new Error("expected a block");
  const { block, receipts } = served;
  const transactions = block.transactions.map((sent, place) => ({ ...sent, ...receipts[place] }));
  const named = { header: block, transactions, logs: receipts.flatMap((receipt) => receipt.logs) };
  const rows = readRows(edit(named), "paid");
  return "kind" in rows ? rows : walletsPart(WANTED)(rows);
}

const carried = (address: Hex, ...topics: readonly Hex[]): SentShape => ({
  ...PLAIN,
  value: 0n,
  logs: [
    { address: STRANGER, topics: [word("0x1")] },
    { address, topics },
  ],
});

describe("the part of a block that concerns wallets", () => {
  test.each<[string, SentShape, Readonly<Record<"transactions" | "payments" | "logs", number>>]>([
    ["a call", { ...PLAIN, from: WALLET }, { transactions: 1, payments: 0, logs: 0 }],
    ["a failed call", { ...PLAIN, from: WALLET, ok: false }, { transactions: 1, payments: 0, logs: 0 }],
    ["a payment", { ...PLAIN, to: WALLET }, { transactions: 0, payments: 1, logs: 0 }],
    [
      "a payment of another wallet",
      { ...PLAIN, from: WALLETS[1], to: WALLET },
      { transactions: 1, payments: 0, logs: 0 },
    ],
    [
      "a transfer from it",
      carried(TOKEN, TRANSFER, word(WALLET), word(OTHER)),
      { transactions: 0, payments: 0, logs: 1 },
    ],
    [
      "a transfer to it",
      carried(OTHER, TRANSFER, word(OTHER), word(WALLET)),
      { transactions: 0, payments: 0, logs: 1 },
    ],
    [
      "its approval",
      carried(TOKEN, APPROVAL, word(WALLET), word(OTHER)),
      { transactions: 0, payments: 0, logs: 1 },
    ],
    [
      "an ERC-1155 transfer",
      carried(TOKEN, TRANSFER_SINGLE, word(OTHER), word(OTHER), word(WALLET)),
      { transactions: 0, payments: 0, logs: 1 },
    ],
    [
      "its authorization",
      carried(TOKEN, AUTHORIZATION_USED, word(WALLET), word("0x7")),
      { transactions: 1, payments: 0, logs: 1 },
    ],
    [
      "its operation",
      carried(ENTRY_POINTS[0], USER_OPERATION, word("0x7"), word(WALLET), word("0x0")),
      { transactions: 1, payments: 0, logs: 1 },
    ],
    [
      "its execution as a Safe",
      carried(WALLET, SAFE_SUCCESS, word("0x7")),
      { transactions: 1, payments: 0, logs: 1 },
    ],
  ])("holds %s", (_title, shape, counts) => {
    const part = partOf(shape);
    const { transactions, payments, logs } = part === null || "kind" in part ? expect.fail("no part") : part;
    expect({ transactions: transactions.length, payments: payments.length, logs: logs.length }).toEqual(
      counts,
    );
    expect(transactions.map(({ receipt }) => receipt.logs.length)).toEqual(
      transactions.map(() => shape.logs.length),
    );
  });

  test.each<[string, SentShape]>([
    ["a stranger's transfer", PLAIN],
    ["a call by a stranger", { ...PLAIN, to: WALLET, value: 0n }],
    ["a payment that failed", { ...PLAIN, to: WALLET, ok: false }],
    ["an approval to it", carried(TOKEN, APPROVAL, word(OTHER), word(WALLET))],
    ["an authorization of another token", carried(OTHER, AUTHORIZATION_USED, word(WALLET), word("0x7"))],
    [
      "an operation of another entry point",
      carried(OTHER, USER_OPERATION, word("0x7"), word(WALLET), word("0x0")),
    ],
    ["an execution of another Safe", carried(OTHER, SAFE_SUCCESS, word("0x7"))],
    [
      "a topic that is longer than its address",
      carried(TOKEN, TRANSFER, `0x${"1".repeat(24)}${WALLET.slice(2)}`),
    ],
  ])("does not hold %s", (_title, shape) => {
    expect(partOf(shape)).toBeNull();
  });

  test.each<[string, (named: NamedRows) => NamedRows, string]>([
    [
      "its transaction",
      (named) => ({ ...named, transactions: [] }),
      `transaction ${hashOf(1, 0)}, which one of its logs names`,
    ],
    [
      "its calldata",
      (named) => ({
        ...named,
        transactions: named.transactions.map((sent) => Object.assign({}, sent, { input: null })),
      }),
      `the calldata of ${hashOf(1, 0)}`,
    ],
  ])("is a failure without %s", (_title, edit, lacking) => {
    expect(partOf(carried(WALLET, SAFE_SUCCESS, word("0x7")), edit)).toMatchObject({
      ...{ reason: "inconsistent", detail: `block 1 lacks ${lacking}` },
    });
  });
});
