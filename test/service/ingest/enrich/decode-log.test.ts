import fc from "fast-check";
import { type Address, encodeAbiParameters, type Hex, pad, parseAbiParameters, toHex } from "viem";
import { describe, expect, test } from "vitest";
import {
  APPROVAL,
  APPROVAL_FOR_ALL,
  TRANSFER,
  TRANSFER_BATCH,
  TRANSFER_SINGLE,
  USER_OPERATION,
} from "../../../../service/chain/node/rpc-answers.ts";
import { decodeLog } from "../../../../service/ingest/enrich/decode-log.ts";

const A: Address = `0x${"a1".repeat(20)}`;
const B: Address = `0x${"b2".repeat(20)}`;
const C: Address = `0x${"c3".repeat(20)}`;
const NOBODY: Address = `0x${"00".repeat(20)}`;
const MAX = 2n ** 256n - 1n;
const HASH: Hex = `0x${"5e".repeat(32)}`;

const word = (value: bigint): Hex => toHex(value, { size: 32 });
const words = (...values: bigint[]): Hex => `0x${values.map((value) => word(value).slice(2)).join("")}`;
const batch = (ids: bigint[], amounts: bigint[]): Hex =>
  encodeAbiParameters(parseAbiParameters("uint256[], uint256[]"), [ids, amounts]);
const moved = (...movements: object[]) => ({ event: "transfer", movements, leftOut: 0 });

describe("decodes each event:", () => {
  test.each([
    {
      name: "an ERC-20 transfer",
      topics: [TRANSFER, pad(A), pad(B)],
      data: word(MAX),
      decoded: moved({ standard: "erc20", from: A, to: B, amount: MAX, tokenId: null }),
    },
    {
      name: "an ERC-721 transfer",
      topics: [TRANSFER, pad(NOBODY), pad(B), word(7n)],
      data: "0x" as Hex,
      decoded: moved({ standard: "erc721", from: NOBODY, to: B, amount: null, tokenId: 7n }),
    },
    {
      name: "an ERC-1155 transfer, by an operator who is no party",
      topics: [TRANSFER_SINGLE, pad(C), pad(A), pad(B)],
      data: words(7n, 3n),
      decoded: moved({ standard: "erc1155", from: A, to: B, amount: 3n, tokenId: 7n }),
    },
    {
      name: "an ERC-1155 batch",
      topics: [TRANSFER_BATCH, pad(C), pad(A), pad(B)],
      data: batch([7n, 8n], [3n, 0n]),
      decoded: moved(
        { standard: "erc1155", from: A, to: B, amount: 3n, tokenId: 7n },
        { standard: "erc1155", from: A, to: B, amount: 0n, tokenId: 8n },
      ),
    },
    {
      name: "an empty ERC-1155 batch",
      topics: [TRANSFER_BATCH, pad(C), pad(A), pad(B)],
      data: batch([], []),
      decoded: moved(),
    },
    {
      name: "an unlimited ERC-20 approval",
      topics: [APPROVAL, pad(A), pad(B)],
      data: word(MAX),
      decoded: {
        event: "approval",
        approval: { kind: "amount", owner: A, spender: B, amount: MAX, tokenId: null, approved: true },
      },
    },
    {
      name: "an ERC-20 approval taken back",
      topics: [APPROVAL, pad(A), pad(B)],
      data: word(0n),
      decoded: {
        event: "approval",
        approval: { kind: "amount", owner: A, spender: B, amount: 0n, tokenId: null, approved: false },
      },
    },
    {
      name: "an ERC-721 approval taken back",
      topics: [APPROVAL, pad(A), pad(NOBODY), word(9n)],
      data: "0x" as Hex,
      decoded: {
        event: "approval",
        approval: { kind: "token", owner: A, spender: NOBODY, amount: null, tokenId: 9n, approved: false },
      },
    },
    {
      name: "an approval of a whole collection",
      topics: [APPROVAL_FOR_ALL, pad(A), pad(B)],
      data: word(1n),
      decoded: {
        event: "approval",
        approval: { kind: "all", owner: A, spender: B, amount: null, tokenId: null, approved: true },
      },
    },
    {
      name: "a user operation that paid by itself",
      topics: [USER_OPERATION, HASH, pad(A), pad(NOBODY)],
      data: words(2n ** 64n, 0n, 10n ** 15n, 90_000n),
      decoded: {
        event: "user_operation",
        operation: {
          userOpHash: HASH,
          wallet: A,
          paymaster: null,
          nonce: 2n ** 64n,
          success: false,
          actualGasCostWei: 10n ** 15n,
          actualGasUsed: 90_000n,
        },
      },
    },
  ])("$name", ({ topics, data, decoded }) => {
    expect(decodeLog({ topics, data })).toEqual(decoded);
    const shouted = topics.map((topic) => `0x${topic.slice(2).toUpperCase()}` as Hex);
    expect(decodeLog({ topics: shouted, data })).toEqual(decoded);
  });
});

describe("a malformed log says nothing", () => {
  const three = [pad(C), pad(A), pad(B)];
  test.each<{ name: string; topics: Hex[]; data: Hex }>([
    { name: "no topics", topics: [], data: "0x" },
    { name: "another event", topics: [HASH, pad(A), pad(B)], data: word(1n) },
    { name: "a transfer with nothing indexed", topics: [TRANSFER], data: words(1n, 2n, 3n) },
    { name: "a transfer without an amount", topics: [TRANSFER, pad(A), pad(B)], data: "0x" },
    { name: "a transfer with too much data", topics: [TRANSFER, pad(A), pad(B)], data: words(1n, 2n) },
    { name: "a transfer with half a word", topics: [TRANSFER, pad(A), pad(B)], data: "0x01" },
    { name: "an id and an amount at once", topics: [TRANSFER, pad(A), pad(B), word(1n)], data: word(1n) },
    { name: "a party wider than an address", topics: [TRANSFER, HASH, pad(B)], data: word(1n) },
    { name: "a topic that is no word", topics: [TRANSFER, A, pad(B)], data: word(1n) },
    { name: "data that is no hex", topics: [TRANSFER, pad(A), pad(B)], data: `0x${"zz".repeat(32)}` },
    { name: "an approval for all of 2", topics: [APPROVAL_FOR_ALL, pad(A), pad(B)], data: word(2n) },
    { name: "a single of one word", topics: [TRANSFER_SINGLE, ...three], data: word(1n) },
    { name: "a batch without data", topics: [TRANSFER_BATCH, ...three], data: "0x" },
    { name: "a batch of unequal lists", topics: [TRANSFER_BATCH, ...three], data: batch([1n, 2n], [3n]) },
    { name: "a batch that ends early", topics: [TRANSFER_BATCH, ...three], data: words(64n, 64n, 5n, 1n) },
    { name: "a batch of endless length", topics: [TRANSFER_BATCH, ...three], data: words(64n, 64n, MAX) },
    { name: "a batch that lies elsewhere", topics: [TRANSFER_BATCH, ...three], data: words(MAX, 64n, 0n) },
    { name: "a batch between two words", topics: [TRANSFER_BATCH, ...three], data: words(33n, 33n, 0n) },
    {
      name: "an operation neither ok nor failed",
      topics: [USER_OPERATION, ...three],
      data: words(1n, 2n, 3n, 4n),
    },
    { name: "an operation cut short", topics: [USER_OPERATION, ...three], data: words(1n, 1n, 3n) },
  ])("$name", ({ topics, data }) => {
    expect(decodeLog({ topics, data })).toBeNull();
  });

  const EVENTS = [TRANSFER, TRANSFER_SINGLE, TRANSFER_BATCH, APPROVAL, APPROVAL_FOR_ALL, USER_OPERATION];
  const anyHex = (max: number) => fc.uint8Array({ maxLength: max }).map((bytes): Hex => toHex(bytes));
  const smallWords = fc.array(fc.constantFrom(0n, 1n, 2n, 32n, 64n, 96n, 128n, MAX), { maxLength: 10 });

  test("whatever a contract logs, decoding ends without throwing and invents no items", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...EVENTS),
        fc.array(fc.oneof(anyHex(40), fc.constant(pad(A))), { maxLength: 4 }),
        fc.oneof(
          anyHex(200),
          smallWords.map((values) => words(...values)),
          fc.string().map((text) => text as Hex),
        ),
        (event, topics, data) => {
          const decoded = decodeLog({ topics: [event, ...topics], data });
          if (decoded?.event === "transfer")
            expect(decoded.movements.length).toBeLessThanOrEqual(data.length / 64 + 1);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  const uint = fc.bigInt({ min: 0n, max: MAX });
  const account = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => toHex(bytes));

  test("of a batch the first 256 movements are read, and the others counted", () => {
    const ids = Array.from({ length: 20_000 }, (_, id) => BigInt(id));
    const decoded = decodeLog({ topics: [TRANSFER_BATCH, pad(C), pad(A), pad(B)], data: batch(ids, ids) });
    expect(decoded).toMatchObject({ event: "transfer", leftOut: 20_000 - 256 });
    expect(decoded?.event === "transfer" && decoded.movements.at(-1)).toMatchObject({ tokenId: 255n });
  });

  test("every batch that is encoded comes back", () => {
    fc.assert(
      fc.property(account, account, fc.array(fc.tuple(uint, uint), { maxLength: 20 }), (from, to, items) => {
        const data = batch(
          items.map(([id]) => id),
          items.map(([, amount]) => amount),
        );
        const movements = items.map(([tokenId, amount]) => ({
          standard: "erc1155",
          from,
          to,
          amount,
          tokenId,
        }));
        const topics = [TRANSFER_BATCH, pad(C), pad(from), pad(to)];
        expect(decodeLog({ topics, data })).toEqual(moved(...movements));
      }),
    );
  });
});
