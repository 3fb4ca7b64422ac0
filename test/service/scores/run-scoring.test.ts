import { afterEach, beforeEach, expect, test } from "vitest";
import {
  createFactPatience,
  type ScoringRunContext,
  scoreAllWallets,
  scoreChangedFlags,
  scoreDueWallets,
  scoreOvertakenWallets,
} from "../../../service/scores/run-scoring.ts";
import { scoreNow } from "../../../service/scores/score-on-demand.ts";
import { account } from "../model/features/histories.ts";
import { createRecordWorld, FINALIZED, NEWEST, type RecordWorld } from "./record-world.ts";

const WALLET = account(7);
const forever = new AbortController().signal;
let world: RecordWorld;
/** Milliseconds since the start. */
let elapsed: number;
/** Flags first, as two loops of a worker do at the same time. */
let scoreDue: (context: ScoringRunContext) => Promise<{ flagged: number | null; scored: number | null }>;

beforeEach(async () => {
  world = await createRecordWorld();
  elapsed = 0;
  const patience = createFactPatience(() => elapsed);
  scoreDue = async (context) => ({
    flagged: await scoreChangedFlags(context),
    scored: await scoreDueWallets(context, patience, forever),
  });
});
afterEach(() => world.close());

test("a listed wallet outside the index is no longer sanctioned once it is delisted, on chain either", async () => {
  await world.sanction(WALLET, 10);
  await scoreNow(world.context, WALLET);
  await world.publishSanctioned(WALLET, FINALIZED);
  expect(await world.currentScores()).toEqual([
    { wallet: WALLET, as_of_block: FINALIZED, sanctioned: true, grade: "F" },
  ]);

  await world.sanction(WALLET, 45, false);
  expect(await scoreDue(world.context)).toEqual({ scored: 0, flagged: 1 });
  expect(await world.currentScores()).toEqual([
    { wallet: WALLET, as_of_block: NEWEST, sanctioned: false, grade: null },
  ]);
  expect(await world.pendingIntents()).toEqual([{ wallet: WALLET, reason: "flag" }]);
  expect(await scoreDue(world.context)).toEqual({ scored: 0, flagged: 0 });
});

test("a registration and a listing that a reorg took out leave no sanctioned score behind", async () => {
  await world.follow(WALLET, 44);
  await world.sanction(WALLET, 46);
  await scoreNow(world.context, WALLET);
  expect(await world.currentScores()).toMatchObject([{ as_of_block: NEWEST, sanctioned: true }]);

  await world.reorg(43);
  expect(await scoreDue(world.context)).toEqual({ scored: 0, flagged: 1 });
  expect(await world.currentScores()).toMatchObject([{ sanctioned: false, grade: null }]);
  expect(await scoreDue(world.context)).toEqual({ scored: 0, flagged: 0 });
});

test("a flag that a reorg left in the oracle is corrected by the next block, not by the next final one", async () => {
  await world.follow(WALLET, 1);
  await scoreDue(world.context);
  await world.publishSanctioned(WALLET, NEWEST);
  await scoreDue(world.context);
  expect(await world.pendingIntents()).toEqual([]);

  await world.mine(NEWEST + 1);
  await scoreDue(world.context);
  expect(await world.currentScores()).toMatchObject([{ as_of_block: NEWEST + 1, sanctioned: false }]);
  expect(await world.pendingIntents()).toEqual([{ wallet: WALLET, reason: "flag" }]);
});

/** The scoring of a night that begins at this block; the number of wallets that it scored. */
async function scoreAll(reach = NEWEST, mostIdle?: number): Promise<number | null> {
  const night = { reach, signal: forever, ...(mostIdle === undefined ? {} : { mostIdle }) };
  return (await scoreAllWallets(world.context, night))?.scored ?? null;
}

test("a wallet whose registration is not final yet gets no score by night", async () => {
  await world.follow(WALLET, FINALIZED + 1);
  expect(await scoreAll()).toBe(0);
  expect(await world.countScores()).toBe(0);
});

test("of idle wallets a night scores so many, those with the oldest scores, and every wallet that is not idle", async () => {
  const idle = Array.from({ length: 10 }, (_, i) => account(100 + i));
  for (const wallet of [WALLET, ...idle]) await world.follow(wallet, 1);
  expect(await scoreAll(NEWEST, 4)).toBe(11);

  await world.call(WALLET, 25, account(8));
  await world.settle(30);
  expect(await scoreAll(NEWEST, 4)).toBe(5);
  await world.settle(31);
  // The one that made a call is idle since, and its score is newer.
  expect(await scoreAll(NEWEST, 4)).toBe(4);
  await world.settle(32);
  expect(await scoreAll(NEWEST, 4)).toBe(4);
  const scores = await world.currentScores();
  expect(scores.every(({ as_of_block: block }) => block > FINALIZED)).toBe(true);
  expect(await world.countScores()).toBe(11 + 5 + 4 + 4);
});

test("a stop, or a lock that is lost, ends the scoring of all before the next batch", async () => {
  await world.follow(WALLET, 1);
  const reason = new Error("stopped");
  await expect(
    scoreAllWallets(world.context, { reach: NEWEST, signal: AbortSignal.abort(reason) }),
  ).rejects.toThrow(reason);
  expect(await world.countScores()).toBe(0);
});

test("a night that another worker goes on with scores no wallet again, and no more idle ones than the night's", async () => {
  const idle = Array.from({ length: 10 }, (_, i) => account(100 + i));
  for (const wallet of idle) await world.follow(wallet, 1);
  await scoreAll();
  await world.settle(30);
  expect(await scoreAll(30, 4)).toBe(4);
  await world.settle(31);
  expect(await scoreAll(30, 4)).toBe(0);
  expect(await scoreAll(30, 6)).toBe(2);
  // Two of the next night's four are as new as it wants already.
  expect(await scoreAll(31, 4)).toBe(2);
});

test("workers at once score each wallet once, by day and by night, and the night ends when all are scored", async () => {
  const wallets = Array.from({ length: 600 }, (_, i) => account(0x1000 + i));
  for (const wallet of wallets) await world.follow(wallet, 1);
  const due = () =>
    scoreDueWallets(
      world.context,
      createFactPatience(() => 0),
      forever,
    );
  const byDay = await Promise.all([due(), due(), due()]);
  await due();
  expect([sum(byDay), await world.countScores()]).toEqual([600, 600]);

  await world.settle(30);
  const scored = async (block: number) =>
    (await world.currentScores()).filter(({ as_of_block: asOf }) => asOf === block).length;
  const night = async () => {
    const own = await scoreAll(30);
    expect(await scored(30)).toBe(600);
    return own;
  };
  const byNight = await Promise.all([night(), night(), night()]);
  expect([sum(byNight), await world.countScores()]).toEqual([600, 1_200]);
});

const sum = (counts: readonly (number | null)[]) =>
  counts.reduce<number>((all, count) => all + (count ?? 0), 0);

const CONTRACT = account(0xc0);
const eager = () => ({ ...world.context, rescoreIntervalSeconds: 1 });

test("nothing is scored before the block that is final is enriched", async () => {
  await world.follow(WALLET, 1);
  await world.query("delete from ahs.enrich_cursor");
  expect(await scoreOvertakenWallets(world.context, forever)).toBeNull();
  expect(await scoreDue(world.context)).toEqual({ scored: null, flagged: null });
  expect(await scoreAll()).toBeNull();
  expect(await scoreNow(world.context, WALLET)).toMatchObject({ kind: "unavailable" });
  expect(await world.countScores()).toBe(0);
});

test("a wallet is scored again for a call that was enriched since, once the interval is over, and for nothing else", async () => {
  await world.follow(WALLET, 1);
  expect(await scoreDue(eager())).toEqual({ scored: 1, flagged: 0 });
  await world.settle(30);
  expect(await scoreDue(eager())).toEqual({ scored: 0, flagged: 0 });

  await world.call(WALLET, 25, CONTRACT);
  await world.learn(CONTRACT);
  expect(await scoreDue({ ...world.context, rescoreIntervalSeconds: 11 })).toEqual({
    scored: 0,
    flagged: 0,
  });
  expect(await scoreDue(eager())).toEqual({ scored: 1, flagged: 0 });
  expect(await world.currentScores()).toMatchObject([{ as_of_block: 30 }]);
  await world.call(WALLET, 35, CONTRACT);
  expect(await scoreDue(eager())).toEqual({ scored: 0, flagged: 0 });
});

const MINUTES = 60_000;

test("a wallet waits for the facts of those it dealt with, however long ago on the chain", async () => {
  await world.follow(WALLET, 1);
  await world.call(WALLET, 10, CONTRACT);
  await world.query("update ahs.contact set first_time = first_time - 86400");
  expect(await scoreDue(world.context)).toEqual({ scored: 0, flagged: 0 });
  await world.learn(CONTRACT);
  expect(await scoreDue(world.context)).toEqual({ scored: 1, flagged: 0 });
});

test("a wallet waits as long as facts of others come in, and no longer than some minutes without any", async () => {
  await world.follow(WALLET, 1);
  await world.call(WALLET, 10, CONTRACT);
  for (let other = 1; other <= 3; other += 1) {
    expect(await scoreDue(world.context)).toEqual({ scored: 0, flagged: 0 });
    await world.learn(account(0xd0 + other));
    elapsed += 2 * MINUTES;
  }
  expect(await scoreDue(world.context)).toEqual({ scored: 0, flagged: 0 });
  elapsed += 3 * MINUTES;
  expect(await scoreDue(world.context)).toEqual({ scored: 1, flagged: 0 });
});

test("a wallet is scored again for facts that came after its score, once", async () => {
  await world.follow(WALLET, 1);
  await world.call(WALLET, 10, CONTRACT);
  await scoreAll();
  await world.settle(30);
  expect(await scoreOvertakenWallets(eager(), forever)).toBe(0);

  await world.learn(CONTRACT, 25);
  expect(await scoreOvertakenWallets({ ...world.context, rescoreIntervalSeconds: 11 }, forever)).toBe(0);
  expect(await scoreOvertakenWallets(eager(), forever)).toBe(1);
  await world.settle(35);
  expect(await scoreOvertakenWallets(eager(), forever)).toBe(0);
});

test("a wallet is scored again when the past that was open at its score is enriched, once", async () => {
  await world.follow(WALLET, 1);
  await world.follow(account(8), 1);
  await world.query(`update ahs.enrich_wallet set past_next = 1, past_until = 5 where wallet = '${WALLET}'`);
  await scoreAll();
  await world.settle(30);
  expect(await scoreOvertakenWallets(eager(), forever)).toBe(0);

  await world.query("update ahs.enrich_wallet set past_next = null, past_until = null");
  expect(await scoreOvertakenWallets(eager(), forever)).toBe(1);
  expect(await world.currentScores()).toMatchObject([
    { wallet: WALLET, as_of_block: 30 },
    { wallet: account(8), as_of_block: FINALIZED },
  ]);
  await world.settle(35);
  expect(await scoreOvertakenWallets(eager(), forever)).toBe(0);
});

test("a wallet is scored again when a source reports its past after its score, at once without enough history", async () => {
  await world.follow(WALLET, 10);
  await scoreAll();
  await world.settle(30);
  await world.query(
    `insert into ahs.stored_history values (31337, '${WALLET}', 'otterscan', 1, 1, 9, '0x09', true, now())`,
  );
  const patient = { ...world.context, rescoreIntervalSeconds: 1_000 };
  expect(await scoreOvertakenWallets(patient, forever)).toBe(1);
  await world.query(
    "update ahs.current_score set ahs_score = 50; update ahs.stored_history set read_at = now()",
  );
  await world.settle(35);
  expect(await scoreOvertakenWallets(patient, forever)).toBe(0);
  expect(await scoreOvertakenWallets(eager(), forever)).toBe(1);
  await world.settle(40);
  expect(await scoreOvertakenWallets(eager(), forever)).toBe(0);
});

test("a wallet whose past is still to be enriched waits for it", async () => {
  await world.follow(WALLET, 1);
  await world.query("update ahs.enrich_wallet set past_next = 1, past_until = 5");
  expect(await scoreDue(world.context)).toEqual({ scored: 0, flagged: 0 });
});

test("a wallet is scored again when its confidence falls a level by waiting", async () => {
  await world.follow(WALLET, 1);
  await scoreDue(world.context);
  await world.query("update ahs.current_score set level_until = as_of_time + interval '8 seconds'");
  await world.settle(27);
  expect(await scoreDue(world.context)).toEqual({ scored: 0, flagged: 0 });
  await world.settle(28);
  expect(await scoreDue(world.context)).toEqual({ scored: 1, flagged: 0 });
});

test("files that records have in common are stored once, and one that does not change is not stored again", async () => {
  await world.follow(WALLET, 1);
  await world.follow(account(8), 1);
  await scoreAll();
  const files = async () => (await world.query("select hash from ahs.input_file")).rowCount;
  // Policy, tokens, sanctions; of each wallet its counterparties and what names them all.
  expect(await files()).toBe(7);
  await world.settle(30);
  await scoreAll();
  expect(await files()).toBe(9);
});

const MINUTE = 60_000;

/** Patience at a clock that each call sets, in minutes. */
function patienceAt() {
  let now = 0;
  const patience = createFactPatience(() => now);
  return (minutes: number, waiting: readonly string[], factsKnown: number) => {
    now = minutes * MINUTE;
    return patience(waiting, factsKnown);
  };
}

test("no wallet waits longer than three minutes in which no fact came", () => {
  const late = patienceAt();
  expect(late(0, ["a"], 5)).toEqual([]);
  expect(late(2, ["a"], 6)).toEqual([]);
  expect(late(4, ["a"], 6)).toEqual([]);
  expect(late(5, ["a"], 6)).toEqual(["a"]);
});

test("a wallet that begins to wait when nothing has come for long is given the same three minutes", () => {
  const late = patienceAt();
  late(0, ["a"], 5);
  expect(late(10, ["a", "b"], 5)).toEqual(["a"]);
  expect(late(13, ["a", "b"], 5)).toEqual(["a", "b"]);
});

test("no wallet waits longer than an hour, even if facts keep coming", () => {
  const late = patienceAt();
  for (let minute = 0; minute < 60; minute += 1) expect(late(minute, ["a"], minute)).toEqual([]);
  expect(late(60, ["a", "b"], 60)).toEqual(["a"]);
});

test("a wallet that no longer waits begins anew the next time", () => {
  const late = patienceAt();
  late(0, ["a"], 5);
  expect(late(4, [], 0)).toEqual([]);
  expect(late(5, ["a"], 5)).toEqual([]);
  expect(late(8, ["a"], 5)).toEqual(["a"]);
});
