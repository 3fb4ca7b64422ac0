import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parseConfig } from "../../../bin/config.ts";
import { type LocalFiles, localFiles, receiptKeys, textKeys } from "../../../devnet/demo/local-files.ts";

let files: LocalFiles;
beforeEach(() => {
  files = localFiles(mkdtempSync(join(tmpdir(), "ahs-receipt-key-")));
});
afterEach(() => rmSync(files.dataDir, { recursive: true }));

test("a seed is made once, stored where its owner alone reads it, and fits the environment", () => {
  const first = receiptKeys(parseConfig({}), files);
  expect(receiptKeys(parseConfig({}), files)).toEqual(first);
  expect(statSync(files.receiptKeyFile).mode & 0o777).toBe(0o600);
  expect(parseConfig(first).receiptKeys).toEqual({ current: first.RECEIPT_PRIVATE_KEY, previous: [] });
});

test("keys that are configured take its place", () => {
  const given = {
    RECEIPT_PRIVATE_KEY: `0x${"1".repeat(64)}`,
    RECEIPT_PREVIOUS_KEYS: `0x${"2".repeat(64)},0x${"3".repeat(64)}`,
  };
  expect(receiptKeys(parseConfig(given), files)).toEqual(given);
});

test("the local service encrypts texts with a key of its data directory, or with the one configured", () => {
  const first = textKeys(parseConfig({}), files);
  expect(textKeys(parseConfig({}), files)).toEqual(first);
  expect(statSync(files.textKeyFile).mode & 0o777).toBe(0o600);
  expect(parseConfig(first).textKeys).toEqual({
    current: Buffer.from(String(first.TEXT_ENCRYPTION_KEY).slice(2), "hex"),
    old: [],
  });
  const given = {
    TEXT_ENCRYPTION_KEY: `0x${"3".repeat(64)}`,
    TEXT_ENCRYPTION_OLD_KEYS: `0x${"4".repeat(64)},0x${"5".repeat(64)}`,
  };
  expect(textKeys(parseConfig(given), files)).toEqual(given);
});
