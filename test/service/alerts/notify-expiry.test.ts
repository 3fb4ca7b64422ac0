import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import { readNotNotified } from "../../../service/alerts/alert-subscriptions.ts";
import { notifyExpiry } from "../../../service/alerts/notify-subscribers.ts";
import { dueNotices, planExpiry } from "../../../service/alerts/plan-events.ts";
import { end } from "../../../service/alerts/subscriptions.ts";
import { type AlertWorld, createAlertWorld, DAY_MS, WALLET } from "./alert-world.ts";

describe("the notice that is due", () => {
  const expiresAt = new Date("2026-12-20T10:00:00.000Z");
  const subscription = {
    ...{ id: "s", endpointId: "e", wallet: WALLET, events: [], thresholds: {}, isDisabled: false },
    ...{ chainId: 31_337, expiresAt },
  };
  const due = (leftMs: number) => {
    const notice = planExpiry(subscription, new Date(expiresAt.getTime() - leftMs));
    return notice === null ? null : JSON.parse(notice.body).data.notice_days;
  };

  it.each([
    ["more than three days before", 3 * DAY_MS + 1, null],
    ["three days before", 3 * DAY_MS, 3],
    ["more than a day before", DAY_MS + 1, 3],
    ["a day before", DAY_MS, 1],
    ["a moment before", 1, 1],
    ["at the end", 0, null],
    ["after it", -DAY_MS, null],
  ] as const)("%s", (_when, leftMs, days) => {
    expect(due(leftMs)).toBe(days);
  });

  it("is one of each end, stored and not sent where the endpoint is disabled", () => {
    const at = new Date(expiresAt.getTime() - DAY_MS);
    const again = planExpiry(subscription, new Date(at.getTime() + 60_000));
    expect(planExpiry(subscription, at)?.id).toBe(again?.id);
    const extended = { ...subscription, expiresAt: new Date(expiresAt.getTime() + 1) };
    expect(planExpiry(extended, at)?.dedupeKey).not.toBe(again?.dedupeKey);
    expect(planExpiry({ ...subscription, isDisabled: true }, at)?.state).toBe("dropped");
  });
});

describe("a subscription that runs out", () => {
  let world: AlertWorld;
  beforeEach(async () => {
    world = await createAlertWorld();
  });
  afterEach(() => world.close());

  /** Days of the notices that were queued, oldest first, whatever became of them. */
  const notices = async () => {
    const rows = await world.query(
      "select body, state from ahs.webhook_event where type = 'subscription.expiring' order by created_at, id",
    );
    return rows.map(({ body, state }) => `${JSON.parse(body).data.notice_days} ${state}`);
  };
  const look = () => notifyExpiry(world.db, world.now());

  test("is notified three days and one day before its end, once each, and after an extension of the new end", async () => {
    const { subscription } = await world.buy();
    world.pass(27 * DAY_MS - 1);
    expect([await look(), await notices()]).toEqual([0, []]);
    world.pass(1);
    await Promise.all([look(), look(), look()]);
    expect([await look(), await notices()]).toEqual([0, ["3 pending"]]);
    world.pass(2 * DAY_MS);
    expect([await look(), await look(), await notices()]).toEqual([1, 0, ["3 pending", "1 pending"]]);
    const { subscription: extended } = await world.buy();
    expect([await look(), await notices()]).toEqual([0, ["3 dropped", "1 dropped"]]);
    world.pass(30 * DAY_MS);
    expect([await look(), await notices()]).toEqual([1, ["3 dropped", "1 dropped", "1 pending"]]);
    const [newest] = await world.query("select body from ahs.webhook_event order by created_at desc limit 1");
    expect(JSON.parse(newest.body)).toMatchObject({
      type: "subscription.expiring",
      data: { subscription_id: subscription.id, expires_at: extended.expiresAt.toISOString() },
    });
  });

  test("gets the nearer notice alone if both are due at one look", async () => {
    await world.buy();
    world.pass(29.5 * DAY_MS);
    expect([await look(), await look(), await notices()]).toEqual([1, 0, ["1 pending"]]);
  });

  test("is read only until it was notified, and one batch of many at a time", async () => {
    for (const owner of ["key:1", "key:2", "key:3", "key:4", "key:5"]) await world.buy({ owner });
    world.pass(28 * DAY_MS);
    const unnotified = async () => {
      const found = dueNotices(world.now()).map((notice) =>
        readNotNotified(world.db, { ...notice, limit: 2, except: [] }),
      );
      return (await Promise.all(found)).map((ids) => ids.length);
    };
    expect(await unnotified()).toEqual([0, 2]);
    expect([await notifyExpiry(world.db, world.now(), 2), await notices()]).toEqual([
      5,
      Array.from({ length: 5 }, () => "3 pending"),
    ]);
    expect([await unnotified(), await look()]).toEqual([[0, 0], 0]);
  });

  test("is notified although others before it in its batch fail, which are tried again at the next look", async () => {
    const bought = [];
    for (const owner of ["key:1", "key:2", "key:3", "key:4", "key:5", "key:6"])
      bought.push(await world.buy({ owner }));
    const bad = bought.slice(0, 3).map(({ subscription }) => `'${subscription.id}'`);
    const refusal = `type <> 'subscription.expiring' or subscription_id not in (${bad})`;
    await world.query(`alter table ahs.webhook_event add constraint refused check (${refusal})`);
    world.pass(28 * DAY_MS);
    await expect(notifyExpiry(world.db, world.now(), 3)).rejects.toThrow();
    expect(await notices()).toEqual(Array.from({ length: 3 }, () => "3 pending"));
    await world.query("alter table ahs.webhook_event drop constraint refused");
    expect(await notifyExpiry(world.db, world.now(), 3)).toBe(3);
  });

  test("is not notified once it has ended", async () => {
    const { subscription } = await world.buy();
    await world.buy({ owner: "key:two" });
    await end(world.deps, subscription.id);
    world.pass(30 * DAY_MS);
    expect([await look(), await notices()]).toEqual([0, []]);
    world.pass(-DAY_MS);
    expect([await look(), await notices()]).toEqual([1, ["1 pending"]]);
  });
});
