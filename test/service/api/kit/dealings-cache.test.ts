import type { Address, Hex } from "viem";
import { describe, expect, test } from "vitest";
import { keepDealings } from "../../../../service/api/kit/dealings-cache.ts";
import type { AsOf } from "../../../../service/model/features/types.ts";
import { AHS_2026_2 } from "../../../../service/model/score/policy.ts";
import type { Incoming, PinnedBlock } from "../../../../service/reports/network/wallet-network-dealings.ts";
import { account } from "../../model/features/histories.ts";
import { AS_OF_SECONDS, reportSource } from "../report-source.ts";

const WALLET = account(1);
const hashOf = (block: number): Hex => `0x${block.toString(16).padStart(64, "0")}`;
const pinOf = (blockNumber: number): PinnedBlock => ({ blockNumber, blockHash: hashOf(blockNumber) });

/** So many senders of an ether each. */
function gifts(senders: number): Incoming[] {
  return Array.from({ length: senders }, (_, place) => ({
    ...{ from: account(0x10_000 + place), token: null, amount: 10n ** 18n, transfers: 1 },
    ...{ firstAt: AS_OF_SECONDS - 10, lastAt: AS_OF_SECONDS - 10 },
  }));
}

function world({ senders = 0 } = {}) {
  const reads: (readonly [Address, number])[] = [];
  const state = { newest: 5, now: 0, turns: 0, fails: false };
  const asOfOf = (blockNumber: number): AsOf => ({ ...reportSource().asOf, ...pinOf(blockNumber) });
  const readDealings = keepDealings({
    policy: AHS_2026_2,
    monotonicMs: () => state.now,
    turns: {
      take: (read) => {
        state.turns += 1;
        return read();
      },
    },
    reader: {
      blockOf: async (pin) => (pin?.blockNumber === 666 ? "gone" : asOfOf(pin?.blockNumber ?? state.newest)),
      read: async (wallet, pin) => {
        const block = pin?.blockNumber ?? state.newest;
        reads.push([wallet, block]);
        if (state.fails) throw new Error("broken");
        if (wallet === account(2)) return { kind: "not-indexed" };
        const rest = { incoming: gifts(senders), incomingTruncated: false };
        return { kind: "read", ...reportSource(), asOf: asOfOf(block), ...rest };
      },
    },
  });
  return { readDealings, reads, state };
}

describe("the dealings of a wallet", () => {
  test("are found once for all pages of one block, asked one by one or at once", async () => {
    const { readDealings, reads, state } = world();
    const [one, other] = await Promise.all([readDealings(WALLET, null), readDealings(WALLET, null)]);
    state.newest = 6;
    expect(await readDealings(WALLET, pinOf(5))).toBe(one);
    expect(other).toBe(one);
    expect([reads, state.turns]).toEqual([[[WALLET, 5]], 1]);
  });

  test("are found again at another block, for another wallet, and after some minutes", async () => {
    const { readDealings, reads, state } = world();
    await readDealings(WALLET, null);
    state.newest = 6;
    await readDealings(WALLET, null);
    await readDealings(account(3), null);
    state.now = 5 * 60_000;
    await readDealings(account(3), null);
    expect(reads).toEqual([
      [WALLET, 5],
      [WALLET, 6],
      [account(3), 6],
      [account(3), 6],
    ]);
  });

  test("that could not be read are not cached", async () => {
    const { readDealings, reads, state } = world();
    state.fails = true;
    await expect(readDealings(WALLET, null)).rejects.toThrow("broken");
    state.fails = false;
    expect(await readDealings(WALLET, null)).toMatchObject({ kind: "read" });
    expect(await readDealings(account(2), null)).toEqual({ kind: "not-indexed" });
    expect(await readDealings(account(2), null)).toEqual({ kind: "not-indexed" });
    expect(await readDealings(WALLET, pinOf(666))).toEqual({ kind: "gone" });
    expect(reads).toHaveLength(4);
  });

  test("are cached in bounded memory, those of the wallet asked for last always", async () => {
    const { readDealings, reads } = world({ senders: 40_000 });
    for (const number of [11, 12, 13]) await readDealings(account(number), null);
    await readDealings(account(13), null);
    expect(reads).toHaveLength(3);
    await readDealings(account(11), null);
    expect(reads).toHaveLength(4);
  });
});
