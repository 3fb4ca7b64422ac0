import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { readDueEvents } from "../../../service/alerts/webhook-events.ts";
import { type AlertWorld, createAlertWorld } from "./alert-world.ts";

const ENDPOINTS = 50;
const WAITING = 5_000;

type Plan = {
  readonly "Relation Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly Plans?: readonly Plan[];
};

let world: AlertWorld;
beforeEach(async () => {
  world = await createAlertWorld();
});
afterEach(() => world.close());

test("finds due events without reading those that wait for a retry, however many there are", async () => {
  await queueRetries();
  await world.query("update ahs.webhook_event set not_before = $1 where id = 'msg_1'", [world.now()]);
  await world.query("vacuum analyze ahs.webhook_event");
  const asked = vi.spyOn(world.db.$client, "query");
  const due = await readDueEvents(world.db, { now: world.now(), perEndpoint: 8, limit: 10 });
  const [text, values] = asked.mock.lastCall as unknown as [string, unknown[]];
  asked.mockRestore();
  expect(due).toMatchObject([{ id: "msg_1", isFailing: true }]);
  const [row] = await world.query(`explain (analyze, format json) ${text}`, values);
  expect(rowsRead(row["QUERY PLAN"][0].Plan)).toBeLessThan(10);
});

/** Events of endpoints that answer, all of which failed once and wait for their next attempt. */
async function queueRetries(): Promise<void> {
  await world.query(
    `insert into ahs.webhook_endpoint (id, url, secret, verified_at, created_at)
     select md5('endpoint ' || n)::uuid, 'https://hooks.example.com/', '', $1, $1 from generate_series(0, $2 - 1) n`,
    [world.now(), ENDPOINTS],
  );
  await world.query(
    `insert into ahs.webhook_event (id, endpoint_id, type, dedupe_key, body, state, attempts, not_before, created_at)
     select 'msg_' || n, md5('endpoint ' || n % $2)::uuid, 'verdict.completed', n::text, '{}', 'pending', 1,
       $1::timestamptz + interval '1 hour', $1 from generate_series(1, $3) n`,
    [world.now(), ENDPOINTS, WAITING],
  );
}

/** Rows that a plan took from the table of events or its indexes. */
function rowsRead(plan: Plan): number {
  const own = plan["Relation Name"] === "webhook_event" ? plan["Actual Rows"] * plan["Actual Loops"] : 0;
  return (plan.Plans ?? []).reduce((sum, part) => sum + rowsRead(part), own);
}
