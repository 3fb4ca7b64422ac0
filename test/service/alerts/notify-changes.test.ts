import { randomBytes, randomUUID } from "node:crypto";
import type { Address } from "viem";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createSubscribe, type SubscribeRequest } from "../../../service/alerts/subscriptions.ts";
import {
  createFactPatience,
  scoreChangedFlags,
  scoreDueWallets,
} from "../../../service/scores/run-scoring.ts";
import { scoreNow } from "../../../service/scores/score-on-demand.ts";
import { scoreAtNewest } from "../../../service/scores/score-wallets.ts";
import { storeRecords } from "../../../service/scores/store-records.ts";
import { account } from "../model/features/histories.ts";
import { CHAIN_ID, createRecordWorld, NEWEST, type RecordWorld } from "../scores/record-world.ts";

const WALLET = account(1);
const LISTED_IN = 40;

let world: RecordWorld;
let newest: number;
beforeEach(async () => {
  newest = NEWEST;
  world = await createRecordWorld();
  await world.follow(WALLET, 1);
});
afterEach(() => world.close());

async function subscribe(
  wallet: Address,
  url = "https://hooks.example.com/a",
  changes: Partial<SubscribeRequest> = {},
): Promise<string> {
  const { db, now } = world.context;
  const buy = createSubscribe({ db, chainId: CHAIN_ID, now, randomBytes, randomUuid: randomUUID });
  const nothing = { thresholds: null, purchase: null, debitId: null };
  const events = ["ahs.grade_changed", "ahs.sanctions_hit"] as const;
  const request = { ...nothing, events, wallet, owner: "key:one", webhookUrl: url, ...changes };
  return (await buy(request)).subscription.id;
}

/** Events other than tests, as "type: previous grade > current grade". */
async function notified(): Promise<string[]> {
  const { rows } = await world.query(
    "select body from ahs.webhook_event where type <> 'subscription.test' order by type, created_at, body",
  );
  return rows.map(({ body }) => {
    const { type, data } = JSON.parse(body);
    return `${type}: ${data.previous.grade} > ${data.current.grade}`;
  });
}

async function round(): Promise<void> {
  await scoreChangedFlags(world.context);
  await scoreDueWallets(
    world.context,
    createFactPatience(() => 0),
    new AbortController().signal,
  );
}

const HIT = ["ahs.grade_changed: null > F", "ahs.sanctions_hit: null > F"];

test("notifies every subscription of the wallet of a listing, with the score that shows it, once", async () => {
  await round();
  await subscribe(WALLET);
  await subscribe(WALLET, "https://hooks.example.com/b");
  await subscribe(account(2), "https://hooks.example.com/c");
  await world.sanction(WALLET, LISTED_IN);
  await round();
  await round();
  expect(await notified()).toEqual([...HIT, ...HIT].toSorted());
});

test("sends no event for a score that changes nothing, nor for a wallet without subscriptions", async () => {
  await subscribe(WALLET);
  await world.follow(account(2), 1);
  await world.sanction(account(2), LISTED_IN);
  await round();
  await scoreNow(world.context, WALLET);
  expect((await world.currentScores()).length).toBe(2);
  expect(await notified()).toEqual([]);
});

test("sends no event for a change that is not stored", async () => {
  await round();
  await subscribe(WALLET);
  await world.sanction(WALLET, LISTED_IN);
  const scored = await scoreAtNewest(world.context, [WALLET]);
  if (scored === null) throw new Error("no block to score at");
  const times = [world.context.now()];
  const now = () => {
    const time = times.pop();
    if (time === undefined) throw new Error("the transaction ends here");
    return time;
  };
  await expect(storeRecords({ ...world.context, now }, scored)).rejects.toThrow("ends here");
  expect(await notified()).toEqual([]);
  await storeRecords(world.context, scored);
  expect(await notified()).toEqual(HIT);
});

test("writers of the same change at once send one event", async () => {
  await round();
  await subscribe(WALLET);
  await world.sanction(WALLET, LISTED_IN);
  const scored = [await scoreAtNewest(world.context, [WALLET])];
  await world.mine(NEWEST + 1);
  scored.push(await scoreAtNewest(world.context, [WALLET]));
  const writers = [...scored, ...scored, ...scored].map((one) =>
    one === null ? null : storeRecords(world.context, one),
  );
  await Promise.all(writers);
  expect(await notified()).toEqual(HIT);
});

test("notifies of the change back after a reorg without the listing, and of the listing again where it comes again", async () => {
  await round();
  await subscribe(WALLET);
  await world.sanction(WALLET, LISTED_IN);
  await round();
  await world.reorg(LISTED_IN);
  await round();
  expect(await notified()).toEqual(["ahs.grade_changed: F > null", ...HIT].toSorted());
  await world.sanction(WALLET, LISTED_IN + 1);
  await round();
  const [changed, hit] = HIT;
  expect(await notified()).toEqual(["ahs.grade_changed: F > null", changed, changed, hit, hit]);
});

test("notifies of a value that falls below its threshold once, and again only after a recovery", async () => {
  await subscribe(WALLET, undefined, { events: ["ahs.threshold_breached"], thresholds: { ahsScore: 70 } });
  const breaches = async () => {
    const { rows } = await world.query(
      "select body from ahs.webhook_event where type = 'ahs.threshold_breached' order by created_at, id",
    );
    return rows.flatMap(({ body }) => JSON.parse(body).data.breached);
  };
  await round();
  expect(await breaches()).toEqual([]);
  await world.sanction(WALLET, LISTED_IN);
  await round();
  const unknownBefore = { value: "ahs_score", below: 70, previous: null, current: 0 };
  expect(await breaches()).toEqual([unknownBefore]);
  await holdAs("ahs_score = 69");
  await renew();
  expect(await breaches()).toEqual([unknownBefore]);
  await holdAs("ahs_score = 70");
  await renew();
  expect((await breaches()).toSorted((a, b) => (a.previous ?? 0) - (b.previous ?? 0))).toEqual([
    unknownBefore,
    { ...unknownBefore, previous: 70 },
  ]);
});

test("notifies of a confidence that falls a level by itself with the score that shows it", async () => {
  await round();
  const confidence = { events: ["ahs.confidence_changed"], thresholds: null } as const;
  await subscribe(WALLET, undefined, confidence);
  await holdAs("confidence_level = 'LOW', confidence_micros = 300000");
  await world.query("update ahs.current_score set level_until = as_of_time + interval '8 seconds'");
  await world.settle(27);
  await round();
  expect(await notified()).toEqual([]);
  await world.settle(28);
  await round();
  const { rows } = await world.query(
    "select body from ahs.webhook_event where type = 'ahs.confidence_changed'",
  );
  expect(rows.map(({ body }) => JSON.parse(body).data)).toMatchObject([
    { previous_confidence_level: "LOW", previous_confidence: 0.3, confidence_level: "INSUFFICIENT" },
  ]);
});

/** Makes the current score of every wallet one of other values, as an earlier score would have left it. */
async function holdAs(values: string): Promise<void> {
  await world.query(`update ahs.score set ${values} where id in (select score_id from ahs.current_score)`);
}

/** Scores the wallet anew at a newer block. */
async function renew(): Promise<void> {
  newest += 1;
  await world.mine(newest);
  const scored = await scoreAtNewest(world.context, [WALLET]);
  if (scored === null) throw new Error("no block to score at");
  expect(await storeRecords(world.context, scored)).toBe(1);
}

test("does not notify an expired subscription and one that was ended", async () => {
  await round();
  const [expired, ended] = [await subscribe(WALLET), await subscribe(WALLET, "https://hooks.example.com/b")];
  await world.query(`update ahs.alert_subscription set expires_at = '2020-01-01' where id = '${expired}'`);
  await world.query(`update ahs.alert_subscription set ended_at = now() where id = '${ended}'`);
  await world.sanction(WALLET, LISTED_IN);
  await round();
  expect(await notified()).toEqual([]);
});
