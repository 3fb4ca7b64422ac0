import { describe, expect, test } from "vitest";
import { judgeSanctions } from "../../../service/sanctions/checks.ts";
import type { SourceStatus } from "../../../service/sanctions/sources.ts";

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
