import { zeroAddress } from "viem";
import { expect, test } from "vitest";
import type { EnrolmentRow } from "../../../service/oracle/enrolments.ts";
import { enrolmentKind, sendableToday } from "../../../service/oracle/plan-enrolment.ts";
import { stepOf } from "../../../service/sender/orders/fate.ts";
import type { Step } from "../../../service/sender/orders/order-kind.ts";
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
const SENT: EnrolmentRow = {
  ...PENDING,
  state: "sent",
  attempts: 1,
  transaction: {
    ...{ id: 1, state: "failed", final: false, minedBlock: null, minedHash: null },
    ...{ failure: "reverted_in_simulation", error: null, revertData: null, updatedAt: new Date(0) },
  },
};
const inBlock = (change: object): EnrolmentRow => ({
  ...SENT,
  transaction: SENT.transaction === null ? null : { ...SENT.transaction, ...change },
});

test.each<[string, EnrolmentRow, Step["kind"]]>([
  ["is not requested yet", PENDING, "again"],
  ["another account had followed in a final block", { ...PENDING, followedBlock: 90 }, "done"],
  [
    "another account had followed in a block that a reorg may take",
    { ...PENDING, followedBlock: 91 },
    "wait",
  ],
  ["is pending after a failed request", { ...SENT, state: "pending" }, "again"],
  ["is the zero address", { ...PENDING, wallet: zeroAddress }, "end"],
  ["the operator excludes", { ...PENDING, isUnfollowed: true, followedBlock: 20 }, "end"],
  ["the index follows in a block that a reorg may take", { ...SENT, followedBlock: 95 }, "wait"],
  ["is followed although the request failed", { ...SENT, followedBlock: 20 }, "done"],
  ["was refused in simulation", SENT, "again"],
  ["has a reverted request that a reorg may still undo", inBlock({ state: "reverted" }), "wait"],
  ["has a reverted request in a final block", inBlock({ state: "reverted", final: true }), "again"],
  [
    "has a mined request that the index does not show",
    inBlock({ state: "mined", final: true, minedBlock: 80 }),
    "end",
  ],
])("a wallet that %s", (_name, row, step) => {
  const kind = enrolmentKind({ ...snapshot, retryMs: { first: 1, longest: 1 } });
  const moment = { ...snapshot, now: new Date() };
  expect(stepOf(kind, { row, seen: kind.look(row) }, moment).kind).toBe(step);
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
