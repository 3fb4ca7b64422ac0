import { describe, expect, it } from "vitest";
import type { Database } from "../../../service/db/database.ts";
import { clockFault, openDatabaseClock } from "../../../service/db/database-clock.ts";

const HOUR_MS = 3_600_000;
const START = Date.parse("2026-11-20T10:00:00Z");

/** A machine and a database, whose clocks go on by the same steps. */
function world(aheadMs: number) {
  let passed = 0;
  const at = { start: START, toMs: 1, backMs: 1, isDown: false, closed: 0 };
  const query = async () => {
    if (at.isDown) throw new Error("the connection is gone");
    passed += at.toMs;
    const ms = at.start + passed;
    passed += at.backMs;
    return { rows: [{ ms }] };
  };
  const release = (broken: boolean) => {
    if (broken) at.closed += 1;
  };
  const db = { $client: { connect: async () => ({ query, release }) } } as unknown as Database;
  let setMs = 0;
  const machine = { monotonicMs: () => 77_000 + passed, dateMs: () => START + passed + aheadMs + setMs };
  return {
    at,
    open: () => openDatabaseClock(db, machine),
    wait: (ms: number) => {
      passed += ms;
    },
    setDate: (ms: number) => {
      setMs += ms;
    },
    /** Milliseconds by which a clock is ahead of the database's. */
    error: (clock: { now(): Date }) => clock.now().getTime() - at.start - passed,
  };
}

describe("the clock of a process", () => {
  it.each([
    ["right", 0],
    ["an hour ahead", HOUR_MS],
    ["an hour behind", -HOUR_MS],
  ])("is the database's on a machine that is %s", async (_name, aheadMs) => {
    const one = world(aheadMs);
    const clock = await one.open();
    expect(Math.abs(one.error(clock))).toBeLessThanOrEqual(1);
    expect(clock.aheadSeconds()).toBeCloseTo(aheadMs / 1_000, 2);
    one.wait(10 * HOUR_MS);
    expect(Math.abs(one.error(clock))).toBeLessThanOrEqual(1);
  });

  it("stays right while the machine's date is set", async () => {
    const one = world(0);
    const clock = await one.open();
    one.setDate(-HOUR_MS);
    expect(Math.abs(one.error(clock))).toBeLessThanOrEqual(1);
    expect(clock.aheadSeconds()).toBeCloseTo(-3_600, 2);
  });

  it("errs by at most half a round trip, and keeps a better measurement", async () => {
    const one = world(0);
    Object.assign(one.at, { toMs: 900, backMs: 100 });
    const clock = await one.open();
    expect(one.error(clock)).toBe(400);
    Object.assign(one.at, { toMs: 1, backMs: 1 });
    await clock.renew();
    expect(Math.abs(one.error(clock))).toBeLessThanOrEqual(1);
    Object.assign(one.at, { toMs: 5_000, backMs: 0 });
    await clock.renew();
    // A better one of five seconds ago counts, widened by what clocks may drift apart.
    expect(Math.abs(one.error(clock))).toBeLessThanOrEqual(4);
  });

  it("follows a database whose clock is set, and a machine that was suspended", async () => {
    const one = world(0);
    const clock = await one.open();
    one.at.start += HOUR_MS;
    await clock.renew();
    expect(Math.abs(one.error(clock))).toBeLessThanOrEqual(1);
    one.at.start -= 2 * HOUR_MS;
    await clock.renew();
    expect(Math.abs(one.error(clock))).toBeLessThanOrEqual(1);
  });

  it("is unknown while the database does not answer, and closes the connection that failed", async () => {
    const one = world(0);
    one.at.isDown = true;
    await expect(one.open()).rejects.toThrow("the connection is gone");
    expect(one.at.closed).toBe(1);
  });
});

it.each([
  [5, null],
  [-5, null],
  [3_600, "this machine's clock is 3600 s ahead of the database's, at most 5 s are allowed"],
  [-6, "this machine's clock is 6 s behind the database's, at most 5 s are allowed"],
])("a machine %d s ahead: %s", (aheadSeconds, words) => {
  expect(clockFault(aheadSeconds)).toBe(words);
});
