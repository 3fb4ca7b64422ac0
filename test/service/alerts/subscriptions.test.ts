import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createApiKey, readApiKey } from "../../../service/access/api-keys.ts";
import { createKeyDebits, returnExpiredHolds } from "../../../service/access/key-debits.ts";
import {
  hasThresholds,
  listSubscriptions,
  readSubscription,
  type StoredSubscription,
  sweepSubscriptions,
  takeLiveSubscriptions,
} from "../../../service/alerts/alert-subscriptions.ts";
import { end, hashManageToken, replay, requestTest, rotate } from "../../../service/alerts/subscriptions.ts";
import { leaseEndpoint, readDueEvents, recordAttempt } from "../../../service/alerts/webhook-events.ts";
import { dropEventsOfEnded, readDeliveries, sweepEvents } from "../../../service/alerts/webhook-log.ts";
import { type AlertWorld, createAlertWorld, DAY_MS, WALLET } from "./alert-world.ts";

let world: AlertWorld;
beforeEach(async () => {
  world = await createAlertWorld();
});
afterEach(() => world.close());

/** Writes what came of the one event that is due. */
async function attempt(status: number): Promise<void> {
  const [due] = await readDueEvents(world.db, { now: world.now(), perEndpoint: 1, limit: 1 });
  if (due === undefined) throw new Error("no event is due");
  const at = world.now();
  const fate =
    status === 410
      ? ({ kind: "refused", reason: "The endpoint answered 410." } as const)
      : ({ kind: "delivered" } as const);
  const failure = status === 410 ? fate.kind : null;
  await recordAttempt(world.db, due, { attempt: { at, status, latencyMs: 5, failure }, fate });
}

/** The event that a worker sends to an endpoint now. */
const lease = (endpointId: string) =>
  leaseEndpoint(world.db, endpointId, { now: world.now(), until: world.now() });

async function live() {
  const found = await world.db.transaction((tx) =>
    takeLiveSubscriptions(tx, { chainId: 31_337, wallets: [WALLET], at: world.now() }),
  );
  return found.map(({ id }) => id);
}

describe("buying monitoring", () => {
  test("makes a subscription of 30 days with its secrets and a first test event", async () => {
    const { subscription, secret, manageToken } = await world.buy();
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(subscription.manageTokenHash).toBe(hashManageToken(manageToken ?? ""));
    expect(subscription).toMatchObject({
      wallet: WALLET,
      owner: "key:one",
      url: "https://hooks.example.com/a",
      events: ["ahs.grade_changed", "ahs.threshold_breached", "ahs.sanctions_hit", "ahs.confidence_changed"],
      thresholds: {},
      watched: null,
      verifiedAt: null,
    });
    expect(subscription.expiresAt.getTime() - world.now().getTime()).toBe(30 * DAY_MS);
    expect(await world.events()).toMatchObject([{ type: "subscription.test", state: "pending" }]);
    expect(await live()).toEqual([subscription.id]);
  });

  test("again adds 30 days to the same subscription and shows no secret", async () => {
    const first = await world.buy();
    world.pass(DAY_MS);
    const second = await world.buy({ events: ["ahs.sanctions_hit"] });
    expect(second).toMatchObject({ secret: null, manageToken: null });
    expect(second.subscription).toMatchObject({ id: first.subscription.id, events: ["ahs.sanctions_hit"] });
    expect(second.subscription.expiresAt.getTime()).toBe(
      first.subscription.expiresAt.getTime() + 30 * DAY_MS,
    );
    const third = await world.buy();
    expect(third.subscription.events).toEqual(["ahs.sanctions_hit"]);
    const fourth = await world.buy({ thresholds: { ahsScore: 70 } });
    expect(fourth.subscription.events).toEqual(["ahs.sanctions_hit", "ahs.threshold_breached"]);
    expect(await world.events()).toHaveLength(1);
  });

  test("again with thresholds replaces them all, and without keeps them", async () => {
    const thresholds = { ahsScore: 70, confidenceMicros: 500_000 };
    const place = {
      ...{ chainId: 31_337, wallet: WALLET, owner: "key:one" },
      url: "https://hooks.example.com/a",
    };
    await world.buy();
    expect(await hasThresholds(world.db, place)).toBe(false);
    expect((await world.buy({ thresholds })).subscription).toMatchObject({ thresholds });
    expect(await hasThresholds(world.db, place)).toBe(true);
    expect(await hasThresholds(world.db, { ...place, owner: "key:two" })).toBe(false);
    expect((await world.buy()).subscription).toMatchObject({ thresholds });
    const { subscription } = await world.buy({ thresholds: { d1Score: 0 } });
    expect(subscription.thresholds).toEqual({ d1Score: 0 });
    await end(world.deps, subscription.id);
    expect(await hasThresholds(world.db, place)).toBe(false);
  });

  test("are listed for their owner, newest first, in pages", async () => {
    const bought = [];
    for (const place of ["b", "c", "d"]) {
      bought.push((await world.buy({ webhookUrl: `https://hooks.example.com/${place}` })).subscription.id);
      world.pass(1_000);
    }
    await world.buy({ owner: "key:two" });
    const page = { chainId: 31_337, owner: "key:one", limit: 2 };
    const idsAfter = async (after: string | null) =>
      (await listSubscriptions(world.db, { ...page, after })).map(({ id }) => id);
    expect(await idsAfter(null)).toEqual([bought[2], bought[1]]);
    expect(await idsAfter(bought[1] ?? "")).toEqual([bought[0]]);
  });

  test("after it expired continues it from now on", async () => {
    const first = await world.buy();
    world.pass(40 * DAY_MS);
    expect(await live()).toEqual([]);
    const { subscription } = await world.buy();
    expect(subscription.id).toBe(first.subscription.id);
    expect(subscription.expiresAt.getTime()).toBe(world.now().getTime() + 30 * DAY_MS);
  });

  test("for another URL, wallet or owner makes another subscription; another spelling of a URL does not", async () => {
    const { subscription } = await world.buy();
    const others = [
      await world.buy({ webhookUrl: "https://hooks.example.com/b" }),
      await world.buy({ wallet: `0x${"b2".repeat(20)}` }),
      await world.buy({ owner: "key:two" }),
    ];
    const ids = [subscription.id, ...others.map((other) => other.subscription.id)];
    expect(new Set(ids).size).toBe(4);
    const spelled = await world.buy({ webhookUrl: "https://HOOKS.example.com:443/x/../a" });
    expect(spelled.subscription.id).toBe(subscription.id);
  });

  test("many times at once makes one subscription with all the days", async () => {
    const bought = await Promise.all(Array.from({ length: 8 }, () => world.buy()));
    expect(new Set(bought.map(({ subscription }) => subscription.id)).size).toBe(1);
    expect(bought.filter(({ secret }) => secret !== null)).toHaveLength(1);
    const longest = Math.max(...bought.map(({ subscription }) => subscription.expiresAt.getTime()));
    expect(longest).toBe(world.now().getTime() + 8 * 30 * DAY_MS);
    expect(await world.events()).toHaveLength(1);
  });

  test("by one payment counts once, however often its request is repeated", async () => {
    const first = await world.buy({ purchase: "payment 1" });
    const repeats = await Promise.all([1, 2, 3].map(() => world.buy({ purchase: "payment 1" })));
    for (const { subscription, secret } of repeats) {
      expect([subscription.id, subscription.expiresAt, secret]).toEqual([
        first.subscription.id,
        first.subscription.expiresAt,
        null,
      ]);
    }
    const second = await world.buy({ purchase: "payment 2" });
    expect(second.subscription.expiresAt.getTime()).toBe(world.now().getTime() + 60 * DAY_MS);
    await world.buy({ purchase: "payment 1" });
    await end(world.deps, first.subscription.id);
    const afterEnd = await world.buy({ purchase: "payment 2" });
    expect(afterEnd.subscription.id).toBe(first.subscription.id);
  });

  test("for an endpoint that was given up delivers to it again", async () => {
    await world.buy();
    await attempt(410);
    const { subscription } = await world.buy();
    expect(subscription.disabledAt).toBeNull();
    expect((await world.events()).filter(({ state }) => state === "pending")).toHaveLength(1);
  });

  test("after its owner ended it makes a new one, with new secrets", async () => {
    const first = await world.buy();
    await end(world.deps, first.subscription.id);
    const second = await world.buy();
    expect(second.subscription.id).not.toBe(first.subscription.id);
    expect(second.secret).not.toBeNull();
  });
});

describe("buying monitoring by key", () => {
  const keyWith = async (balanceUnits: number) => {
    const wanted = { name: "k", partner: false, balanceUnits, expiresAt: null };
    const { key } = await createApiKey(world.db, wanted, world.deps);
    const ask = { keyId: key.id, units: 2_000, endpoint: "GET /alerts/subscribe/{address}", repeat: "r" };
    const debits = createKeyDebits(world.deps);
    return {
      debits,
      async hold() {
        const held = await debits.hold(ask);
        if (held.kind !== "held") throw new Error(held.kind);
        return held.debitId;
      },
      buy: (debitId: string) => world.buy({ owner: `key:${key.id}`, purchase: `debit ${debitId}`, debitId }),
      balance: async () => (await readApiKey(world.db, key.id))?.balanceUnits,
    };
  };
  const daysOf = ({ subscription }: Awaited<ReturnType<AlertWorld["buy"]>>) =>
    (subscription.expiresAt.getTime() - world.now().getTime()) / DAY_MS;

  test("is paid for though the server dies before it answers, and its repeat is neither charged nor adds days", async () => {
    const key = await keyWith(5_000);
    const first = await key.hold();
    expect(daysOf(await key.buy(first))).toBe(30);
    world.pass(121_000);
    await returnExpiredHolds(world.db, world.now());
    expect(await key.balance()).toBe(3_000);
    const repeated = await key.hold();
    expect(repeated).toBe(first);
    await key.buy(repeated);
    await key.debits.giveBack(repeated);
    expect(await key.balance()).toBe(3_000);
    expect(await live()).toHaveLength(1);
    expect(daysOf(await key.buy(repeated))).toBeLessThan(30);
  });

  test("adds nothing where its debit was returned meanwhile", async () => {
    const key = await keyWith(5_000);
    const debit = await key.hold();
    world.pass(121_000);
    await returnExpiredHolds(world.db, world.now());
    await expect(key.buy(debit)).rejects.toThrow("was returned before it bought anything");
    expect([await key.balance(), await live()]).toEqual([5_000, []]);
  });

  test("under the same Idempotency-Key a day later is another purchase", async () => {
    const key = await keyWith(5_000);
    const first = await key.hold();
    await key.buy(first);
    world.pass(DAY_MS + 1);
    const second = await key.hold();
    await key.buy(second);
    expect([second === first, await key.balance()]).toEqual([false, 1_000]);
  });
});

describe("a subscription", () => {
  const due = async () => {
    const found = await readDueEvents(world.db, { now: world.now(), perEndpoint: 9, limit: 9 });
    return found.length;
  };
  const drop = () => dropEventsOfEnded(world.db, world.now());
  const tell = async ({ id, endpointId }: StoredSubscription, name: string) => {
    await world.query(
      `insert into ahs.webhook_event
         (id, endpoint_id, subscription_id, type, dedupe_key, body, state, attempts, not_before, created_at)
       values ($1, $2, $3, 'ahs.sanctions_hit', $1, '{}', 'pending', 1, $4, $4)`,
      [name, endpointId, id, world.now()],
    );
  };

  test("that is ended sends no more events, and ending it again leaves the time as it is", async () => {
    const { subscription } = await world.buy();
    await end(world.deps, subscription.id);
    expect(await live()).toEqual([]);
    expect(await world.events()).toMatchObject([{ state: "dropped" }]);
    await tell(subscription, "late");
    expect([await due(), await drop()]).toEqual([0, 1]);
    const endedAt = world.now();
    world.pass(DAY_MS);
    await end(world.deps, subscription.id);
    const found = await readSubscription(world.db, { chainId: 31_337, id: subscription.id });
    expect(found?.endedAt).toEqual(endedAt);
  });

  test("of another chain is unknown", async () => {
    const { subscription } = await world.buy();
    expect(await readSubscription(world.db, { chainId: 1, id: subscription.id })).toBeNull();
  });

  test("that expired still gets the events from before, for as long as attempts go on", async () => {
    const { subscription } = await world.buy();
    await attempt(204);
    world.pass(30 * DAY_MS - 60_000);
    await tell(subscription, "before");
    world.pass(60_000);
    await tell(subscription, "after");
    expect([await due(), await drop()]).toEqual([1, 1]);
    world.pass(3 * DAY_MS - 1);
    expect([await due(), await drop()]).toEqual([1, 0]);
    world.pass(1);
    expect([await due(), await drop()]).toEqual([0, 1]);
    expect((await world.events()).map(({ id, state }) => [id, state]).slice(1)).toEqual([
      ["before", "dropped"],
      ["after", "dropped"],
    ]);
  });

  test("is signed by both secrets for 24 hours after a rotation", async () => {
    const { subscription, secret } = await world.buy();
    const rotated = await rotate(world.deps, subscription, "keep-token");
    expect(rotated).toMatchObject({
      manageToken: null,
      previousValidUntil: new Date(world.now().getTime() + DAY_MS),
    });
    const pending = () => lease(subscription.endpointId);
    expect(await pending()).toMatchObject({ secret: rotated.secret, previousSecret: secret });
    world.pass(DAY_MS);
    expect(await pending()).toMatchObject({ secret: rotated.secret, previousSecret: null });
  });

  test("rotated twice within 24 hours says that the oldest secret signs no more", async () => {
    const { subscription } = await world.buy();
    const first = await rotate(world.deps, subscription, "keep-token");
    expect(first.olderSecretEnded).toBe(false);
    world.pass(DAY_MS - 1);
    const second = await rotate(world.deps, subscription, "keep-token");
    expect(second).toMatchObject({
      olderSecretEnded: true,
      previousValidUntil: new Date(world.now().getTime() + DAY_MS),
    });
    const pending = await lease(subscription.endpointId);
    expect(pending).toMatchObject({ secret: second.secret, previousSecret: first.secret });
    world.pass(DAY_MS);
    expect((await rotate(world.deps, subscription, "keep-token")).olderSecretEnded).toBe(false);
  });

  test("has a new manage token where its owner asks for one with the rotation", async () => {
    const { subscription, manageToken } = await world.buy();
    const rotated = await rotate(world.deps, subscription, "new-token");
    const found = await readSubscription(world.db, { chainId: 31_337, id: subscription.id });
    expect(found?.manageTokenHash).toBe(hashManageToken(rotated.manageToken ?? ""));
    expect(found?.manageTokenHash).not.toBe(hashManageToken(manageToken ?? ""));
  });

  const pendingEvents = async () => (await world.events()).filter(({ state }) => state === "pending").length;

  test("is tested once a minute, whether the endpoint answers or not", async () => {
    const { subscription } = await world.buy();
    await attempt(204);
    const { id } = await requestTest(world.deps, subscription);
    world.pass(1_000);
    expect(await requestTest(world.deps, subscription)).toEqual({ id, outcome: "pending" });
    expect(await pendingEvents()).toBe(1);
    await attempt(204);
    expect(await requestTest(world.deps, subscription)).toEqual({ id, outcome: "recent" });
    expect(await pendingEvents()).toBe(0);
    world.pass(60_000);
    expect((await requestTest(world.deps, subscription)).id).not.toBe(id);
    expect(await pendingEvents()).toBe(1);
  });

  test("has an event replayed once a minute", async () => {
    const { subscription } = await world.buy();
    const [event] = await world.events();
    const again = () => replay(world.deps, subscription, event?.id ?? "");
    await attempt(204);
    expect([await again(), await pendingEvents()]).toEqual(["recent", 0]);
    world.pass(60_000);
    expect([await again(), await again(), await pendingEvents()]).toEqual(["queued", "pending", 1]);
    await attempt(204);
    world.pass(59_999);
    expect([await again(), await pendingEvents()]).toEqual(["recent", 0]);
  });

  test("whose endpoint was given up is delivered to again after a test or a replay", async () => {
    const { subscription } = await world.buy();
    await attempt(410);
    const given = () => readSubscription(world.db, { chainId: 31_337, id: subscription.id });
    expect(await given()).toMatchObject({ disabledReason: "The endpoint answered 410." });
    const [failed] = await world.events();
    world.pass(60_000);
    expect(await replay(world.deps, subscription, failed?.id ?? "")).toBe("queued");
    expect(await given()).toMatchObject({ disabledAt: null, disabledReason: null });
    expect(await replay(world.deps, subscription, failed?.id ?? "")).toBe("pending");
    await attempt(410);
    await requestTest(world.deps, subscription);
    expect(await given()).toMatchObject({ disabledAt: null });
  });

  test("replays nothing of another subscription", async () => {
    await world.buy();
    const other = await world.buy({ owner: "key:two" });
    const [event] = (await world.events()).filter((one) => one.subscription_id !== other.subscription.id);
    expect(await replay(world.deps, other.subscription, event?.id ?? "")).toBe("unknown");
  });

  test("keeps its events readable for 30 days, newest first, in pages", async () => {
    const { subscription } = await world.buy();
    await attempt(204);
    for (let minute = 0; minute < 3; minute += 1) {
      world.pass(60_000);
      await requestTest(world.deps, subscription);
    }
    const all = await readDeliveries(world.db, subscription.id, { limit: 10, after: null });
    expect(all.map(({ state }) => state)).toEqual(["pending", "pending", "pending", "delivered"]);
    expect(all.at(-1)).toMatchObject({
      type: "subscription.test",
      deliveredAt: new Date("2026-11-20T10:00:00.000Z"),
      nextAttemptAt: null,
      attempts: [{ at: new Date("2026-11-20T10:00:00.000Z"), status: 204, latencyMs: 5, failure: null }],
    });
    const first = await readDeliveries(world.db, subscription.id, { limit: 2, after: null });
    const second = await readDeliveries(world.db, subscription.id, {
      limit: 2,
      after: first.at(-1)?.id ?? "",
    });
    expect([...first, ...second]).toEqual(all);
    expect(await readDeliveries(world.db, subscription.id, { limit: 2, after: "msg_other" })).toEqual([]);
  });

  test("is forgotten with its events 30 days after it ended, and not before", async () => {
    const { subscription } = await world.buy();
    await attempt(204);
    await world.buy({ owner: "key:two", webhookUrl: "https://hooks.example.com/b" });
    await end(world.deps, subscription.id);
    const sweep = async () => {
      const before = new Date(world.now().getTime() - 30 * DAY_MS);
      return [await sweepEvents(world.db, before), await sweepSubscriptions(world.db, before)];
    };
    world.pass(29 * DAY_MS);
    expect(await sweep()).toEqual([0, 0]);
    world.pass(2 * DAY_MS);
    // The other one's event still waits.
    expect(await sweep()).toEqual([1, 1]);
    world.pass(2 * DAY_MS);
    await dropEventsOfEnded(world.db, world.now());
    expect(await sweep()).toEqual([1, 0]);
    world.pass(30 * DAY_MS);
    expect(await sweep()).toEqual([0, 1]);
    expect(
      await world.query("select 1 from ahs.webhook_endpoint union all select 1 from ahs.webhook_attempt"),
    ).toEqual([]);
  });
});
