import { describe, expect, test } from "vitest";
import { type PastFacts, planPast, requestPast } from "../../../../service/ingest/history/stored-history.ts";
import type { AsOf } from "../../../../service/model/features/types.ts";
import { hashOfBlock, WALLET } from "./simulated-chain.ts";

const DAY = 86_400;
const NOW = 1_800_000_000;
const blockAt = (blockNumber: number, timestamp: number): AsOf => ({
  blockNumber,
  blockHash: hashOfBlock(blockNumber),
  timestamp,
});
const asOf = blockAt(900, NOW);
const question = { wallet: WALLET, asOf, windowDays: 180 };
/** Followed ten days ago, in the middle of its life. */
const followed = blockAt(400, NOW - 10 * DAY);
const stored = (toBlock: number) => ({ source: "otterscan", toBlock, toHash: hashOfBlock(toBlock) });

const STRANGER: PastFacts = {
  followed: null,
  fromChainStart: false,
  firstNonce: null,
  lastCallAt: null,
  stored: null,
};
const LATE: PastFacts = { ...STRANGER, followed, firstNonce: 70, lastCallAt: NOW - DAY };

const beforeLastCall = { kind: "before_last_call", seconds: 180 * DAY } as const;

describe("a wallet that the index does not follow", () => {
  test("is asked for up to the as-of block, back to 180 days before its last own call", () => {
    expect(planPast(STRANGER, question)).toEqual({ wallet: WALLET, asOf, edge: beforeLastCall });
  });

  test("is asked for again once there are newer blocks", () => {
    expect(planPast({ ...STRANGER, stored: stored(899) }, question)).toMatchObject({ asOf });
  });

  test("is not asked for twice as of one block, unless that is another block by now", () => {
    expect(planPast({ ...STRANGER, stored: stored(900) }, question)).toBeNull();
    const other = { ...stored(900), toHash: hashOfBlock(1) };
    expect(planPast({ ...STRANGER, stored: other }, question)).not.toBeNull();
  });
});

describe("a wallet that the index began to follow late", () => {
  test("is asked for up to that block, as far back as its window goes", () => {
    expect(planPast(LATE, question)).toEqual({
      wallet: WALLET,
      asOf: followed,
      edge: { kind: "since", timestamp: NOW - DAY - 180 * DAY },
    });
  });

  test("without a call since then is asked for from its last call before", () => {
    expect(planPast({ ...LATE, firstNonce: null, lastCallAt: null }, question)).toEqual({
      wallet: WALLET,
      asOf: followed,
      edge: beforeLastCall,
    });
  });

  test.each<[string, Partial<PastFacts>]>([
    ["its window began since", { lastCallAt: NOW + 171 * DAY }],
    ["its first call ever is in the index", { firstNonce: 0 }],
    ["the index follows it from the chain's first block", { fromChainStart: true }],
    ["a source told of the blocks before", { stored: stored(400) }],
  ])("is not asked for where %s", (_name, facts) => {
    expect(planPast({ ...LATE, ...facts }, question)).toBeNull();
  });

  test("is asked for where a source reported less than that", () => {
    expect(planPast({ ...LATE, stored: stored(399) }, question)).not.toBeNull();
  });
});

test("requests the blocks between a stored history and the index, whatever the index has", () => {
  const facts = { ...LATE, firstNonce: 0, stored: stored(300) };
  expect(planPast(facts, question)).toBeNull();
  expect(requestPast(facts, question)).toMatchObject({ asOf: followed });
});
