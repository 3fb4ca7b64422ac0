import { expect, test } from "vitest";
import { nextNightAt, nextTryAt, nextVisit } from "../../../../service/registries/probes/run-scan.ts";

const NOON = new Date("2026-11-20T12:00:00Z");
const least = () => 0;
const middle = () => 0.5;
const most = () => 0.999_999;

const before = (hours: number) => new Date(NOON.getTime() - 3_600_000 * hours);
const alive = { at: NOON, isAlive: true, failingSince: null };

test("a probe follows after a quarter of an hour, a tenth more or less", () => {
  expect(nextVisit(alive, middle)).toEqual({
    nextAt: new Date("2026-11-20T12:15:00Z"),
    failingSince: null,
    quarters: 1,
  });
  expect(nextVisit(alive, least).nextAt).toEqual(new Date("2026-11-20T12:13:30Z"));
  expect(nextVisit(alive, most).nextAt.getTime()).toBeLessThanOrEqual(Date.parse("2026-11-20T12:16:30Z"));
});

test.each([
  ["has just begun", null, NOON, 1],
  ["lasts for less than a day", before(23.9), before(23.9), 1],
  ["lasts for a day", before(24), before(24), 4],
  ["lasts for weeks", before(500), before(500), 4],
])("a failure that %s is followed after its quarter hours", (_name, failingSince, since, quarters) => {
  expect(nextVisit({ at: NOON, isAlive: false, failingSince }, middle)).toEqual({
    nextAt: new Date(NOON.getTime() + quarters * 900_000),
    failingSince: since,
    quarters,
  });
});

test("one answer makes a dead endpoint alive, and even a dead one is visited twenty times a day", () => {
  expect(nextVisit({ ...alive, failingSince: before(500) }, middle)).toEqual(nextVisit(alive, middle));
  const dead = nextVisit({ at: NOON, isAlive: false, failingSince: before(24) }, most);
  expect(86_400_000 / (dead.nextAt.getTime() - NOON.getTime())).toBeGreaterThan(20);
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
