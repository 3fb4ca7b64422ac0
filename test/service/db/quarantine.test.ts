import { expect, test } from "vitest";
import {
  quarantineItems,
  readQuarantine,
  readQuarantined,
  readQuarantineFacts,
  releaseItems,
  retryItems,
} from "../../../service/db/quarantine.ts";
import { useDatabase } from "../../support/test-database.ts";

const SCOPE = { chainId: 1, kind: "score" } as const;
const now = new Date("2026-11-22T12:00:00Z");
const db = useDatabase();

const errorOf = async (subject: string) =>
  (await readQuarantined(db, 1, 100)).find((item) => item.subject === subject)?.error;

test.each<[string, unknown, string]>([
  ["a quoted value", new Error('expected 19 fields, got "secret row"'), 'Error: expected 19 fields, got "…"'],
  ["a quoted value with quotes", new Error('got "not "a" value" instead'), 'Error: got "…"'],
  ["what BigInt cannot read", new SyntaxError("Cannot convert secret to a BigInt"), "SyntaxError"],
  ["a quote without end", new Error('got "secret'), 'Error: got "…"'],
  [
    "a statement with its parameters",
    new Error("Failed query: insert\nparams: secret", {
      cause: Object.assign(new RangeError("invalid input"), { code: "22P02" }),
    }),
    "RangeError 22P02: invalid input",
  ],
  ["a long text", new Error("x".repeat(1_000)), `Error: ${"x".repeat(293)}`],
  ["no error", "secret", "a value that is no error was thrown"],
])("stores the error of %s without values of rows", async (subject, error, stored) => {
  await quarantineItems(db, SCOPE, { faults: [{ subject, error }], now });
  expect(await errorOf(subject)).toBe(stored);
  await releaseItems(db, SCOPE, [subject]);
});

test("stores at most 10,000 items of a kind, and goes on counting the failures of those", async () => {
  const faults = Array.from({ length: 10_010 }, (_, at) => ({
    subject: `item ${at}`,
    error: new Error("bad"),
  }));
  expect(await quarantineItems(db, SCOPE, { faults, now })).toBe(10_000);
  expect(await quarantineItems(db, SCOPE, { faults: faults.slice(9_995), now })).toBe(5);
  const [facts] = await readQuarantineFacts(db.$client, 1);
  expect(facts).toMatchObject({ kind: "score", count: 10_000, oldest: { subject: "item 0", failures: 1 } });
  const held = await readQuarantine(db, SCOPE);
  expect(held.get("item 9994")).toEqual(new Date("2026-11-22T12:01:00Z"));
  expect(held.get("item 9995")).toEqual(new Date("2026-11-22T12:02:00Z"));
});

test("an operator has the items of one kind, or of one chain, tried at once", async () => {
  const faults = [{ subject: "a", error: new Error("bad") }];
  await quarantineItems(db, { chainId: 2, kind: "score" }, { faults, now });
  await quarantineItems(db, { chainId: 2, kind: "root" }, { faults, now });
  expect(await retryItems(db, { chainId: 2, kind: "root", now })).toBe(1);
  expect(await retryItems(db, { chainId: 2, kind: null, now })).toBe(2);
  expect((await readQuarantine(db, { chainId: 2, kind: "score" })).get("a")).toEqual(now);
});
