import { expect, test } from "vitest";
import { nextNightAt, nextProbeAt, nextTryAt } from "../../../service/scan/schedule.ts";

const NOON = new Date("2026-11-20T12:00:00Z");
const least = () => 0;
const middle = () => 0.5;
const most = () => 0.999_999;

test("a probe follows after a quarter of an hour, a tenth more or less", () => {
  expect(nextProbeAt(NOON, middle)).toEqual(new Date("2026-11-20T12:15:00Z"));
  expect(nextProbeAt(NOON, least)).toEqual(new Date("2026-11-20T12:13:30Z"));
  expect(nextProbeAt(NOON, most).getTime()).toBeLessThanOrEqual(Date.parse("2026-11-20T12:16:30Z"));
});

test("a document is read again in the next night", () => {
  expect(nextNightAt(NOON, least)).toEqual(new Date("2026-11-21T02:00:00Z"));
  expect(nextNightAt(NOON, middle)).toEqual(new Date("2026-11-21T04:00:00Z"));
  expect(nextNightAt(new Date("2026-11-20T01:59:59Z"), least)).toEqual(new Date("2026-11-20T02:00:00Z"));
  expect(nextNightAt(new Date("2026-11-20T03:00:00Z"), least)).toEqual(new Date("2026-11-21T02:00:00Z"));
});

test.each([
  [1, 60],
  [2, 120],
  [5, 960],
  [11, 61_440],
  [12, 86_400],
  [4_000, 86_400],
])("after %i failures a document is tried again in %i seconds", (failures, seconds) => {
  expect(nextTryAt(NOON, failures, middle).getTime() - NOON.getTime()).toBe(1000 * seconds);
  expect(nextTryAt(NOON, failures, most).getTime() - NOON.getTime()).toBeLessThanOrEqual(86_400_000);
});
