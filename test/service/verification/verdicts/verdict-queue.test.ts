import { afterEach, beforeEach, expect, test } from "vitest";
import {
  claimVerdicts,
  putOffDue,
  readVerdictQueue,
} from "../../../../service/verification/verdicts/verdict-queue.ts";
import { createVerdictWorld, LEASE_MS, type VerdictWorld } from "./verdict-world.ts";

let world: VerdictWorld;
beforeEach(async () => {
  world = await createVerdictWorld();
});
afterEach(() => world.close());

const later = (ms: number) => new Date(world.now().getTime() + ms);

async function claim(limit = 10): Promise<string[]> {
  const of = { now: world.now(), leaseUntil: later(LEASE_MS), limit };
  return (await claimVerdicts(world.db, of)).map(({ verdictId }) => verdictId);
}

test("what is due is claimed, the longest due first, and only what is due", async () => {
  const second = await world.add({ notBefore: later(-1_000) });
  const first = await world.add({ notBefore: later(-2_000) });
  await world.add({ notBefore: later(1) });
  for (const status of ["unsettled", "completed", "failed"] as const) await world.add({ status });
  await world.add({ status: "processing", leaseUntil: later(1) });
  expect(await claim(1)).toEqual([first]);
  expect(await claim()).toEqual([second]);
  expect(await claim()).toEqual([]);
});

test("a lease that ran out is claimed by one other, and counts from the first try", async () => {
  const id = await world.add();
  const triedAt = world.now();
  await claim();
  world.pass(LEASE_MS + 1);
  const of = { now: world.now(), leaseUntil: later(LEASE_MS), limit: 10 };
  expect(await claimVerdicts(world.db, of)).toEqual([
    { verdictId: id, run: 1, cause: "submitted", retries: 0, attempts: 2, triedAt },
  ]);
  expect(await claim()).toEqual([]);
});

test("many workers that claim at once get every run once", async () => {
  const added = await Promise.all(Array.from({ length: 40 }, () => world.add()));
  const claimed = await Promise.all(Array.from({ length: 20 }, () => claim(5)));
  while (claimed.flat().length < added.length) {
    const more = await claim();
    if (more.length === 0) break;
    claimed.push(more);
  }
  expect(claimed.flat().toSorted()).toEqual(added.toSorted());
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

test("verdicts of jobs alone are claimed, and all others put off, where that is asked for", async () => {
  const unbound = await world.add();
  const ofJob = await world.add({ jobChainId: 1, jobEscrow: `0x${"e5".repeat(20)}`, jobId: 7n });
  const now = world.now();
  const until = later(60_000);
  const claimed = await claimVerdicts(world.db, { now, leaseUntil: later(1), limit: 10, onlyOfJobs: true });
  expect(claimed.map(({ verdictId }) => verdictId)).toEqual([ofJob]);
  world.pass(2);
  expect(await putOffDue(world.db, { now: world.now(), until, exceptOfJobs: true })).toBe(1);
  expect(await world.row(unbound)).toMatchObject({ status: "pending", not_before: until });
  expect(await claim()).toEqual([ofJob]);
});

test("the queue tells how much waits, since when, and what is under way", async () => {
  expect(await readVerdictQueue(world.db, world.now())).toEqual({ depth: 0, ageSeconds: 0, processing: 0 });
  await world.add({ notBefore: later(-30_000) });
  await world.add({ notBefore: later(60_000) });
  await world.add({ status: "processing", leaseUntil: later(1), notBefore: later(-90_000) });
  expect(await readVerdictQueue(world.db, world.now())).toEqual({ depth: 2, ageSeconds: 30, processing: 1 });
});
