import { describe, expect, test } from "vitest";
import { type ChainSnapshot, nextStep, type OpenTransaction } from "../../../service/sender/send-step.ts";

const policy = { finalityBlocks: 30, stuckAfterMs: 15_000 };
const now = new Date("2026-11-20T12:00:00Z");
const ago = (ms: number): Date => new Date(now.getTime() - ms);

const broadcast: OpenTransaction = {
  state: "broadcast",
  nonce: 7,
  hashes: ["0xaa"],
  minedHash: null,
  minedBlock: null,
  broadcastAt: ago(1_000),
  broadcastBlock: 100,
  notBefore: null,
};
const stuck: OpenTransaction = { ...broadcast, broadcastAt: ago(15_000) };
const mined: OpenTransaction = { ...broadcast, state: "mined", minedHash: "0xaa", minedBlock: 100 };
const unsigned: OpenTransaction = {
  ...broadcast,
  state: "prepared",
  hashes: [],
  broadcastAt: null,
  broadcastBlock: null,
};
const unsent: OpenTransaction = { ...unsigned, hashes: ["0xaa"] };

const pending: ChainSnapshot = { headBlock: 101, latestNonce: 7, finalNonce: 7, receipt: null, now };
const receipt = { hash: "0xaa", block: 100, ok: true, gasUsed: 21_000n, costWei: 1n } as const;

describe("the next step of a transaction", () => {
  test.each([
    ["never signed", "sign", unsigned, pending],
    ["never signed, nonce gone", "requeue", unsigned, { ...pending, latestNonce: 8 }],
    ["signed, not known to be out", "broadcast", unsent, pending],
    ["signed, postponed", "wait", { ...unsent, notBefore: ago(-1) }, pending],
    ["signed, postponed until now", "broadcast", { ...unsent, notBefore: now }, pending],
    ["signed, mined meanwhile", "record", unsent, { ...pending, latestNonce: 8, receipt }],
    ["just broadcast", "wait", broadcast, pending],
    ["stuck for its fees", "bump", stuck, pending],
    ["stuck behind a lower nonce", "broadcast", stuck, { ...pending, latestNonce: 6 }],
    ["stuck on a chain that stands still", "broadcast", stuck, { ...pending, headBlock: 100 }],
    ["nonce used, perhaps for a reorg's length", "wait", broadcast, { ...pending, latestNonce: 8 }],
    ["nonce used for good", "requeue", broadcast, { ...pending, latestNonce: 8, finalNonce: 8 }],
    ["mined, seen for the first time", "record", broadcast, { ...pending, receipt }],
    ["mined and known", "wait", mined, { ...pending, headBlock: 129, receipt }],
    [
      "mined in another block after a reorg",
      "record",
      mined,
      { ...pending, receipt: { ...receipt, block: 101 } },
    ],
    [
      "mined in another version after a reorg",
      "record",
      mined,
      { ...pending, receipt: { ...receipt, hash: "0xbb" as const } },
    ],
    ["mined and gone", "unmine", mined, pending],
    ["reverted and gone", "unmine", { ...mined, state: "reverted" as const }, pending],
  ])("%s: %s", (_name, kind, transaction, snapshot) => {
    expect(nextStep(transaction, snapshot, policy).kind).toBe(kind);
  });
});

test.each([
  [129, false],
  [130, true],
])("a block %s - 100 deep is final: %s", (headBlock, final) => {
  const step = nextStep(broadcast, { ...pending, headBlock, receipt }, policy);
  expect(step).toEqual({ kind: "record", receipt, final });
});
