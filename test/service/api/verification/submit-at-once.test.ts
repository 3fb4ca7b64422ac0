import { afterEach, describe, expect, it } from "vitest";
import { useDatabase } from "../../../support/test-database.ts";
import { clearIntake, type IntakeWorld, intakeWorld, ledgerOf, type Submitted } from "./intake-world.ts";

const AT_ONCE = 20;
const db = useDatabase();
afterEach(() => clearIntake(db));

/** Submits one output several times at once, each with headers of its own, and returns the answers. */
async function submitAtOnce(world: IntakeWorld, output: object, headers: readonly Record<string, string>[]) {
  const responses = await Promise.all(headers.map((own) => world.submit(output, own)));
  const bodies = await Promise.all(responses.map(async (response) => (await response.json()) as Submitted));
  return {
    statuses: new Set(responses.map(({ status }) => status)),
    ids: new Set(bodies.map(({ verdict_id }) => verdict_id)),
  };
}

const many = <Made>(make: (index: number) => Promise<Made>) =>
  Promise.all(Array.from({ length: AT_ONCE }, (_, index) => make(index)));

describe("twenty submissions of one output at once", () => {
  it("by twenty payers make one verdict and one payment, and release the others", async () => {
    const world = intakeWorld(db);
    const output = await world.output();
    const payers = await many(() => world.payment(output));
    const { statuses, ids } = await submitAtOnce(
      world,
      output,
      payers.map(({ headers }) => headers),
    );
    expect([[...statuses], ids.size, world.desk.settled.length]).toEqual([[200], 1, 1]);
    const { rows } = await db.$client.query(
      "select state, count(*)::int as count from ahs.payment group by state order by state",
    );
    expect(rows).toEqual([
      { state: "answered", count: 1 },
      { state: "released", count: 19 },
    ]);
    expect(await ledgerOf(db)).toMatchObject({ accepted: 1, unsettled: 0, texts: 1 });
  });

  it("by twenty keys, and by one key, cost once", async () => {
    const world = intakeWorld(db);
    const output = await world.output();
    const keys = await many(() => world.key());
    const { statuses, ids } = await submitAtOnce(
      world,
      output,
      keys.map(({ headers }) => headers),
    );
    expect([[...statuses], ids.size]).toEqual([[200], 1]);
    const single = await world.key(20_000);
    const second = await world.output();
    const again = await submitAtOnce(world, second, await many(async () => single.headers));
    expect([[...again.statuses], again.ids.size]).toEqual([[200], 1]);
    expect(await ledgerOf(db)).toMatchObject({ captured: 2, held: 0, accepted: 2, texts: 2 });
  });

  it("by a key that can pay for one are answered alike, uncharged but for that one", async () => {
    const world = intakeWorld(db);
    const output = await world.output();
    const { headers } = await world.key(500);
    const { statuses, ids } = await submitAtOnce(world, output, await many(async () => headers));
    expect([[...statuses], ids.size]).toEqual([[200], 1]);
    expect(await ledgerOf(db)).toMatchObject({ captured: 1, held: 0, accepted: 1, texts: 1 });
    const other = await world.submit(await world.output(), headers);
    expect(other.status).toBe(402);
  });

  it("by payers, keys and unlimited keys cost once at most", async () => {
    const world = intakeWorld(db);
    const output = await world.output();
    const callers = await many(async (index) => {
      if (index % 3 === 0) return world.payment(output);
      return world.key(index % 3 === 1 ? 5_000 : null);
    });
    const { statuses, ids } = await submitAtOnce(
      world,
      output,
      callers.map(({ headers }) => headers),
    );
    expect([[...statuses], ids.size]).toEqual([[200], 1]);
    const { captured, settled, accepted, held, reserved } = await ledgerOf(db);
    expect([captured + settled <= 1, accepted, held, reserved]).toEqual([true, 1, 0, 0]);
  });
});

describe("a submission that meets another one being paid", () => {
  it("is asked to come back, uncharged, and makes its own once that one falls through", async () => {
    const world = intakeWorld(db, { waitMs: 300 });
    const output = await world.output();
    const { promise, resolve } = Promise.withResolvers<void>();
    const slow = intakeWorld(db, {
      settleDeadlineMs: 10_000,
      facilitator: () => ({
        settle: async () => {
          await promise;
          return { kind: "refused", reason: "insufficient_funds" };
        },
      }),
    });
    const first = slow.submit(output, (await slow.payment(output)).headers);
    await expect.poll(async () => (await ledgerOf(db)).unsettled).toBe(1);
    const { headers } = await world.key();
    const busy = await world.submit(output, headers);
    expect([busy.status, busy.headers.get("retry-after")]).toEqual([409, "5"]);
    const short = await world.key(100);
    expect((await world.submit(output, short.headers)).status).toBe(409);
    expect(await ledgerOf(db)).toMatchObject({ captured: 0, held: 0 });
    resolve();
    await first;
    expect((await world.submit(output, short.headers)).status).toBe(402);
    expect((await world.submit(output, headers)).status).toBe(200);
    expect((await world.submit(output, short.headers)).status).toBe(200);
    expect(await ledgerOf(db)).toMatchObject({ captured: 1, settled: 0, accepted: 1, unsettled: 0 });
  });

  it("takes the place of one whose money did not move while it waited", async () => {
    const world = intakeWorld(db);
    const output = await world.output();
    const { promise, resolve } = Promise.withResolvers<void>();
    const failing = intakeWorld(db, {
      settleDeadlineMs: 10_000,
      facilitator: () => ({
        settle: async () => {
          await promise;
          return { kind: "refused", reason: "insufficient_funds" };
        },
      }),
    });
    const lost = failing.submit(output, (await failing.payment(output)).headers);
    await expect.poll(async () => (await ledgerOf(db)).unsettled).toBe(1);
    const waiting = world.submit(output, (await world.payment(output)).headers);
    await expect.poll(async () => (await ledgerOf(db)).reserved).toBe(2);
    resolve();
    expect([(await lost).status, (await waiting).status]).toEqual([402, 200]);
    expect(await ledgerOf(db)).toMatchObject({ settled: 1, accepted: 1, unsettled: 0, texts: 1 });
  });

  it("waits no longer than its caller does", async () => {
    const world = intakeWorld(db);
    const output = await world.output();
    const never = intakeWorld(db, {
      settleDeadlineMs: 10_000,
      facilitator: () => ({ settle: () => new Promise(() => undefined) }),
    });
    void never.submit(output, (await never.payment(output)).headers);
    await expect.poll(async () => (await ledgerOf(db)).unsettled).toBe(1);
    const waiting = world.submit(output, (await world.key()).headers);
    await expect.poll(async () => (await ledgerOf(db)).held).toBe(1);
    world.stopping.abort();
    expect((await waiting).status).toBe(409);
    expect(await ledgerOf(db)).toMatchObject({ held: 0, captured: 0 });
  });
});
