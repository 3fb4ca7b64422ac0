import { expect, test } from "vitest";
import {
  leaseVerdicts,
  putOffFree,
  readVerdictQueue,
} from "../../../../service/verification/verdicts/verdict-queue.sql.ts";
import { LEASE_MS, useVerdictWorld } from "./verdict-world.ts";

const world = useVerdictWorld();

const later = (ms: number) => new Date(world.now().getTime() + ms);

async function lease(limit = 10): Promise<string[]> {
  const of = { now: world.now(), leaseUntil: later(LEASE_MS), limit };
  return (await leaseVerdicts(world.db, of)).map(({ verdictId }) => verdictId);
}

test("leases due verdicts alone, the longest due first", async () => {
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

const ofJob = (jobId: bigint, changes: Parameters<typeof world.add>[0] = {}) =>
  world.add({ jobChainId: 1, jobEscrow: `0x${"e5".repeat(20)}`, jobId, ...changes });

test("a re-run is put off untried, while a worker runs no other one of it, and a paid run never", async () => {
  const tried = { triedAt: later(-1_000), cause: "evidence" } as const;
  const due = await world.add({ ...tried, attempts: 3 });
  const dead = await world.add({ ...tried, status: "processing", leaseUntil: later(-1) });
  const running = await world.add({ ...tried, status: "processing", leaseUntil: later(1) });
  const paid = await world.add();
  const until = later(60_000);
  expect(await putOffFree(world.db, { now: world.now(), until })).toBe(2);
  for (const id of [due, dead])
    expect(await world.row(id)).toMatchObject({ status: "pending", not_before: until, tried_at: null });
  expect(await world.row(due)).toMatchObject({ attempts: 3 });
  expect(await world.row(running)).toMatchObject({ status: "processing" });
  expect(await lease()).toEqual([paid]);
});

test("re-runs come after paid runs, and wait where only these are asked for", async () => {
  const rerun = await world.add({ cause: "near_expiry", notBefore: later(-9_000) });
  const paid = await world.add();
  const of = { now: world.now(), leaseUntil: later(LEASE_MS), limit: 10 };
  const leased = await leaseVerdicts(world.db, { ...of, withFree: false });
  expect(leased.map(({ verdictId }) => verdictId)).toEqual([paid]);
  const next = await world.add();
  expect([await lease(1), await lease(1)]).toEqual([[next], [rerun]]);
});

test("a stranger's hundred outputs come after the first of each other owner", async () => {
  const flood = await Promise.all(
    Array.from({ length: 100 }, () => world.add({ owner: "key:stranger", notBefore: later(-9_000) })),
  );
  const own = [await world.add({ owner: "key:one" }), await world.add({ owner: "wallet:0x02" })];
  const first = await lease(3);
  expect(first.slice(1).toSorted()).toEqual(own.toSorted());
  expect(flood).toContain(first[0]);
});

test("jobs without money, however many, come after the job with the most at stake for the time that is left", async () => {
  const hour = 3_600_000;
  const free = { stakeMicroUsd: 0n, expiresAt: later(hour), notBefore: later(-9_000) };
  for (let jobId = 100n; jobId < 110n; jobId += 1n) await ofJob(jobId, free);
  const unknown = await ofJob(1n, { expiresAt: later(hour), notBefore: later(-9_000) });
  const small = await ofJob(2n, { stakeMicroUsd: 5_000_000n, expiresAt: later(hour) });
  const large = await ofJob(3n, { stakeMicroUsd: 50_000_000n, expiresAt: later(24 * hour) });
  const urgent = await ofJob(4n, { stakeMicroUsd: 50_000_000n, expiresAt: later(hour) });
  expect(await Promise.all([lease(1), lease(1), lease(1)])).toHaveLength(3);
  const taken = await world.query<{ id: string }>("select id from ahs.verdict where status = 'processing'");
  expect(taken.map(({ id }) => id).toSorted()).toEqual([small, large, urgent].toSorted());
  expect(await lease(10)).toHaveLength(10);
  expect(await lease(1)).toEqual([unknown]);
});

test("jobs and other outputs take turns", async () => {
  const others = [await world.add(), await world.add(), await world.add()];
  const jobs = [await ofJob(1n), await ofJob(2n), await ofJob(3n)];
  const first = await lease(2);
  expect([first.filter((id) => jobs.includes(id)), first.filter((id) => others.includes(id))]).toEqual([
    [expect.anything()],
    [expect.anything()],
  ]);
});

test("the queue reports how many verdicts wait, since when, and how many are under way", async () => {
  expect(await readVerdictQueue(world.db, world.now())).toEqual({ depth: 0, ageSeconds: 0, processing: 0 });
  await world.add({ notBefore: later(-30_000) });
  await world.add({ notBefore: later(60_000) });
  await world.add({ status: "processing", leaseUntil: later(1), notBefore: later(-90_000) });
  expect(await readVerdictQueue(world.db, world.now())).toEqual({ depth: 2, ageSeconds: 30, processing: 1 });
});
