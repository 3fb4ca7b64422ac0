import { setTimeout as sleep } from "node:timers/promises";
import { Registry } from "prom-client";
import { Webhook } from "standardwebhooks";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readSubscription, type StoredSubscription } from "../../../service/alerts/alert-subscriptions.ts";
import { createAlertMetrics } from "../../../service/alerts/metrics.ts";
import type { AlertDeps } from "../../../service/alerts/run-alerts.ts";
import { requestTest } from "../../../service/alerts/subscriptions.ts";
import { createGuardedFetch } from "../../../service/net/guarded-fetch.ts";
import { until } from "../../support/until.ts";
import { type AlertWorld, createAlertWorld, DAY_MS, startAlerts } from "./alert-world.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

let world: AlertWorld;
let receiver: Receiver;
let registry: Registry;
let stops: (() => Promise<void>)[];

beforeEach(async () => {
  // The public library refuses deliveries of another time.
  world = await createAlertWorld(new Date());
  receiver = await startReceiver();
  registry = new Registry();
  stops = [];
});
afterEach(async () => {
  for (const stop of stops) await stop();
  await receiver.close();
  await world.close();
});

const LIMITS = {
  deliveries: { atOnce: 4, atOncePerHost: 1, atOncePerAccount: 2, busyMs: 10, idleMs: 20, restMs: 50 },
  upkeepMs: 50,
};

/** Delivers in this process until the test ends, or until it is stopped. */
function start(changes: Partial<AlertDeps> = {}): () => Promise<void> {
  const stop = startAlerts(world, { limits: LIMITS, ...changes });
  stops.push(stop);
  return stop;
}

async function subscribe(path: string, owner = "key:one") {
  const { subscription, secret } = await world.buy({ owner, webhookUrl: `${receiver.baseUrl}${path}` });
  return { subscription, secret: secret ?? "" };
}

function found({ id, chainId }: StoredSubscription) {
  return readSubscription(world.db, { chainId, id });
}

async function arrived(path: string, count: number) {
  return until({ what: `${count} deliveries at ${path}`, timeoutMs: 170_000 }, async () => {
    const at = receiver.at(path);
    return at.length >= count ? at : null;
  });
}

async function states(count: number, state: string): Promise<void> {
  await until({ what: `${count} events are ${state}`, timeoutMs: 170_000 }, async () =>
    (await world.events()).filter((event) => event.state === state).length === count ? true : null,
  );
}

test("a test event arrives at once, signed as the public library verifies it, and verifies the endpoint", async () => {
  start();
  const { subscription, secret } = await subscribe("/ok");
  const [delivery] = await arrived("/ok", 1);
  const body = new Webhook(secret).verify(delivery?.body ?? "", delivery?.headers ?? {});
  expect(body).toMatchObject({ type: "subscription.test", data: { subscription_id: subscription.id } });
  expect(delivery?.headers).toMatchObject({ "content-type": "application/json" });
  await states(1, "delivered");
  expect((await found(subscription))?.verifiedAt).toEqual(world.now());
});

test("an event that fails is repeated on schedule with the same id and the same bytes, signed anew", async () => {
  start();
  receiver.answer("/flaky", [500, "hang up", 204]);
  const { secret } = await subscribe("/flaky");
  await arrived("/flaky", 1);
  await sleep(200);
  expect(receiver.at("/flaky")).toHaveLength(1);
  world.pass(5_000);
  await arrived("/flaky", 2);
  world.pass(300_000);
  const all = await arrived("/flaky", 3);
  await states(1, "delivered");
  expect(new Set(all.map(({ body }) => body)).size).toBe(1);
  expect(new Set(all.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  expect(new Set(all.map(({ headers }) => headers["webhook-signature"])).size).toBe(3);
  expect(secret).not.toBe("");
  const log = await world.query("select status, failure from ahs.webhook_attempt order by id");
  expect(log).toEqual([
    { status: 500, failure: "The endpoint answered 500." },
    {
      status: null,
      failure: "The connection could not be made, or broke before the answer was complete.",
    },
    { status: 204, failure: null },
  ]);
});

test("only tests are sent to an endpoint that never answered 2xx; waiting events follow once it does", async () => {
  start();
  receiver.answer("/late", [500, 200, 200]);
  const { subscription } = await subscribe("/late");
  await arrived("/late", 1);
  await tell(subscription, "change 1");
  await sleep(200);
  expect(receiver.at("/late")).toHaveLength(1);
  world.pass(5_000);
  const all = await arrived("/late", 3);
  expect(all.map(({ body }) => JSON.parse(body).type)).toEqual([
    "subscription.test",
    "subscription.test",
    "ahs.grade_changed",
  ]);
});

test("an endpoint that hangs, or that answers without end, delays no other, nor another of the same owner", async () => {
  // Deliveries end so late that another one which waited for them would be missed.
  start({ fetch: createGuardedFetch({ resolve: async () => [], loopback: "allowed", deadlineMs: 600_000 }) });
  receiver.answer("/hangs", ["hang"]);
  receiver.answer("/endless", ["endless"]);
  const hanging = await subscribe("/hangs", "key:slow");
  await subscribe("/endless", "key:endless");
  await arrived("/hangs", 1);
  for (let number = 0; number < 20; number += 1) await tell(hanging.subscription, `change ${number}`);
  await subscribe("/other");
  await subscribe("/same", "key:slow");
  await arrived("/other", 1);
  await arrived("/same", 1);
  expect([receiver.at("/hangs").length, receiver.underWay("/hangs")]).toEqual([1, 1]);
});

test("one endpoint gets one delivery at a time, in the order of its events", async () => {
  receiver.answer(
    "/order",
    Array.from({ length: 20 }, () => "slow" as const),
  );
  const { subscription } = await subscribe("/order");
  for (let number = 0; number < 10; number += 1) {
    world.pass(1);
    await tell(subscription, `change ${String(number).padStart(2, "0")}`);
  }
  start();
  const all = await arrived("/order", 11);
  expect(receiver.most("/order")).toBe(1);
  const changes = all.slice(1).map(({ body }) => JSON.parse(body).data.change);
  expect(changes).toEqual(changes.toSorted());
});

test("several workers deliver each event once, and those of one endpoint in their order, one at a time", async () => {
  receiver.answer(
    "/shared",
    Array.from({ length: 20 }, () => "slow" as const),
  );
  const { subscription } = await subscribe("/shared");
  for (let number = 0; number < 10; number += 1) {
    world.pass(1);
    await tell(subscription, `change ${String(number).padStart(2, "0")}`);
  }
  for (let worker = 0; worker < 3; worker += 1) start();
  await arrived("/shared", 11);
  await states(11, "delivered");
  const all = receiver.at("/shared");
  expect([all.length, receiver.most("/shared")]).toEqual([11, 1]);
  const changes = all.slice(1).map(({ body }) => JSON.parse(body).data.change);
  expect(changes).toEqual(changes.toSorted());
});

test("an event of a worker that died is sent by another a minute later, and nothing of that endpoint before", async () => {
  await subscribe("/dead");
  await world.query("update ahs.webhook_endpoint set delivering_until = $1", [
    new Date(world.now().getTime() + 60_000),
  ]);
  start();
  await sleep(200);
  expect(receiver.at("/dead")).toEqual([]);
  world.pass(60_000);
  await arrived("/dead", 1);
  await states(1, "delivered");
  expect(await world.query("select delivering_until from ahs.webhook_endpoint")).toEqual([
    { delivering_until: null },
  ]);
});

test("an event whose attempt cannot be recorded delays its own delivery alone", async () => {
  const { subscription } = await subscribe("/poison");
  world.pass(1);
  await tell(subscription, "change");
  const [first] = await world.events();
  await world.query(`alter table ahs.webhook_attempt add check (event_id <> '${first?.id}')`);
  await world.query("update ahs.webhook_endpoint set verified_at = now()");
  start();
  const all = await arrived("/poison", 2);
  expect(all.map(({ headers }) => headers["webhook-id"])).toEqual((await world.events()).map(({ id }) => id));
  await states(1, "delivered");
});

test("an overloaded endpoint is left alone as long as it asks, whatever else waits for it", async () => {
  start();
  const { subscription } = await subscribe("/busy");
  await arrived("/busy", 1);
  await states(1, "delivered");
  receiver.answer("/busy", [{ status: 429, headers: { "retry-after": "600" } }]);
  await tell(subscription, "change 1");
  await arrived("/busy", 2);
  await until(
    { what: "it is held" },
    async () =>
      (await world.query("select 1 from ahs.webhook_endpoint where held_until is not null"))[0] ?? null,
  );
  await tell(subscription, "change 2");
  world.pass(500_000);
  await sleep(200);
  expect(receiver.at("/busy")).toHaveLength(2);
  world.pass(100_001);
  await arrived("/busy", 4);
});

test("an endpoint that answers 410 is disabled at once; waiting events stay readable", async () => {
  start();
  const { subscription } = await subscribe("/gone");
  await states(1, "delivered");
  receiver.answer("/gone", [410]);
  await tell(subscription, "change 1");
  await states(1, "failed");
  await tell(subscription, "change 2");
  world.pass(DAY_MS);
  await sleep(150);
  expect(receiver.at("/gone")).toHaveLength(2);
  expect(await found(subscription)).toMatchObject({ disabledReason: "The endpoint answered 410." });
  await requestTest({ ...world.deps }, subscription);
  await arrived("/gone", 3);
});

test("an endpoint that answers none of eight attempts is given up, and one that answers others is not", async () => {
  start();
  const { subscription } = await subscribe("/mixed");
  await states(1, "delivered");
  const dead = await world.buy({ webhookUrl: `${receiver.baseUrl}/dead`, owner: "key:dead" });
  receiver.refuse("/dead");
  receiver.refuseOnly("/mixed", "change 1");
  await tell(subscription, "change 1");
  const hours = [0.01, 0.1, 1, 3, 6, 11, 15];
  await arrived("/dead", 1);
  await arrived("/mixed", 2);
  for (const [index, hour] of hours.entries()) {
    await until({ what: "the attempt is recorded" }, async () =>
      (await world.events()).filter(({ attempts }) => attempts > index).length >= 2 ? true : null,
    );
    world.pass(hour * 3_600_000);
    await arrived("/dead", index + 2);
    await arrived("/mixed", index + 3);
    if (index === 3) await tell(subscription, "change 2");
    if (index === 3) await states(2, "delivered");
  }
  await states(2, "failed");
  expect(await found(dead.subscription)).toMatchObject({
    disabledReason: "The endpoint answered 500. That was the last attempt.",
  });
  expect((await found(subscription))?.disabledAt).toBeNull();
});

test("a redirect is not followed and counts as a failure", async () => {
  start();
  receiver.answer("/moved", [{ status: 307, headers: { location: `${receiver.baseUrl}/target` } }]);
  await subscribe("/moved");
  await until(
    { what: "the attempt is logged" },
    async () => (await world.query("select status from ahs.webhook_attempt"))[0] ?? null,
  );
  expect(receiver.at("/target")).toEqual([]);
});

test("a target that the guard refuses by now is not asked, and the log does not say where it leads", async () => {
  start({ fetch: createGuardedFetch({ resolve: async () => ["10.0.0.7"] }) });
  await world.buy({ webhookUrl: "https://rebound.example.com/" });
  const [attempt] = await until({ what: "the attempt is logged" }, async () => {
    const rows = await world.query("select status, failure from ahs.webhook_attempt");
    return rows.length > 0 ? rows : null;
  });
  expect(attempt).toEqual({
    status: null,
    failure:
      "The URL must be https, without user information, on an allowed port of a host whose addresses are all public.",
  });
});

test("an event that is being sent when the process stops is sent again by the next, with the same id", async () => {
  receiver.answer("/stopped", ["hang", 204]);
  const stop = start();
  await subscribe("/stopped");
  await arrived("/stopped", 1);
  await stop();
  expect(await world.query("select 1 from ahs.webhook_attempt")).toEqual([]);
  start();
  const all = await arrived("/stopped", 2);
  expect(new Set(all.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
});

test("an event that still waits three days after its subscription ended is dropped", async () => {
  const { subscription } = await subscribe("/ended");
  world.pass(33 * DAY_MS);
  start();
  // Dropped, and so old that it may be swept at once.
  await states(0, "pending");
  expect(receiver.at("/ended")).toEqual([]);
  expect((await found(subscription))?.verifiedAt).toBeNull();
});

test("depth, age and outcomes are measured", async () => {
  receiver.answer("/measured", [500, "hang"]);
  await subscribe("/measured");
  start({ metrics: createAlertMetrics(registry) });
  const values = async (name: string) => (await registry.getSingleMetric(name)?.get())?.values;
  await arrived("/measured", 1);
  await until({ what: "the outcome is counted" }, async () =>
    (await values("ahs_webhook_attempts_total"))?.length === 1 ? true : null,
  );
  expect(await values("ahs_webhook_attempts_total")).toEqual([{ labels: { outcome: "retry" }, value: 1 }]);
  world.pass(12_000);
  await until({ what: "the queue is measured" }, async () =>
    (await values("ahs_webhook_queue_lag_seconds"))?.[0]?.value === 7 ? true : null,
  );
  expect((await values("ahs_webhook_queue_depth"))?.[0]?.value).toBe(1);
});

/** Queues an event of a change for a subscription. */
async function tell({ id, endpointId }: StoredSubscription, change: string): Promise<void> {
  const body = JSON.stringify({ type: "ahs.grade_changed", data: { change } });
  await world.query(
    `insert into ahs.webhook_event (id, endpoint_id, subscription_id, type, dedupe_key, body, state, not_before, created_at)
     values ($1, $2, $3, 'ahs.grade_changed', $1, $4, 'pending', $5, $5)`,
    [`msg_${id} ${change}`.replaceAll(" ", "_"), endpointId, id, body, world.now()],
  );
}
