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
    { name: "never signed", transaction: unsigned, snapshot: pending, kind: "sign" },
    {
      name: "never signed, nonce gone",
      transaction: unsigned,
      snapshot: { ...pending, latestNonce: 8 },
      kind: "requeue",
    },
    { name: "signed, not known to be out", transaction: unsent, snapshot: pending, kind: "broadcast" },
    {
      name: "signed, postponed",
      transaction: { ...unsent, notBefore: ago(-1) },
      snapshot: pending,
      kind: "wait",
    },
    {
      name: "signed, postponed until now",
      transaction: { ...unsent, notBefore: now },
      snapshot: pending,
      kind: "broadcast",
    },
    {
      name: "signed, mined meanwhile",
      transaction: unsent,
      snapshot: { ...pending, latestNonce: 8, receipt },
      kind: "record",
    },
    { name: "just broadcast", transaction: broadcast, snapshot: pending, kind: "wait" },
    { name: "stuck for its fees", transaction: stuck, snapshot: pending, kind: "bump" },
    {
      name: "stuck behind a lower nonce",
      transaction: stuck,
      snapshot: { ...pending, latestNonce: 6 },
      kind: "broadcast",
    },
    {
      name: "stuck on a chain that stands still",
      transaction: stuck,
      snapshot: { ...pending, headBlock: 100 },
      kind: "broadcast",
    },
    {
      name: "nonce used, perhaps for a reorg's length",
      transaction: broadcast,
      snapshot: { ...pending, latestNonce: 8 },
      kind: "wait",
    },
    {
      name: "nonce used for good",
      transaction: broadcast,
      snapshot: { ...pending, latestNonce: 8, finalNonce: 8 },
      kind: "requeue",
    },
    {
      name: "mined, seen for the first time",
      transaction: broadcast,
      snapshot: { ...pending, receipt },
      kind: "record",
    },
    {
      name: "mined and known",
      transaction: mined,
      snapshot: { ...pending, headBlock: 129, receipt },
      kind: "wait",
    },
    {
      name: "mined in another block after a reorg",
      transaction: mined,
      snapshot: { ...pending, receipt: { ...receipt, block: 101 } },
      kind: "record",
    },
    {
      name: "mined in another version after a reorg",
      transaction: mined,
      snapshot: { ...pending, receipt: { ...receipt, hash: "0xbb" as const } },
      kind: "record",
    },
    { name: "mined and gone", transaction: mined, snapshot: pending, kind: "unmine" },
    {
      name: "reverted and gone",
      transaction: { ...mined, state: "reverted" as const },
      snapshot: pending,
      kind: "unmine",
    },
  ])("$name: $kind", ({ transaction, snapshot, kind }) => {
    expect(nextStep(transaction, snapshot, policy).kind).toBe(kind);
  });
});

test.each([
  { headBlock: 129, final: false },
  { headBlock: 130, final: true },
])("a block $headBlock - 100 deep is final: $final", ({ headBlock, final }) => {
  const step = nextStep(broadcast, { ...pending, headBlock, receipt }, policy);
  expect(step).toEqual({ kind: "record", receipt, final });
});
