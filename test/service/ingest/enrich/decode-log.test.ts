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
    [
      "an ERC-20 transfer",
      [TRANSFER, pad(A), pad(B)],
      word(MAX),
      moved({ standard: "erc20", from: A, to: B, amount: MAX, tokenId: null }),
    ],
    [
      "an ERC-721 transfer",
      [TRANSFER, pad(NOBODY), pad(B), word(7n)],
      "0x" as Hex,
      moved({ standard: "erc721", from: NOBODY, to: B, amount: null, tokenId: 7n }),
    ],
    [
      "an ERC-1155 transfer, by an operator who is no party",
      [TRANSFER_SINGLE, pad(C), pad(A), pad(B)],
      words(7n, 3n),
      moved({ standard: "erc1155", from: A, to: B, amount: 3n, tokenId: 7n }),
    ],
    [
      "an ERC-1155 batch",
      [TRANSFER_BATCH, pad(C), pad(A), pad(B)],
      batch([7n, 8n], [3n, 0n]),
      moved(
        { standard: "erc1155", from: A, to: B, amount: 3n, tokenId: 7n },
        { standard: "erc1155", from: A, to: B, amount: 0n, tokenId: 8n },
      ),
    ],
    ["an empty ERC-1155 batch", [TRANSFER_BATCH, pad(C), pad(A), pad(B)], batch([], []), moved()],
    [
      "an unlimited ERC-20 approval",
      [APPROVAL, pad(A), pad(B)],
      word(MAX),
      {
        event: "approval",
        approval: { kind: "amount", owner: A, spender: B, amount: MAX, tokenId: null, approved: true },
      },
    ],
    [
      "an ERC-20 approval taken back",
      [APPROVAL, pad(A), pad(B)],
      word(0n),
      {
        event: "approval",
        approval: { kind: "amount", owner: A, spender: B, amount: 0n, tokenId: null, approved: false },
      },
    ],
    [
      "an ERC-721 approval taken back",
      [APPROVAL, pad(A), pad(NOBODY), word(9n)],
      "0x" as Hex,
      {
        event: "approval",
        approval: { kind: "token", owner: A, spender: NOBODY, amount: null, tokenId: 9n, approved: false },
      },
    ],
    [
      "an approval of a whole collection",
      [APPROVAL_FOR_ALL, pad(A), pad(B)],
      word(1n),
      {
        event: "approval",
        approval: { kind: "all", owner: A, spender: B, amount: null, tokenId: null, approved: true },
      },
    ],
    [
      "a user operation that paid by itself",
      [USER_OPERATION, HASH, pad(A), pad(NOBODY)],
      words(2n ** 64n, 0n, 10n ** 15n, 90_000n),
      {
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
    ],
  ])("%s", (_name, topics, data, decoded) => {
    expect(decodeLog({ topics, data })).toEqual(decoded);
    const shouted = topics.map((topic) => `0x${topic.slice(2).toUpperCase()}` as Hex);
    expect(decodeLog({ topics: shouted, data })).toEqual(decoded);
  });
});

describe("a malformed log says nothing", () => {
  const three = [pad(C), pad(A), pad(B)];
  test.each<[string, Hex[], Hex]>([
    ["no topics", [], "0x"],
    ["another event", [HASH, pad(A), pad(B)], word(1n)],
    ["a transfer with nothing indexed", [TRANSFER], words(1n, 2n, 3n)],
    ["a transfer without an amount", [TRANSFER, pad(A), pad(B)], "0x"],
    ["a transfer with too much data", [TRANSFER, pad(A), pad(B)], words(1n, 2n)],
    ["a transfer with half a word", [TRANSFER, pad(A), pad(B)], "0x01"],
    ["an id and an amount at once", [TRANSFER, pad(A), pad(B), word(1n)], word(1n)],
    ["a party wider than an address", [TRANSFER, HASH, pad(B)], word(1n)],
    ["a topic that is no word", [TRANSFER, A, pad(B)], word(1n)],
    ["data that is no hex", [TRANSFER, pad(A), pad(B)], `0x${"zz".repeat(32)}`],
    ["an approval for all of 2", [APPROVAL_FOR_ALL, pad(A), pad(B)], word(2n)],
    ["a single of one word", [TRANSFER_SINGLE, ...three], word(1n)],
    ["a batch without data", [TRANSFER_BATCH, ...three], "0x"],
    ["a batch of unequal lists", [TRANSFER_BATCH, ...three], batch([1n, 2n], [3n])],
    ["a batch that ends early", [TRANSFER_BATCH, ...three], words(64n, 64n, 5n, 1n)],
    ["a batch of endless length", [TRANSFER_BATCH, ...three], words(64n, 64n, MAX)],
    ["a batch that lies elsewhere", [TRANSFER_BATCH, ...three], words(MAX, 64n, 0n)],
    ["a batch between two words", [TRANSFER_BATCH, ...three], words(33n, 33n, 0n)],
    ["an operation neither ok nor failed", [USER_OPERATION, ...three], words(1n, 2n, 3n, 4n)],
    ["an operation cut short", [USER_OPERATION, ...three], words(1n, 1n, 3n)],
  ])("%s", (_name, topics, data) => {
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
