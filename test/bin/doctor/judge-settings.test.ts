import { describe, expect, test } from "vitest";
import { judgeSettings, type ServiceSettings } from "../../../bin/doctor/judge-settings.ts";

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
