import { expect, test } from "vitest";
import { nightOf, nightStart } from "../../../../service/registries/nightly/scan-runs.ts";

test.each([
  ["2026-11-20T02:09:59Z", "2026-11-19"],
  ["2026-11-20T02:10:00Z", "2026-11-20"],
  ["2026-11-20T23:59:59Z", "2026-11-20"],
  ["2027-01-01T00:00:00Z", "2026-12-31"],
])("at %s the newest night that is due is %s", (now, night) => {
  expect(nightOf(new Date(now))).toBe(night);
});

test("a night lasts until the next one is due", () => {
  const starts = ["2026-12-31", "2027-01-01"].map(nightStart);
  expect(starts.map((start) => start.toISOString())).toEqual([
    "2026-12-31T02:10:00.000Z",
    "2027-01-01T02:10:00.000Z",
  ]);
  expect(starts.map(nightOf)).toEqual(["2026-12-31", "2027-01-01"]);
});
