import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parseConfig } from "../../../bin/config.ts";
import { type LocalFiles, localFiles, receiptKeys } from "../../../bin/up/local-files.ts";

let files: LocalFiles;
beforeEach(() => {
  files = localFiles(mkdtempSync(join(tmpdir(), "ahs-receipt-key-")));
});
afterEach(() => rmSync(files.dataDir, { recursive: true }));

test("a seed is made once, kept where its owner alone reads it, and fits the environment", () => {
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
