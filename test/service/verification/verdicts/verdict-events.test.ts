import { randomUUID } from "node:crypto";
import pino from "pino";
import { Registry } from "prom-client";
import { Webhook } from "standardwebhooks";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createAlertMetrics } from "../../../../service/alerts/metrics.ts";
import { runAlerts } from "../../../../service/alerts/run-alerts.ts";
import { readDueEvents } from "../../../../service/alerts/webhook-events.ts";
import { readVerdictDeliveries, readWebhookQueue } from "../../../../service/alerts/webhook-log.ts";
import { createGuardedFetch } from "../../../../service/net/guarded-fetch.ts";
import {
  notifyOfVerdict,
  type VerdictNews,
  verdictEvent,
} from "../../../../service/verification/verdicts/verdict-events.ts";
import { type Receiver, startReceiver } from "../../alerts/receiver.ts";
import { createVerdictWorld, type VerdictWorld } from "./verdict-world.ts";

const HASH = `0x${"44".repeat(32)}` as const;
const AT = new Date("2026-11-20T10:00:00.000Z");
const ID = "11111111-1111-4111-8111-111111111111";
const ENDPOINT = "22222222-2222-4222-8222-222222222222";
const decision = (run: number, verdict: "ALLOW" | "HOLD" | "REJECT"): VerdictNews => ({
  kind: "decided",
  run,
  cause: "submitted",
  decision: verdict,
  evidenceHash: HASH,
});
const FAILED: VerdictNews = { kind: "failed", message: "Too few answers.", retries: 1 };
const REVIEW_DUE: VerdictNews = {
  kind: "review_due",
  chainId: 31_337,
  escrow: "0x5fbdb2315678afecb367f032d93f642f64180aa3",
  jobId: 2n ** 200n,
  reviewBy: new Date("2026-11-27T04:00:00.000Z"),
  expiresAt: new Date("2026-11-29T10:00:00.000Z"),
};

describe("the event for an endpoint", () => {
  test.each([
    ["verdict.completed", decision(1, "ALLOW"), { final_verdict: "ALLOW", run: 1, cause: "submitted" }],
    ["verdict.completed", decision(2, "REJECT"), { final_verdict: "REJECT", run: 2 }],
    ["verdict.held", decision(1, "HOLD"), { final_verdict: "HOLD", status: "completed" }],
    ["verdict.failed", FAILED, { status: "failed", error_message: "Too few answers." }],
    [
      "verdict.review_due",
      REVIEW_DUE,
      {
        final_verdict: "HOLD",
        chain_id: 31_337,
        escrow: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
        job_id: `0x1${"0".repeat(50)}`,
        review_by: "2026-11-27T04:00:00.000Z",
        expires_at: "2026-11-29T10:00:00.000Z",
      },
    ],
  ])("%s %#", (type, news, data) => {
    const event = verdictEvent(news, { verdictId: ID, at: AT }, ENDPOINT);
    expect(event).toMatchObject({ type, endpointId: ENDPOINT, subscriptionId: null, state: "pending" });
    expect(event.id).toMatch(/^msg_[0-9a-f]{32}$/);
    expect(JSON.parse(event.body)).toMatchObject({
      type,
      timestamp: AT.toISOString(),
      data: { verdict_id: ID, ...data },
    });
  });

  test("has an id of its own for each decision, failure and retry, and the same for the same", () => {
    const news = [decision(1, "HOLD"), decision(2, "HOLD"), FAILED, { ...FAILED, retries: 2 }, REVIEW_DUE];
    const ids = (at: Date) => news.map((each) => verdictEvent(each, { verdictId: ID, at }, ENDPOINT).id);
    expect(new Set(ids(AT)).size).toBe(news.length);
    expect(ids(new Date())).toEqual(ids(AT));
  });
});

describe("delivery", () => {
  let world: VerdictWorld;
  let receiver: Receiver;
  beforeEach(async () => {
    // The public library refuses deliveries of another time.
    world = await createVerdictWorld(new Date());
    receiver = await startReceiver();
  });
  afterEach(async () => {
    await receiver.close();
    await world.close();
  });

  const tell = (verdictId: string, news: VerdictNews) =>
    world.db.transaction((tx) => notifyOfVerdict(tx, news, { verdictId, at: world.now() }));

  test("goes to an endpoint that was never tested, once however often it is reported, and is signed", async () => {
    const id = await world.add();
    await world.query("update ahs.webhook_endpoint set url = $1", [`${receiver.baseUrl}/hook`]);
    await tell(id, decision(1, "ALLOW"));
    await tell(id, decision(1, "ALLOW"));
    const stopping = new AbortController();
    const running = runAlerts(
      {
        db: world.db,
        fetch: createGuardedFetch({ resolve: async () => [], loopback: "allowed" }),
        metrics: createAlertMetrics(new Registry()),
        logger: pino({ level: "silent" }),
        now: world.now,
        monotonicMs: () => performance.now(),
        random: () => 0.5,
      },
      stopping.signal,
    );
    await expect
      .poll(() => world.query("select state from ahs.webhook_event"))
      .toEqual([{ state: "delivered" }]);
    stopping.abort();
    await running;
    expect(receiver.at("/hook")).toHaveLength(1);
    const [got] = receiver.at("/hook");
    const [endpoint] = await world.query<{ secret: string }>("select secret from ahs.webhook_endpoint");
    const body = new Webhook(endpoint?.secret ?? "").verify(got?.body ?? "", got?.headers ?? {});
    expect(body).toMatchObject({ type: "verdict.completed", data: { verdict_id: id } });
    const page = { limit: 5, after: null };
    expect(await readVerdictDeliveries(world.db, id, page)).toMatchObject([
      { type: "verdict.completed", state: "delivered", attempts: [{ status: 204, failure: null }] },
    ]);
    expect(await readVerdictDeliveries(world.db, await world.add(), page)).toEqual([]);
  });

  test("takes the turn of the verdict's owner, however many endpoints that one names", async () => {
    for (let count = 0; count < 3; count += 1) await tell(await world.add(), decision(1, "ALLOW"));
    const other = await world.add({ owner: "wallet:0x1" });
    await tell(other, decision(1, "ALLOW"));
    const due = await readDueEvents(world.db, { now: world.now(), perEndpoint: 8, limit: 2 });
    expect(new Set(due.map(({ owner }) => owner)).size).toBe(2);
    expect(await readWebhookQueue(world.db, new Date(world.now().getTime() + 2_000))).toEqual({
      depth: 4,
      lagSeconds: 2,
    });
  });

  test("is dropped for a disabled endpoint, and nothing is sent without an endpoint", async () => {
    const id = await world.add();
    await world.query("update ahs.webhook_endpoint set disabled_at = now(), disabled_reason = 'gone'");
    await tell(id, decision(1, "HOLD"));
    await tell(await world.add({ endpointId: null }), decision(1, "HOLD"));
    await tell(randomUUID(), decision(1, "HOLD"));
    expect(await world.query("select type, state from ahs.webhook_event")).toEqual([
      { type: "verdict.held", state: "dropped" },
    ]);
  });
});
