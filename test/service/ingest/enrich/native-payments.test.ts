import fc from "fast-check";
import type { Address } from "viem";
import { describe, expect, test } from "vitest";
import {
  type AskedPayment,
  findPayments,
  readFrames,
} from "../../../../service/ingest/enrich/native-payments.ts";
import { cpuMsOf } from "../../../support/cpu-time.ts";

const ENTRY_POINT: Address = `0x${"e0".repeat(20)}`;
const ACCOUNT: Address = `0x${"5a".repeat(20)}`;
const CODE: Address = `0x${"c0".repeat(20)}`;
const PAYEE: Address = `0x${"fe".repeat(20)}`;
const OTHER: Address = `0x${"c3".repeat(20)}`;

type Raw = {
  readonly type: string;
  readonly from: string;
  readonly to?: string;
  readonly value?: string;
  readonly input?: string;
  readonly error?: string;
  readonly calls?: readonly unknown[];
};

const sends: Raw = { type: "CALL", from: ACCOUNT, to: PAYEE, value: "0x7", input: "0x" };
const enters = (...calls: readonly Raw[]): Raw => ({
  ...{ type: "CALL", from: ENTRY_POINT, to: ACCOUNT, value: "0x0", input: "0xabcd" },
  calls,
});
const bundles = (...calls: readonly Raw[]): Raw => ({
  ...{ type: "CALL", from: OTHER, to: ENTRY_POINT, value: "0x0", input: "0x1234" },
  calls,
});
const call = { to: PAYEE, value: 7n, input: "0x" } as const;
const operation = (turn = 0, turns = 1): AskedPayment => ({
  account: ACCOUNT,
  call,
  entry: { by: ENTRY_POINT, input: "0xabcd", isWhole: true, turn, turns },
});

function paidIn(trace: Raw, asked: readonly AskedPayment[] = [operation()]) {
  const frames = readFrames(trace);
  if (frames === null) throw new Error("the trace is not read");
  return findPayments(frames, asked);
}

describe("a payment of an operation", () => {
  test.each<[string, Raw]>([
    ["by the account's first call", sends],
    ["by code that the account delegates to", { ...sends, type: "DELEGATECALL", to: CODE, calls: [sends] }],
    ["by what the account calls", { ...sends, to: OTHER, value: "0x0", calls: [sends] }],
    ["with addresses in another case", { ...sends, from: ACCOUNT.toUpperCase().replace("0X", "0x") }],
  ])("counts %s", (_, made) => {
    expect(paidIn(bundles(enters(made)))).toEqual([7n]);
  });

  test.each<[string, Raw]>([
    ["is of another amount", { ...sends, value: "0x6" }],
    ["is of another payee", { ...sends, to: OTHER }],
    ["is of another account", { ...sends, from: OTHER }],
    ["calls a method", { ...sends, input: "0x12345678" }],
    ["was reverted", { ...sends, error: "execution reverted" }],
    ["was reverted with the call around it", { ...sends, to: CODE, error: "out of gas", calls: [sends] }],
    ["is only the value that a delegate sees", { ...sends, type: "DELEGATECALL" }],
    ["is a self-destruct", { ...sends, type: "SELFDESTRUCT" }],
  ])("does not count where it %s", (_, made) => {
    expect(paidIn(bundles(enters(made)))).toEqual([0n]);
  });

  test("does not count outside of the operation", () => {
    expect(paidIn(bundles(sends, enters(), sends))).toEqual([0n]);
  });

  test("is distinguished by the turn of the operation, and counts once", () => {
    const both = [operation(0, 2), operation(1, 2)];
    expect(paidIn(bundles(enters(), enters(sends)), both)).toEqual([0n, 7n]);
    expect(paidIn(bundles(enters(sends)), [operation(), operation()])).toEqual([7n, 0n]);
  });

  test("is unknown where not every such operation was run, or the whole was reverted", () => {
    expect(paidIn(bundles(enters(sends)), [operation(1, 2)])).toEqual([null]);
    expect(paidIn({ ...bundles(enters(sends)), error: "out of gas" })).toEqual([null]);
  });

  test("is found where the entry point hands the whole operation to the account", () => {
    const { entry, ...asked } = operation();
    if (entry === null) throw new Error("an operation has an entry");
    const handed = { ...asked, entry: { ...entry, input: "0xab", isWhole: false } } as const;
    expect(paidIn(bundles(enters(sends)), [handed])).toEqual([7n]);
  });
});

test("a payment of an account that the transaction calls is found from its start", () => {
  const direct = { account: ACCOUNT, call, entry: null };
  expect(paidIn({ ...enters(sends, sends), from: OTHER }, [direct, direct, direct])).toEqual([7n, 7n, 0n]);
  expect(paidIn(bundles(enters(sends)), [direct])).toEqual([null]);
});

describe("a hostile trace", () => {
  const nested = (depth: number): Raw =>
    depth === 0 ? sends : { ...sends, to: CODE, calls: [nested(depth - 1)] };

  test.each<[string, unknown]>([
    ["is null", null],
    ["is a list", []],
    ["has a member of another kind", bundles({ ...sends, value: "7" })],
    ["has calls that are none", { ...sends, calls: [7] }],
    ["is deeper than calls can be", nested(1_500)],
    ["has more calls than are read", { ...sends, calls: Array.from({ length: 60_000 }, () => sends) }],
  ])("is not read where it %s", (_, trace) => {
    expect(readFrames(trace)).toBe(null);
  });

  test("is read in little time however many executions ask for it", () => {
    const frames = readFrames(bundles(enters(...Array.from({ length: 40_000 }, () => sends))));
    const operations = Array.from({ length: 64 }, () => operation());
    expect(cpuMsOf(() => findPayments(frames ?? [], operations))).toBeLessThan(1_500);
    expect(findPayments(frames ?? [], operations)).toEqual(operations.map(() => 7n));
  });
});

test("no more is found than the trace sends", () => {
  const frameOf = (depth: number): fc.Arbitrary<Raw> =>
    fc.record({
      type: fc.constantFrom("CALL", "CALL", "DELEGATECALL"),
      from: fc.constantFrom(ACCOUNT, ENTRY_POINT),
      to: fc.constantFrom(ACCOUNT, PAYEE),
      value: fc.constantFrom("0x7", "0x0"),
      input: fc.constantFrom("0x", "0xabcd"),
      error: fc.constantFrom("", "", "reverted"),
      calls: depth === 0 ? fc.constant([]) : fc.array(frameOf(depth - 1), { maxLength: 3 }),
    });
  fc.assert(
    fc.property(frameOf(4), fc.integer({ min: 1, max: 4 }), (frame, turns) => {
      const asked = Array.from({ length: turns }, (_, turn) => operation(turn, turns));
      const frames = readFrames(bundles(frame)) ?? [];
      const sent = frames.filter(
        (one) => one.isCall && one.isEffective && one.from === ACCOUNT && one.value === 7n,
      );
      const found = findPayments(frames, asked).filter((value) => value === 7n);
      expect(found.length).toBeLessThanOrEqual(sent.length);
    }),
  );
});
