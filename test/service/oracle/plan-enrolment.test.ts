import { zeroAddress } from "viem";
import { expect, test } from "vitest";
import type { EnrolmentRow } from "../../../service/oracle/enrolments.ts";
import {
  type EnrolmentFate,
  fateOfEnrolment,
  sendableToday,
} from "../../../service/oracle/plan-enrolment.ts";
import { WALLET } from "../ingest/history/simulated-chain.ts";

const snapshot = { indexedBlock: 100, finalityBlocks: 10 };
const PENDING: EnrolmentRow = {
  wallet: WALLET,
  state: "pending",
  attempts: 0,
  notBefore: null,
  cause: "paid",
  ...{ requestedBy: "key:1", hadToday: 0 },
  followedBlock: null,
  isUnfollowed: false,
  transaction: null,
};
const CARRIER = {
  id: 1,
  state: "broadcast",
  final: false,
  minedBlock: null,
  failure: null,
  error: null,
  revertData: null,
} as const;
const SENT: EnrolmentRow = { ...PENDING, state: "sent", attempts: 1, transaction: CARRIER };
const carried = (transaction: Partial<NonNullable<EnrolmentRow["transaction"]>>): EnrolmentRow => ({
  ...SENT,
  transaction: { ...CARRIER, ...transaction },
});

test.each<[string, EnrolmentRow, EnrolmentFate["kind"]]>([
  ["nobody has asked for yet", PENDING, "send"],
  ["somebody else had followed in a final block", { ...PENDING, followedBlock: 90 }, "followed"],
  ["somebody else had followed in a block that a reorg may take", { ...PENDING, followedBlock: 91 }, "wait"],
  ["a failed request was made for", { ...carried({ state: "failed" }), state: "pending" }, "send"],
  ["is the zero address", { ...PENDING, wallet: zeroAddress }, "refused"],
  ["the sender has queued", carried({ state: "queued" }), "wait"],
  ["the sender has given a nonce", carried({ state: "prepared" }), "wait"],
  ["a node has the request of", SENT, "wait"],
  ["has its request in a block", carried({ state: "mined", minedBlock: 95 }), "wait"],
  [
    "has its request in a final block that the index has not read",
    carried({ state: "mined", final: true, minedBlock: 101 }),
    "wait",
  ],
  [
    "the index follows in a block that a reorg may take",
    { ...carried({ state: "mined", minedBlock: 95 }), followedBlock: 95 },
    "wait",
  ],
  [
    "the index follows for good",
    { ...carried({ state: "mined", final: true, minedBlock: 90 }), followedBlock: 90 },
    "followed",
  ],
  [
    "is followed although the request failed",
    { ...carried({ state: "failed" }), followedBlock: 20 },
    "followed",
  ],
  ["was refused in simulation", carried({ state: "failed", failure: "reverted_in_simulation" }), "retry"],
  ["has a reverted request that a reorg may still mend", carried({ state: "reverted" }), "wait"],
  ["has a reverted request for good", carried({ state: "reverted", final: true }), "retry"],
  [
    "has a mined request that the index does not show",
    carried({ state: "mined", final: true, minedBlock: 80 }),
    "refused",
  ],
])("a wallet that %s", (_name, row, kind) => {
  expect(fateOfEnrolment(row, snapshot).kind).toBe(kind);
});

test.each([
  [0, "pppp", "pppp"],
  [2, "pppp", "pp"],
  [4, "pr", ""],
  [9, "p", ""],
  [0, "rrrr", "r"],
  [1, "rr", ""],
  [0, "rp", "rp"],
  [2, "prr", "p"],
])("of four requests a day %s are sent: of %s, paid or of registries, go %s", (sentToday, due, sent) => {
  const rows = [...due].map((letter) => ({
    ...{ cause: letter === "p" ? ("paid" as const) : ("registry" as const), requestedBy: null, hadToday: 0 },
  }));
  const gone = sendableToday(rows, { perDay: 4, sentToday });
  expect(gone.map(({ cause }) => cause[0]).join("")).toBe(sent);
});

test.each([
  [1, 0, "rr", "r"],
  [1, 0, "pr", "p"],
  [1, 1, "r", ""],
  [0, 0, "pr", ""],
  [3, 0, "rr", "r"],
])("of %d a day, %d of them sent, %s leaves %s", (perDay, sentToday, due, sent) => {
  const rows = [...due].map((letter) => ({
    ...{ cause: letter === "p" ? ("paid" as const) : ("registry" as const), requestedBy: null, hadToday: 0 },
  }));
  const gone = sendableToday(rows, { perDay, sentToday });
  expect(gone.map(({ cause }) => cause[0]).join("")).toBe(sent);
});

test.each([
  ["one payer alone", { sentToday: 0, had: {} }, "aaaaaa", "aaa"],
  ["two payers", { sentToday: 0, had: {} }, "aaabbb", "aaabb"],
  ["a newcomer beside a payer who had three", { sentToday: 3, had: { a: 3 } }, "ab", "b"],
  ["a newcomer for the last place", { sentToday: 5, had: { a: 3, b: 2 } }, "abcd", "c"],
])("of six a day %s: %o, due %s, get %s", (_, { sentToday, had }, due, sent) => {
  const rows = [...due].map((requestedBy) => {
    const hadToday = Object.entries(had).find(([payer]) => payer === requestedBy)?.[1] ?? 0;
    return { cause: "paid" as const, requestedBy, hadToday };
  });
  const gone = sendableToday(rows, { perDay: 6, sentToday });
  expect(gone.map(({ requestedBy }) => requestedBy).join("")).toBe(sent);
});

test("an enrolment that was sent by nothing is a broken invariant", () => {
  expect(() => fateOfEnrolment({ ...SENT, transaction: null }, snapshot)).toThrow("without a transaction");
});
