import type { Address, Hex } from "viem";
import { expect, test } from "vitest";
import { boundApprovals, boundTransfers } from "../../../../service/ingest/enrich/log-rows.ts";

const SELLER: Address = `0x${"a1".repeat(20)}`;
const NEIGHBOUR: Address = `0x${"b2".repeat(20)}`;
const USDC: Address = `0x${"dc".repeat(20)}`;
const LISTED = new Set([USDC]);
const FOLLOWED = new Map([
  [SELLER, 0],
  [NEIGHBOUR, 5],
]);
const OWN_HASH: Hex = "0x0f";
const NINETY_DAYS = 90 * 86_400;

const account = (prefix: string, number: number): Address =>
  `0x${prefix}${number.toString(16).padStart(40 - prefix.length, "0")}`;

let logIndex = 0;
const place = () => ({ chainId: 1, block: 9, logIndex: logIndex++, timestamp: 1_000 });
const moved = (parts: object) => ({
  ...{ ...place(), item: 0, transactionHash: "0x01" as const, token: USDC, standard: "erc20" as const },
  ...{ from: account("c", 1), to: SELLER, amount: 5n as bigint | null, tokenId: null, sender: null },
  ...parts,
});
const many = (count: number, parts: (index: number) => object) =>
  Array.from({ length: count }, (_, index) => moved(parts(index)));
const bound = (rows: readonly ReturnType<typeof moved>[]) =>
  boundTransfers(rows, {
    followed: FOLLOWED,
    listed: LISTED,
    isOwn: (wallet, hash) => wallet === SELLER && hash === OWN_HASH,
  });

test("a seller's payments in a block are stored for good, however many junk tokens come before them", () => {
  const junk = many(5_000, (index) => ({ token: account("7", index) }));
  const payments = many(900, (index) => ({ from: account("c", index), amount: BigInt(index + 1) }));
  const { stored, leftOut } = bound([...junk, ...payments]);
  expect(stored.filter(({ token }) => token === USDC)).toEqual(payments);
  expect(stored.filter(({ token }) => token !== USDC)).toEqual(
    junk.slice(0, 16).map((row) => ({ ...row, storedUntil: 1_000 + NINETY_DAYS })),
  );
  expect(leftOut).toBe(5_000 - 16);
});

test("of more payments in one listed token than the bound of a block the largest are stored", () => {
  const dust = many(3_000, () => ({ amount: 1n }));
  const payments = many(1_000, () => ({ amount: 10n ** 6n }));
  const native = many(1_500, () => ({ token: account("0", 0), standard: "native" }));
  const { stored, leftOut } = bound([...dust, ...payments, ...native]);
  expect(stored).toEqual([...payments, ...native.slice(0, 1_000)]);
  expect(leftOut).toBe(3_500);
});

test("keeps what the wallet sent and its own calls brought before larger payments of others", () => {
  const flood = many(1_000, () => ({ amount: 10n ** 6n }));
  const bundled = many(998, () => ({ amount: 10n ** 6n, transactionHash: OWN_HASH }));
  const earned = many(1, () => ({ amount: 10n ** 7n, transactionHash: OWN_HASH }));
  const paid = many(1, () => ({ from: SELLER, to: account("c", 1), transactionHash: OWN_HASH }));
  const carriedOut = many(1, () => ({ from: SELLER, to: account("c", 2) }));
  const { stored, leftOut } = bound([...flood, ...bundled, ...earned, ...paid, ...carriedOut]);
  expect(stored).toEqual([...bundled.slice(0, 997), ...earned, ...paid, ...carriedOut]);
  expect(leftOut).toBe(1_001);
});

test("of one other token eight rows of a block are stored, and moves of the wallet's own calls for good", () => {
  const [token, own] = [account("7", 1), account("7", 2)];
  const claimed = many(100, (block) => ({ token, block: 9 + (block % 2) }));
  const call = { token: own, transactionHash: OWN_HASH, from: SELLER };
  const calls = many(300, (index) => ({ ...call, to: account("c", index) }));
  const { stored } = bound([...claimed, ...calls]);
  expect(stored.filter((row) => row.token === token)).toHaveLength(2 * 8);
  expect(stored.filter((row) => row.token === own)).toEqual(calls.slice(0, 256));
});

test("treats a transfer of zero in a listed token as a claim, like transfers of other tokens", () => {
  const poison = many(100, () => ({ amount: 0n, from: SELLER, to: account("c", 1) }));
  const { stored, leftOut } = bound(poison);
  expect(stored).toEqual(poison.slice(0, 8).map((row) => ({ ...row, storedUntil: 1_000 + NINETY_DAYS })));
  expect(leftOut).toBe(92);
});

test("one wallet's flood takes nothing from another's rows of the same block, nor from before it was followed", () => {
  const flood = many(1_000, () => ({ token: account("7", 1) }));
  const others = many(8, () => ({ token: account("7", 1), to: NEIGHBOUR }));
  const before = many(1, () => ({ to: NEIGHBOUR, block: 4 }));
  const { stored } = bound([...flood, ...others, ...before]);
  expect(stored.filter(({ to }) => to === NEIGHBOUR)).toHaveLength(8);
});

test("of an own call's approvals all of listed tokens are stored and 64 of others; news are bounded later", () => {
  const approval = (index: number, parts: object) => ({
    ...{ ...place(), transactionHash: OWN_HASH, kind: "amount" as const, token: account("7", 1) },
    ...{ owner: SELLER, spender: account("5", index), subject: account("5", index) },
    ...{ amount: 1n, tokenId: null, approved: true, own: true },
    ...parts,
  });
  const forged = Array.from({ length: 1_000 }, (_, index) => approval(index, {}));
  const real = Array.from({ length: 100 }, (_, index) => approval(2_000 + index, { token: USDC }));
  const news = Array.from({ length: 100 }, (_, index) => approval(3_000 + index, { own: false }));
  const { stored, leftOut } = boundApprovals([...forged, ...real, ...news], LISTED);
  expect(stored).toEqual([...forged.slice(0, 64), ...real, ...news]);
  expect(leftOut).toBe(936);
});
