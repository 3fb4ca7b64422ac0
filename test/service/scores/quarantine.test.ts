import { setTimeout as sleep } from "node:timers/promises";
import type { Address } from "viem";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openDatabase } from "../../../service/db/database.ts";
import {
  createFactPatience,
  type ScoringRunContext,
  scoreAllWallets,
  scoreChangedFlags,
  scoreDueWallets,
  scoreOvertakenWallets,
} from "../../../service/scores/run-scoring.ts";
import { account } from "../model/features/histories.ts";
import { createRecordWorld, NEWEST, type RecordWorld } from "./record-world.ts";

const forever = new AbortController().signal;
const WALLETS = Array.from({ length: 600 }, (_, at) => account(0x1000 + at));
const [BAD, CONTRACT] = [account(0x1000 + 123), account(0xc0)];

let world: RecordWorld;
let now: Date;
let context: ScoringRunContext;
const scoreDue = () =>
  scoreDueWallets(
    context,
    createFactPatience(() => 0),
    forever,
  );
const scoreAll = async () => (await scoreAllWallets(context, { reach: NEWEST, signal: forever }))?.scored;

beforeEach(async () => {
  world = await createRecordWorld();
  now = new Date("2026-11-22T12:00:00Z");
  context = { ...world.context, now: () => now };
  for (const wallet of WALLETS) await world.follow(wallet, 1);
});
afterEach(() => world.close());

const minutesLater = (minutes: number) => {
  now = new Date(now.getTime() + minutes * 60_000);
};

async function poison(wallet: Address): Promise<void> {
  await world.call(wallet, 10, CONTRACT);
  await world.learn(CONTRACT);
  await spoilLines(wallet);
}

/** A line without the fields of a call: its reader throws. */
const spoilLines = (wallet: Address) =>
  world.query(`alter table ahs.own_call disable trigger user;
    update ahs.own_call set line = 'not "a" call' where wallet = '${wallet}';
    alter table ahs.own_call enable trigger user`);

const repair = (wallet: Address) => world.query(`delete from ahs.own_call where wallet = '${wallet}'`);

async function quarantined() {
  const { rows } = await world.query(
    "select kind, subject, error, failures, next_try_at as at from ahs.quarantine order by subject",
  );
  return rows;
}

const scoredWallets = async () => (await world.currentScores()).map(({ wallet }) => wallet);

test("one wallet that cannot be scored is quarantined, all others are scored in the same run, and it is released once it is repaired", async () => {
  await poison(BAD);
  expect(await scoreDue()).toBe(599);
  expect(await scoredWallets()).toEqual(WALLETS.filter((wallet) => wallet !== BAD));
  const error = 'Error: expected the 19 fields of a call, got "…"';
  expect(await quarantined()).toEqual([
    { kind: "score", subject: BAD, error, failures: 1, at: new Date("2026-11-22T12:01:00Z") },
  ]);

  await repair(BAD);
  expect(await scoreDue()).toBe(0);
  minutesLater(1);
  expect(await scoreDue()).toBe(1);
  expect(await quarantined()).toEqual([]);
  expect(await scoredWallets()).toEqual(WALLETS);
});

test("a wallet that goes on failing is tried again after twice the time, and at least every six hours", async () => {
  await poison(BAD);
  const pauses: number[] = [];
  for (let failures = 1; failures <= 11; failures += 1) {
    await scoreDue();
    const [entry] = await quarantined();
    expect(entry.failures).toBe(failures);
    pauses.push((entry.at.getTime() - now.getTime()) / 60_000);
    now = entry.at;
  }
  expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 360, 360]);
});

test("a statement that takes too long for one wallet alone quarantines that wallet", async () => {
  await world.call(BAD, 10, CONTRACT);
  await world.learn(CONTRACT);
  // A row of this wallet keeps its reader waiting longer than a statement may take.
  await world.query(`
    create or replace function ahs.call_line(call ahs.own_call) returns text language plpgsql volatile as
      $$ begin perform pg_sleep(30); return ''; end $$;
    alter table ahs.own_call disable trigger user;
    update ahs.own_call set line = null`);
  const db = openDatabase({
    ...{ url: world.url, applicationName: "ahs-test", maxConnections: 5, connectTimeoutMs: 5_000 },
    ...{ statementTimeoutMs: 500, onIdleError: () => undefined },
  });
  context = { ...context, db };
  expect(await scoreDue()).toBe(599);
  await db.$client.end();
  expect(await quarantined()).toMatchObject([{ subject: BAD, error: expect.stringContaining("57014") }]);
});

test("the night scores all others, and leaves a wallet alone until its time has come", async () => {
  await poison(BAD);
  expect(await scoreAll()).toBe(599);
  expect(await quarantined()).toMatchObject([{ subject: BAD, failures: 1 }]);
  await world.settle(30);
  expect(await scoreAll()).toBe(599);
  expect(await quarantined()).toMatchObject([{ subject: BAD, failures: 1 }]);
});

test("wallets overtaken by late facts are scored though one of them cannot be", async () => {
  await scoreAll();
  await world.settle(30);
  for (const wallet of [BAD, account(0x1001), account(0x1002)]) await world.call(wallet, 10, CONTRACT);
  await world.learn(CONTRACT, 25);
  await spoilLines(BAD);
  expect(await scoreOvertakenWallets({ ...context, rescoreIntervalSeconds: 1 }, forever)).toBe(2);
  expect(await quarantined()).toMatchObject([{ subject: BAD }]);
});

test("a listing reaches all others though one listed wallet cannot be scored, and so do scores that are due", async () => {
  await scoreAll();
  await world.follow(account(0x9000), 1);
  await poison(BAD);
  await world.sanction(BAD, 45);
  await world.sanction(account(0x1001), 46);
  expect([await scoreChangedFlags(context), await scoreDue()]).toEqual([1, 1]);
  expect(await quarantined()).toMatchObject([{ subject: BAD }]);
});

test("a fault of all wallets quarantines none and is thrown", async () => {
  await poison(BAD);
  await world.query("alter table ahs.input_file add constraint full_disk check (false) not valid");
  await expect(scoreDue()).rejects.toThrow();
  expect(await quarantined()).toEqual([]);
});

test("a database that goes away in the middle of a run quarantines no wallet", async () => {
  await poison(BAD);
  const db = openDatabase({
    ...{ url: world.url, applicationName: "ahs-lost", maxConnections: 5, connectTimeoutMs: 5_000 },
    ...{ statementTimeoutMs: 30_000, onIdleError: () => undefined },
  });
  context = { ...context, db };
  // The second batch waits for this lock; meanwhile its connection is ended.
  await world.query("begin; lock table ahs.input_file in access exclusive mode");
  const run = scoreDue();
  const ended = expect(run).rejects.toThrow(/terminat/);
  const end = `select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'ahs-lost' and wait_event_type = 'Lock'`;
  while ((await world.db.$client.query(end)).rowCount === 0) await sleep(20);
  await world.query("commit");
  await ended;
  await db.$client.end();
  expect(await quarantined()).toEqual([]);
});
