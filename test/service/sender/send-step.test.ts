import { describe, expect, test } from "vitest";
import { nextStep, type OpenTransaction, type Sighting } from "../../../service/sender/send-step.ts";

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

const pending: Sighting = { headBlock: 101, latestNonce: 7, finalNonce: 7, receipt: null, now };
const receipt = { hash: "0xaa", block: 100, ok: true, gasUsed: 21_000n, costWei: 1n } as const;

describe("the next step of a transaction", () => {
  test.each([
    { name: "never signed", transaction: unsigned, sighting: pending, kind: "sign" },
    {
      name: "never signed, nonce gone",
      transaction: unsigned,
      sighting: { ...pending, latestNonce: 8 },
      kind: "requeue",
    },
    { name: "signed, not known to be out", transaction: unsent, sighting: pending, kind: "broadcast" },
    {
      name: "signed, postponed",
      transaction: { ...unsent, notBefore: ago(-1) },
      sighting: pending,
      kind: "wait",
    },
    {
      name: "signed, postponed until now",
      transaction: { ...unsent, notBefore: now },
      sighting: pending,
      kind: "broadcast",
    },
    {
      name: "signed, mined meanwhile",
      transaction: unsent,
      sighting: { ...pending, latestNonce: 8, receipt },
      kind: "record",
    },
    { name: "just broadcast", transaction: broadcast, sighting: pending, kind: "wait" },
    { name: "stuck for its fees", transaction: stuck, sighting: pending, kind: "bump" },
    {
      name: "stuck behind a lower nonce",
      transaction: stuck,
      sighting: { ...pending, latestNonce: 6 },
      kind: "broadcast",
    },
    {
      name: "stuck on a chain that stands still",
      transaction: stuck,
      sighting: { ...pending, headBlock: 100 },
      kind: "broadcast",
    },
    {
      name: "nonce used, perhaps for a reorg's length",
      transaction: broadcast,
      sighting: { ...pending, latestNonce: 8 },
      kind: "wait",
    },
    {
      name: "nonce used for good",
      transaction: broadcast,
      sighting: { ...pending, latestNonce: 8, finalNonce: 8 },
      kind: "requeue",
    },
    {
      name: "mined, seen for the first time",
      transaction: broadcast,
      sighting: { ...pending, receipt },
      kind: "record",
    },
    {
      name: "mined and known",
      transaction: mined,
      sighting: { ...pending, headBlock: 129, receipt },
      kind: "wait",
    },
    {
      name: "mined in another block after a reorg",
      transaction: mined,
      sighting: { ...pending, receipt: { ...receipt, block: 101 } },
      kind: "record",
    },
    {
      name: "mined in another version after a reorg",
      transaction: mined,
      sighting: { ...pending, receipt: { ...receipt, hash: "0xbb" as const } },
      kind: "record",
    },
    { name: "mined and gone", transaction: mined, sighting: pending, kind: "unmine" },
    {
      name: "reverted and gone",
      transaction: { ...mined, state: "reverted" as const },
      sighting: pending,
      kind: "unmine",
    },
  ])("$name: $kind", ({ transaction, sighting, kind }) => {
    expect(nextStep(transaction, sighting, policy).kind).toBe(kind);
  });
});

test.each([
  { headBlock: 129, final: false },
  { headBlock: 130, final: true },
])("a block $headBlock - 100 deep is final: $final", ({ headBlock, final }) => {
  const step = nextStep(broadcast, { ...pending, headBlock, receipt }, policy);
  expect(step).toEqual({ kind: "record", receipt, final });
});
