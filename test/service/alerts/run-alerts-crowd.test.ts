import { afterEach, beforeEach, expect, test } from "vitest";
import type { AlertDeps } from "../../../service/alerts/run-alerts.ts";
import { createGuardedFetch } from "../../../service/net/guarded-fetch.ts";
import { until } from "../../support/until.ts";
import { type AlertWorld, createAlertWorld, startAlerts } from "./alert-world.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

const ENDPOINTS = 200;
/** After which an attempt at an endpoint that hangs is over: longer than a test takes, so that who waits for it is found out. */
const DEADLINE_MS = 300_000;
const PATIENCE_MS = 60_000;

let world: AlertWorld;
let receiver: Receiver;
let stop: () => Promise<void>;

beforeEach(async () => {
  world = await createAlertWorld(new Date());
  receiver = await startReceiver();
  for (const path of pathsOf(1))
    receiver.answer(
      path,
      Array.from({ length: 9 }, () => "hang" as const),
    );
  await subscribe();
});
afterEach(async () => {
  await stop();
  await receiver.close();
  await world.close();
});

function start(changes: Partial<AlertDeps> = {}): void {
  const fetch = createGuardedFetch({ resolve: async () => [], loopback: "allowed", deadlineMs: DEADLINE_MS });
  stop = startAlerts(world, { fetch, ...changes });
}

test("of 200 endpoints half hang: the others have their events before one of those is given up", async () => {
  start();
  await wave(1);
  await until({ what: "those that hang are asked as well", timeoutMs: PATIENCE_MS }, async () =>
    pathsOf(1).every((path) => receiver.at(path).length === 1) ? true : null,
  );
  expect(await ended()).toBe(0);
});

test("more endpoints are known to fail than there are places: those that answer still have theirs at once", async () => {
  await queue(0, { attempts: 1, every: 2 });
  const deliveries = {
    atOnce: 40,
    atOncePerHost: 1,
    atOncePerAccount: 2,
    busyMs: 10,
    idleMs: 20,
    restMs: 50,
  };
  start({ limits: { deliveries, upkeepMs: 50 } });
  await until({ what: "all of their places are taken", timeoutMs: PATIENCE_MS }, async () =>
    pathsOf(1).filter((path) => receiver.at(path).length > 0).length >= 10 ? true : null,
  );
  await wave(1);
  await wave(2);
  expect(await ended()).toBe(0);
  expect(Math.max(...[...pathsOf(0), ...pathsOf(1)].map((path) => receiver.most(path)))).toBe(1);
}, 240_000);

/** Paths of the endpoints that answer, or of those that hang. */
function pathsOf(odd: 0 | 1): string[] {
  return Array.from({ length: ENDPOINTS / 2 }, (_, index) => `/${2 * index + odd}`);
}

/** A subscription of an own owner for each endpoint, which has answered before. */
async function subscribe(): Promise<void> {
  await world.query(
    `with endpoint as (
       insert into ahs.webhook_endpoint (id, url, secret, verified_at, created_at)
       select md5('endpoint ' || n)::uuid, $1 || '/' || n, 'whsec_' || encode(sha256('s'), 'base64'), $2, $2
       from generate_series(0, $3 - 1) n)
     insert into ahs.alert_subscription
       (id, chain_id, wallet, owner, endpoint_id, events, manage_token_hash, purchases, expires_at, created_at)
     select md5('subscription ' || n)::uuid, 31337, '0x', 'key:' || n, md5('endpoint ' || n)::uuid, '{}', '', '{}',
       $2::timestamptz + interval '30 days', $2
     from generate_series(0, $3 - 1) n`,
    [receiver.baseUrl, world.now(), ENDPOINTS],
  );
}

/** Queues an event for every endpoint, and waits until all that answer have it. */
async function wave(number: number): Promise<void> {
  await queue(number, { attempts: 0, every: 1 });
  await until({ what: `wave ${number} is delivered`, timeoutMs: PATIENCE_MS }, async () =>
    pathsOf(0).every((path) => receiver.at(path).length === number) ? true : null,
  );
}

/** How many attempts at endpoints that hang are over. */
async function ended(): Promise<number> {
  const [row] = await world.query("select count(*)::int from ahs.webhook_attempt where status is null");
  return row.count;
}

/** Queues an event that is due for every endpoint, or for those that hang. */
async function queue(
  number: number,
  { attempts, every }: { readonly attempts: number; readonly every: 1 | 2 },
): Promise<void> {
  await world.query(
    `insert into ahs.webhook_event
       (id, endpoint_id, subscription_id, type, dedupe_key, body, state, attempts, not_before, created_at)
     select 'msg_' || $1 || '_' || n, md5('endpoint ' || n)::uuid, md5('subscription ' || n)::uuid, 'ahs.grade_changed',
       $1::text, '{}', 'pending', $4, $2, $2 from generate_series($5 - 1, $3 - 1, $5) n`,
    [number, world.now(), ENDPOINTS, attempts, every],
  );
}
