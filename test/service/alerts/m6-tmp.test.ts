import { expect, test } from "vitest";
import { execSync } from "node:child_process";
import { createAlertWorld } from "./alert-world.ts";
import { readDueEvents } from "../../../service/store/webhook-events.ts";

test("explain", async () => {
  const world = await createAlertWorld();
  const url = "https://x.example/";
  await world.query(`with endpoint as (insert into ahs.webhook_endpoint (id, url, secret, verified_at, created_at)
    select md5('endpoint ' || n)::uuid, 'x', 's', $1, $1 from generate_series(0, 19999) n)
    insert into ahs.alert_subscription (id, chain_id, wallet, owner, endpoint_id, events, manage_token_hash, purchases, expires_at, created_at)
     select md5('subscription ' || n)::uuid, 31337, '0x', 'key:' || n, md5('endpoint ' || n)::uuid, '{}', '', '{}',
       $1::timestamptz + interval '30 days', $1 from generate_series(0, 19999) n`, [world.now()]);
  await world.query(`insert into ahs.webhook_event (id, endpoint_id, subscription_id, type, dedupe_key, body, state, attempts, not_before, created_at)
     select 'msg_' || n, md5('endpoint ' || n % 20000)::uuid, md5('subscription ' || n % 20000)::uuid, 'ahs.grade_changed',
       n::text, '{}', 'pending', case when n = 0 then 0 else 1 end, case when n = 0 then $1::timestamptz else $1 + interval '1 hour' end, $1 from generate_series(0, 200000) n`, [world.now()]);
  await world.query("vacuum analyze ahs.webhook_event"); await world.query("analyze ahs.alert_subscription"); await world.query("analyze ahs.webhook_endpoint");
  const asked: [string, unknown[]][] = [];
  const spy = { $client: { query: async (t: string, v: unknown[]) => { asked.push([t, v]); return world.db.$client.query(t, v); } } } as never;
  const out: string[] = [];
  const measure = async (what: string, now: Date) => {
    asked.length = 0;
    const due = await readDueEvents(spy, { now, perEndpoint: 8, limit: 4096 });
    const [text, values] = asked[0]!;
    const rows = await world.query("explain (analyze, buffers) " + text, values);
    out.push(what, String(due.length), due.filter((d) => d.isFailing).length + " failing", ...rows.map((r: any) => r["QUERY PLAN"]));
  };
  await measure("one due", world.now());
  await measure("all due", new Date(world.now().getTime() + 7200000));
  (await import("node:fs")).writeFileSync("/tmp/m6/explain.txt", out.join("\n"));
  await world.close();
}, 120000);
