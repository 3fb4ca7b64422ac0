import { expect, test } from "vitest";
import {
  leaseVerdicts,
  putOffDue,
  readVerdictQueue,
} from "../../../../service/verification/verdicts/verdict-queue.ts";
import { LEASE_MS, useVerdictWorld } from "./verdict-world.ts";

const world = useVerdictWorld();

const later = (ms: number) => new Date(world.now().getTime() + ms);

async function lease(limit = 10): Promise<string[]> {
  const of = { now: world.now(), leaseUntil: later(LEASE_MS), limit };
  return (await leaseVerdicts(world.db, of)).map(({ verdictId }) => verdictId);
}

test("what is due is leased, the longest due first, and only what is due", async () => {
  const second = await world.add({ notBefore: later(-1_000) });
  const first = await world.add({ notBefore: later(-2_000) });
  await world.add({ notBefore: later(1) });
  for (const status of ["unsettled", "completed", "failed"] as const) await world.add({ status });
  await world.add({ status: "processing", leaseUntil: later(1) });
  expect(await lease(1)).toEqual([first]);
  expect(await lease()).toEqual([second]);
  expect(await lease()).toEqual([]);
});

test("a lease that ran out is taken by one other, and counts from the first try", async () => {
  const id = await world.add();
  const triedAt = world.now();
  await lease();
  world.pass(LEASE_MS + 1);
  const of = { now: world.now(), leaseUntil: later(LEASE_MS), limit: 10 };
  expect(await leaseVerdicts(world.db, of)).toEqual([
    { verdictId: id, run: 1, cause: "submitted", retries: 0, attempts: 2, triedAt },
  ]);
  expect(await lease()).toEqual([]);
});

test("many workers that lease at once get every run once", async () => {
  const added = await Promise.all(Array.from({ length: 40 }, () => world.add()));
  const leased = await Promise.all(Array.from({ length: 20 }, () => lease(5)));
  while (leased.flat().length < added.length) {
    const more = await lease();
    if (more.length === 0) break;
    leased.push(more);
  }
  expect(leased.flat().toSorted()).toEqual(added.toSorted());
});

test("what is put off waits untried, and what a living worker runs goes on", async () => {
  const due = await world.add({ triedAt: later(-1_000), attempts: 3 });
  const dead = await world.add({ status: "processing", leaseUntil: later(-1), triedAt: later(-1_000) });
  const running = await world.add({ status: "processing", leaseUntil: later(1), triedAt: later(-1_000) });
  const until = later(60_000);
  expect(await putOffDue(world.db, { now: world.now(), until, exceptOfJobs: false })).toBe(2);
  for (const id of [due, dead])
    expect(await world.row(id)).toMatchObject({ status: "pending", not_before: until, tried_at: null });
  expect(await world.row(due)).toMatchObject({ attempts: 3 });
  expect(await world.row(running)).toMatchObject({ status: "processing" });
});

test("verdicts of jobs alone are leased, and all others put off, where that is asked for", async () => {
  const unbound = await world.add();
  const ofJob = await world.add({ jobChainId: 1, jobEscrow: `0x${"e5".repeat(20)}`, jobId: 7n });
  const now = world.now();
  const until = later(60_000);
  const leased = await leaseVerdicts(world.db, { now, leaseUntil: later(1), limit: 10, onlyOfJobs: true });
  expect(leased.map(({ verdictId }) => verdictId)).toEqual([ofJob]);
  world.pass(2);
  expect(await putOffDue(world.db, { now: world.now(), until, exceptOfJobs: true })).toBe(1);
  expect(await world.row(unbound)).toMatchObject({ status: "pending", not_before: until });
  expect(await lease()).toEqual([ofJob]);
});

test("the queue tells how much waits, since when, and what is under way", async () => {
  expect(await readVerdictQueue(world.db, world.now())).toEqual({ depth: 0, ageSeconds: 0, processing: 0 });
  await world.add({ notBefore: later(-30_000) });
  await world.add({ notBefore: later(60_000) });
  await world.add({ status: "processing", leaseUntil: later(1), notBefore: later(-90_000) });
  expect(await readVerdictQueue(world.db, world.now())).toEqual({ depth: 2, ageSeconds: 30, processing: 1 });
});
