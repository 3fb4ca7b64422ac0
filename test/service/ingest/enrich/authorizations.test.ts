import fc from "fast-check";
import { type Address, type Hex, pad, toHex } from "viem";
import { describe, expect, test } from "vitest";
import {
  APPROVAL,
  AUTHORIZATION_USED,
  type RawLog,
  type RawReceipt,
  TRANSFER,
} from "../../../../service/chain/node/rpc-answers.ts";
import {
  describeSignedPayments,
  findAuthorizations,
  findSignedPayments,
  readSignedPayments,
} from "../../../../service/ingest/enrich/authorizations.ts";
import { describeCall } from "../../../../service/ingest/enrich/own-call.ts";

const TOKEN: Address = `0x${"70".repeat(20)}`;
const EURO: Address = `0x${"71".repeat(20)}`;
const FORGER: Address = `0x${"f0".repeat(20)}`;
const PAYER: Address = `0x${"a1".repeat(20)}`;
const OTHER: Address = `0x${"a2".repeat(20)}`;
const PAYEE: Address = `0x${"fe".repeat(20)}`;
const FACILITATOR: Address = `0x${"fa".repeat(20)}`;
const HASH: Hex = `0x${"5e".repeat(32)}`;
const TOKENS = new Set([TOKEN, EURO]);

type Event = Pick<RawLog, "address" | "topics" | "data">;

const word = (value: bigint): Hex => toHex(value, { size: 32 });
const used = (signer = PAYER, token = TOKEN, nonce = 1n): Event => ({
  address: token,
  topics: [AUTHORIZATION_USED, pad(signer), word(nonce)],
  data: "0x",
});
const moved = (from = PAYER, amount = 5n, token = TOKEN, to = PAYEE): Event => ({
  address: token,
  topics: [TRANSFER, pad(from), pad(to)],
  data: word(amount),
});
const approved: Event = { address: TOKEN, topics: [APPROVAL, pad(PAYER), pad(PAYEE)], data: word(1n) };

function logsOf(events: readonly Event[], first = 0): readonly RawLog[] {
  const place = { blockNumber: 7, blockHash: HASH, transactionHash: HASH };
  return events.map((event, at) => ({ ...event, ...place, logIndex: first + at }));
}

function receiptOf(logs: readonly RawLog[], sent: { from?: Address; to?: Address } = {}): RawReceipt {
  return {
    ...{ transactionHash: HASH, transactionIndex: 3, blockNumber: 7, blockHash: HASH, status: "0x1" },
    ...{ from: sent.from ?? FACILITATOR, to: sent.to ?? TOKEN, gasUsed: 90_000n, effectiveGasPrice: 7n },
    logs: logs.map((log) => ({
      ...log,
      blockNumber: toHex(log.blockNumber),
      logIndex: toHex(log.logIndex),
    })),
  };
}

describe("the signed payments of a transaction", () => {
  test.each<[string, readonly Event[], readonly (readonly [Address, bigint, Address])[]]>([
    ["one", [used(), moved()], [[PAYER, 5n, TOKEN]]],
    ["one among other logs", [approved, used(), moved(), moved(OTHER)], [[PAYER, 5n, TOKEN]]],
    [
      "several of one payer",
      [used(), moved(), used(PAYER, TOKEN, 2n), moved(PAYER, 6n)],
      [
        [PAYER, 5n, TOKEN],
        [PAYER, 6n, TOKEN],
      ],
    ],
    [
      "of two payers in two tokens",
      [used(OTHER, EURO), moved(OTHER, 9n, EURO), used(), moved()],
      [
        [OTHER, 9n, EURO],
        [PAYER, 5n, TOKEN],
      ],
    ],
    ["to oneself", [used(), moved(PAYER, 5n, TOKEN, PAYER)], [[PAYER, 5n, TOKEN]]],
    ["none where the transfer is of nothing", [used(), moved(PAYER, 0n)], []],
    ["none where the transfer comes first", [moved(), used()], []],
    ["none where a log stands between", [used(), approved, moved()], []],
    ["none where another account pays", [used(), moved(OTHER)], []],
    ["none where another token moves", [used(), moved(PAYER, 5n, EURO)], []],
    ["none by a token that is not recognised", [used(PAYER, FORGER), moved(PAYER, 5n, FORGER)], []],
    [
      "one where two authorizations precede it",
      [used(), used(PAYER, TOKEN, 2n), moved()],
      [[PAYER, 5n, TOKEN]],
    ],
    ["none without a transfer", [used()], []],
    ["none by a log of another shape", [{ ...used(), data: word(1n) }, moved()], []],
  ])("are %s", (_what, events, expected) => {
    const found = findSignedPayments(logsOf(events), TOKENS);
    expect(found.map(({ payer, amount, token }) => [payer, amount, token])).toEqual(expected);
  });

  test("pair no logs that are not neighbours in the chain", () => {
    const [first, , last] = logsOf([used(), approved, moved()]);
    expect(
      findSignedPayments(
        [first, last].filter((log) => log !== undefined),
        TOKENS,
      ),
    ).toEqual([]);
  });

  test("are as many as a batch holds, in any order among any other logs, each by its own transfer", () => {
    const noise = fc.constantFrom(
      approved,
      moved(),
      moved(OTHER),
      used(PAYER, FORGER),
      moved(PAYER, 1n, FORGER),
    );
    const payment = fc.record({
      payer: fc.constantFrom(PAYER, OTHER),
      token: fc.constantFrom(TOKEN, EURO),
      amount: fc.bigInt({ min: 1n, max: 2n ** 256n - 1n }),
    });
    const part = fc.oneof(
      noise.map((event) => ({ events: [event], payment: null })),
      payment.map((paid) => ({
        events: [used(paid.payer, paid.token), moved(paid.payer, paid.amount, paid.token)],
        payment: paid,
      })),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), fc.nat(1_000), (parts, first) => {
        const logs = logsOf(
          parts.flatMap(({ events }) => events),
          first,
        );
        const found = findSignedPayments(logs, TOKENS);
        expect(found.map(({ payer, token, amount }) => ({ payer, token, amount }))).toEqual(
          parts.flatMap(({ payment: paid }) => (paid === null ? [] : [paid])),
        );
        const transfers = found.map((one) => one.logs[1].logIndex);
        expect(new Set(transfers).size).toBe(transfers.length);
        expect(readSignedPayments(receiptOf(logs), TOKENS)).toEqual(found);
      }),
    );
  });
});

describe("the own calls that signed payments are", () => {
  const events = [used(), moved(), used(OTHER), moved(OTHER)];
  const known = logsOf(events, 40).slice(0, 1);
  const about = { known, tokens: TOKENS, timestamp: 99 };

  test("carry the payment, and no gas of their payer", () => {
    const calls = describeSignedPayments(receiptOf(logsOf(events, 40)), about);
    const described = calls.map(({ call, logs }) =>
      describeCall(call, { logs, l1Fee: null, marketPrice: null }, null),
    );
    expect(described).toEqual([
      {
        ...{ hash: HASH, blockNumber: 7, transactionIndex: 3, position: 41, timestamp: 99 },
        ...{ to: TOKEN, selector: "0xe3ee160e", value: 0n, ok: true, recipient: PAYEE, amount: 5n },
        ...{ gasLimit: 0n, gasUsed: 0n, gasPrice: 0n, fee: 0n },
        receipt: {
          ...{ marketPrice: null, effect: "transfer", emitters: [TOKEN] },
          moves: [{ token: TOKEN, amount: -5n }],
        },
      },
    ]);
  });

  test("leave out what the payer itself sent to the token, and not what it sent to another contract", () => {
    const logs = logsOf(events, 40);
    expect(describeSignedPayments(receiptOf(logs, { from: PAYER }), about)).toEqual([]);
    expect(describeSignedPayments(receiptOf(logs, { from: PAYER, to: FORGER }), about)).toHaveLength(1);
  });

  test("cannot be described where the receipt lacks a log that was read by topic", () => {
    expect(() => describeSignedPayments(receiptOf(logsOf(events, 41)), about)).toThrow(
      `a log of ${HASH} is not in its receipt`,
    );
  });
});

test("finds authorizations of followed wallets by recognised tokens alone", () => {
  const logs = logsOf([used(), used(OTHER), used(PAYER, FORGER), moved()]);
  const followed = new Map([[PAYER, 7]]);
  expect(findAuthorizations(logs, { followed, tokens: TOKENS })).toEqual(logs.slice(0, 1));
  expect(findAuthorizations(logs, { followed: new Map([[PAYER, 8]]), tokens: TOKENS })).toEqual([]);
});
