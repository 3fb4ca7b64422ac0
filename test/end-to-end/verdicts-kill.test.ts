import { beforeAll, expect, test } from "vitest";
import { type ScriptedModel, startScriptedModel } from "../../devnet/scripted-model/start-scripted-model.ts";
import { type Receiver, startReceiver } from "../service/alerts/receiver.ts";
import type { Script } from "../support/anvil-testkit/script.ts";
import { useTestkit } from "../support/anvil-testkit/testkit.ts";
import { createTestKey, readBalance } from "../support/test-keys.ts";
import { until } from "../support/until.ts";

const OUTPUTS = 60;
/** An owner has few outputs waiting. */
const OWNERS = 10;
/** How many verdicts are there when the worker is killed. */
const KILLED_AT = [6, 20, 36] as const;
const AT_ONCE = 5;
const BALANCE = 1_000_000;
const PRICE = 500;
const ROLES = 6;
const PARTY = `0x${"c1".repeat(20)}`;

const kit = useTestkit();
let model: ScriptedModel;
let receiver: Receiver;
let own: { readonly env: Record<string, string> };
beforeAll(async () => {
  [model, receiver] = await Promise.all([startScriptedModel({ chainId: 31_337 }), startReceiver()]);
  kit.onClose(model.stop);
  kit.onClose(receiver.close);
  const panel = {
    PANEL_BASE_URL: model.baseUrl,
    PANEL_MODEL: model.model,
    PANEL_AT_ONCE: String(AT_ONCE),
    PANEL_EARLY_STOP: "0",
  };
  own = { env: { ...panel, PROBE_LOOPBACK: "1", HISTORY_SOURCE: "none" } };
});

test("60 paid outputs with the worker killed three times end in 60 verdicts, charges and events", async () => {
  const server = await kit.startServer(own);
  const keys = await Promise.all(Array.from({ length: OWNERS }, () => createTestKey(kit.db, BALANCE)));
  const call = async (path: string, body: object, owner = 0): Promise<Record<string, string>> => {
    const answer = await fetch(server.baseUrl + path, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": keys[owner]?.secret ?? "" },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${text}`);
    return JSON.parse(text);
  };
  await fetch(`${model.origin}/scripted/behaviour`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ slow_ms: 100 }),
  });
  const { spec_id } = await call("/v1/specs", {
    client_addr: PARTY,
    spec_text: "Name three rivers of Europe.",
    acceptance_criteria: "1. Names three rivers of Europe",
    domain: "content",
  });
  let worker: Script = kit.startWorker(own);
  const posting = Promise.all(
    Array.from({ length: OUTPUTS }, (_, place) =>
      call(
        "/v1/outputs",
        {
          spec_id,
          output_text: `Three rivers of Europe that this names: Rhine, Elbe, Oder; note ${place}.`,
          submitter_addr: PARTY,
          provider_addr: PARTY,
          webhook_url: `${receiver.baseUrl}/hook`,
        },
        place % OWNERS,
      ),
    ),
  );
  for (const count of KILLED_AT) {
    await completed(count);
    await worker.kill();
    expect(await countOf("select count(*) from ahs.verdict where status = 'processing'")).toBeGreaterThan(0);
    worker = kit.startWorker(own);
  }
  const posted = await posting;
  await completed(OUTPUTS);

  expect(new Set(posted.map(({ verdict_id }) => verdict_id)).size).toBe(OUTPUTS);
  await expectOneDecisionEach();
  expect(await countOf("select count(*) from ahs.key_debit where state = 'kept'")).toBe(OUTPUTS);
  expect(await countOf("select count(*) from ahs.key_debit")).toBe(OUTPUTS);
  const balances = await Promise.all(keys.map(({ id }) => readBalance(kit.db, id)));
  expect(balances).toEqual(keys.map(() => BALANCE - (OUTPUTS / OWNERS) * PRICE));
  await expectFewAnswersLost();
  await expectEventsDeliveredOnce();
});

async function countOf(query: string): Promise<number> {
  const { rows } = await kit.db.$client.query(query);
  return Number(rows[0].count);
}

async function completed(wanted: number): Promise<void> {
  await until({ what: `${wanted} verdicts`, timeoutMs: 170_000 }, async () => {
    const there = await countOf("select count(*) from ahs.verdict where status = 'completed'");
    return there >= wanted ? true : null;
  });
}

async function expectOneDecisionEach(): Promise<void> {
  const { rows } = await kit.db.$client.query(
    `select v.status, v.runs, v.final_verdict, count(r.run)::int as decisions
     from ahs.verdict v join ahs.verdict_run r on r.verdict_id = v.id group by v.id`,
  );
  expect(rows).toEqual(
    Array.from({ length: OUTPUTS }, () => ({
      status: "completed",
      runs: 1,
      final_verdict: "ALLOW",
      decisions: 1,
    })),
  );
}

/** Every role of every verdict answered once; what else the model was asked was on its way when a worker died. */
async function expectFewAnswersLost(): Promise<void> {
  expect(await countOf("select count(*) from ahs.role_call")).toBe(OUTPUTS * ROLES);
  const answer = await fetch(`${model.origin}/scripted/calls`);
  const { roles } = (await answer.json()) as { roles: Record<string, { calls: number }> };
  const asked = Object.values(roles).reduce((sum, { calls }) => sum + calls, 0);
  expect(asked - OUTPUTS * ROLES).toBeLessThanOrEqual(KILLED_AT.length * AT_ONCE * 4);
}

async function expectEventsDeliveredOnce(): Promise<void> {
  await until({ what: "every event is delivered" }, async () => {
    const waiting = await countOf("select count(*) from ahs.webhook_event where state <> 'delivered'");
    return waiting === 0 ? true : null;
  });
  expect(await countOf("select count(*) from ahs.webhook_event")).toBe(OUTPUTS);
  const delivered = new Set(receiver.at("/hook").map(({ headers }) => headers["webhook-id"]));
  expect(delivered.size).toBe(OUTPUTS);
}
