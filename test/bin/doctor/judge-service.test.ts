import { describe, expect, test } from "vitest";
import {
  judgeDisk,
  judgeIndex,
  judgeSanctions,
  judgeSettings,
  judgeUse,
  type ServiceSettings,
} from "../../../bin/doctor/judge-service.ts";
import type { SourceStatus } from "../../../service/sanctions/sources.ts";

test.each([
  [null, "fail"],
  [119, "ok"],
  [121, "fail"],
  [-121, "fail"],
])("an index whose newest block is %s s old is %s", (age, level) => {
  const now = new Date("2026-11-20T10:00:00Z");
  const head = age === null ? null : { blockNumber: 9, timestamp: now.getTime() / 1_000 - age };
  expect(judgeIndex(head, { now, maxAgeSeconds: 120 })).toMatchObject({ level });
});

describe("sanctions", () => {
  const list: SourceStatus = {
    ...{ source: "ofac-sdn", checkedAt: new Date(0), edition: "2026-11-20", entries: 9 },
    ...{ listHash: "0x01", unchecked: null },
  };
  const contract: SourceStatus = { ...list, source: "chainalysis-oracle", edition: "block 7", unchecked: 0 };

  test.each<[string, SourceStatus, number | null, boolean, string]>([
    ["a list of today", list, 3_600, false, "ok"],
    ["a list of three days ago", list, 3 * 86_400, false, "warn"],
    ["a list of three weeks ago", list, 21 * 86_400, false, "fail"],
    ["no list beside a contract", list, null, false, "warn"],
    ["no list, and no contract either", list, null, true, "fail"],
    ["a contract that was asked about all", contract, 2, false, "ok"],
    ["a contract that was not", { ...contract, unchecked: 4 }, 2, false, "warn"],
    ["a contract before the first block", contract, null, false, "warn"],
  ])("%s", (_what, source, age, isOnly, level) => {
    expect(judgeSanctions(source, age, isOnly)).toMatchObject({ level });
  });
});

test.each([
  [6e9, "ok"],
  [4e9, "warn"],
  [0.9e9, "fail"],
])("%d bytes free are %s", (freeBytes, level) => {
  expect(judgeDisk("/data", { freeBytes, totalBytes: 5e10 })).toMatchObject({
    level,
    detail: expect.stringMatching(/^\/data: .* of 50\.0 GB free$/),
  });
});

test.each([
  [160, "ok"],
  [161, "warn"],
])("%d of 200 connections are %s", (connections, level) => {
  expect(judgeUse({ bytes: 1e9, connections, maxConnections: 200 })).toMatchObject({ level });
});

describe("settings", () => {
  const whole: ServiceSettings = {
    ...{ isLocal: false, publicUrl: "https://a.example", payTo: "0x1", hasPanel: true, hasPublisher: true },
    ...{ hasReceiptKey: true, hasTextKey: true, historySource: "explorer", allowRawKeys: false },
  };

  test.each<[Partial<ServiceSettings>, string]>([
    [{ payTo: null }, "X402_PAY_TO is not set"],
    [{ hasPanel: false }, "no model is configured"],
    [{ hasPublisher: false }, "no publisher's key here"],
    [{ hasReceiptKey: false }, "RECEIPT_PRIVATE_KEY is not set"],
    [{ hasTextKey: false }, "TEXT_ENCRYPTION_KEY is not set"],
    [{ historySource: "none" }, "no source of history"],
    [{ allowRawKeys: true }, "ALLOW_RAW_KEYS is set"],
  ])("%o is worth a warning, on a public chain alone", (change, detail) => {
    expect(judgeSettings({ ...whole, ...change })).toMatchObject([{ level: "warn", detail }]);
    expect(judgeSettings({ ...whole, ...change, isLocal: true })).toMatchObject([{ level: "ok" }]);
  });

  test("no PUBLIC_URL is a fault of a publisher of roots, which would name it for ever", () => {
    const unset = { ...whole, publicUrl: null };
    expect(judgeSettings(unset)).toMatchObject([{ level: "fail", detail: "PUBLIC_URL is not set" }]);
    expect(judgeSettings({ ...unset, hasPublisher: false })).toMatchObject([
      { level: "warn" },
      { level: "warn" },
    ]);
    expect(judgeSettings({ ...unset, isLocal: true })).toMatchObject([{ level: "ok" }]);
  });

  test("nothing left out is nothing to say", () => {
    expect(judgeSettings(whole)).toMatchObject([{ level: "ok" }]);
  });
});
