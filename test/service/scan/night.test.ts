import { expect, test } from "vitest";
import { nightOf } from "../../../service/scan/night.ts";

test.each([
  ["2026-11-20T02:09:59Z", "2026-11-19"],
  ["2026-11-20T02:10:00Z", "2026-11-20"],
  ["2026-11-20T23:59:59Z", "2026-11-20"],
  ["2027-01-01T00:00:00Z", "2026-12-31"],
])("at %s the newest night that is due is %s", (now, night) => {
  expect(nightOf(new Date(now))).toBe(night);
});
