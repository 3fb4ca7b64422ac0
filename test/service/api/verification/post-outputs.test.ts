import { randomUUID } from "node:crypto";
import type { Hex } from "viem";
import { afterEach, describe, expect, it } from "vitest";
import { hashText } from "../../../../service/verification/panel/hashes.ts";
import { panelBudget } from "../../../support/panel-budget.ts";
import { useDatabase } from "../../../support/test-database.ts";
import {
  boundTo,
  CLIENT,
  clearIntake,
  ESCROW,
  intakeWorld,
  ledgerOf,
  outputBody,
  PROVIDER,
  type Submitted,
} from "./intake-world.ts";

const db = useDatabase();
afterEach(() => clearIntake(db));

const read = async (response: Response) => (await response.json()) as Submitted;
const typeOf = async (response: Response) => ((await response.json()) as { type: string }).type;

async function verdictRow(id: string) {
  const { rows } = await db.$client.query(
    `select slot, owner, units, status, provider_addr, job_id::text, debit_id, payment_id, lease_until,
       accepted_at is not null as accepted,
       run_tokens, stake_micro_usd::text, expires_at from ahs.verdict where id = $1`,
    [id],
  );
  return rows[0];
}

describe("POST /v1/outputs by key", () => {
  it("queues one verdict for half a dollar, with what pays for it", async () => {
    const world = intakeWorld(db);
    const { id, headers } = await world.key();
    const response = await world.submit(await world.output(), headers);
    const { verdict_id, ...rest } = await read(response);
    expect([response.status, rest]).toEqual([200, { status: "pending" }]);
    expect(await verdictRow(verdict_id)).toMatchObject({
      status: "pending",
      owner: `key:${id}`,
      units: 500,
      accepted: true,
      lease_until: null,
      debit_id: expect.any(String),
      payment_id: null,
    });
    expect(await ledgerOf(db)).toMatchObject({ captured: 1, accepted: 1, texts: 1 });
  });

  it("answers a posted output's verdict again, uncharged, to any caller that could pay", async () => {
    const world = intakeWorld(db);
    const output = await world.output();
    const first = await read(await world.submit(output, (await world.key()).headers));
    const again = await read(await world.submit(output, (await world.key()).headers));
    const paid = await read(await world.submit(output, (await world.payment(output)).headers));
    expect([again, paid]).toEqual([first, first]);
    expect(await ledgerOf(db)).toMatchObject({ captured: 1, settled: 0, reserved: 0, accepted: 1 });
    expect((await world.submit(output)).status).toBe(402);
  });

  it("is free for an unlimited key, and leaves nothing of a request that died", async () => {
    const world = intakeWorld(db, {
      outputs: () => ({ activate: () => Promise.reject(new Error()) }),
    });
    const { headers } = await world.key(null);
    const output = await world.output();
    expect((await world.submit(output, headers)).status).toBe(500);
    expect(await ledgerOf(db)).toMatchObject({ accepted: 0, unsettled: 0, texts: 0 });
    const alive = intakeWorld(db);
    expect((await alive.submit(output, headers)).status).toBe(200);
    expect(await ledgerOf(db)).toMatchObject({ accepted: 1, captured: 0 });
  });

  it("answers a repeat under its Idempotency-Key without the secret, and refuses another output under it", async () => {
    const world = intakeWorld(db);
    const { headers } = await world.key();
    const named = { ...headers, "Idempotency-Key": "submit-1" };
    const output = await world.output({ webhook_url: "https://hooks.example.com/v" });
    const first = await read(await world.submit(output, named));
    expect(first.webhook_secret).toMatch(/^whsec_/);
    expect(await read(await world.submit(output, named))).toEqual({ ...first, webhook_secret: null });
    expect((await world.submit(await world.output(), named)).status).toBe(422);
    expect(await ledgerOf(db)).toMatchObject({ captured: 1, accepted: 1, endpoints: 1 });
    const { rows } = await db.$client.query(
      "select convert_from(answer_body, 'UTF8') as body from ahs.idempotent_answer where answer_body is not null",
    );
    expect(JSON.stringify(rows)).not.toContain("whsec_");
  });

  it("hides the first poster's webhook from a later one", async () => {
    const world = intakeWorld(db);
    const output = await world.output({ webhook_url: "https://hooks.example.com/v" });
    await world.submit(output, (await world.key()).headers);
    const later = await read(await world.submit(output, (await world.key()).headers));
    expect(later.webhook_secret).toBeNull();
    expect(await ledgerOf(db)).toMatchObject({ endpoints: 1 });
  });

  it("does not ask the panel's settings for a verdict that is there", async () => {
    const world = intakeWorld(db);
    const output = await world.output();
    const first = await read(await world.submit(output, (await world.key()).headers));
    const idle = intakeWorld(db, { budget: null });
    expect(await read(await idle.submit(output, (await idle.key()).headers))).toEqual(first);
  });
});

describe("a free refusal:", () => {
  const spent = (used: number) => ({ budget: panelBudget({ tokensPerDay: 10, used }) });

  it.each([
    ["an unknown specification", {}, { spec_id: randomUUID() }, 404, "not-found"],
    ["no panel", { budget: null }, {}, 503, "panel-not-configured"],
    ["a spent budget", spent(10), {}, 503, "panel-budget-spent"],
    ["a budget of which the share of jobs is left", spent(8), {}, 503, "panel-budget-spent"],
  ] as const)("%s", async (_name, options, changes, status, code) => {
    const world = intakeWorld(db, options);
    const { headers } = await world.key();
    const output = await world.output(changes);
    const response = await world.submit(output, headers);
    expect([response.status, await typeOf(response)]).toEqual([status, `/docs#problem-${code}`]);
    expect(await ledgerOf(db)).toMatchObject({ held: 0, captured: 0, accepted: 0, unsettled: 0 });
  });

  it("an unknown specification, without a credential as well", async () => {
    const world = intakeWorld(db);
    expect((await world.submit(await world.output({ spec_id: randomUUID() }), {})).status).toBe(404);
  });

  it("a caller without a credential, who gets the price without a read of the day's calls", async () => {
    const readDay = () => Promise.reject(new Error("asked without a payer"));
    const world = intakeWorld(db, { budget: { ...panelBudget(), readDay } });
    expect((await world.submit(await world.output(), {})).status).toBe(402);
  });

  it("a webhook that the guard refuses, before any charge", async () => {
    const world = intakeWorld(db, {
      refuseUrl: async () => ({ kind: "refused", error: "it leads inside" }),
    });
    const output = await world.output({ webhook_url: "https://10.0.0.1/" });
    const response = await world.submit(output, (await world.key()).headers);
    expect([response.status, await response.json()]).toEqual([
      422,
      {
        detail: [
          {
            type: "value_error",
            loc: ["body", "webhook_url"],
            msg: "Value error, it leads inside",
            input: "https://10.0.0.1/",
            ctx: { error: "it leads inside" },
          },
        ],
      },
    ]);
    expect(await ledgerOf(db)).toMatchObject({ held: 0, captured: 0, unsettled: 0, endpoints: 0 });
  });

  it("a specification whose texts are gone", async () => {
    const world = intakeWorld(db);
    const output = await world.output();
    await db.$client.query("update ahs.job_spec set spec_text = null");
    const response = await world.submit(output, (await world.key()).headers);
    expect([response.status, await typeOf(response)]).toEqual([410, "/docs#problem-texts-dropped"]);
  });

  it("a caller without credentials, and a payment that does not pass verification: neither leaves a row", async () => {
    const asked: string[] = [];
    const world = intakeWorld(db, {
      bind: async () => {
        asked.push("bind");
        return boundTo(7n);
      },
      refuseUrl: async () => {
        asked.push("url");
        return null;
      },
    });
    const output = outputBody(await world.registered({ erc8183_job_id: "0x7", escrow: ESCROW }), {
      webhook_url: "https://hooks.example.com/",
    });
    expect((await world.submit(output)).status).toBe(402);
    expect(asked).toEqual([]);
    const { headers } = await world.payment(output);
    world.desk.answers.verify = { kind: "invalid", reason: "insufficient_funds" };
    expect((await world.submit(output, headers)).status).toBe(402);
    expect(await ledgerOf(db)).toMatchObject({ accepted: 0, unsettled: 0, texts: 0, reserved: 0 });
  });

  it("a key whose balance does not reach", async () => {
    const world = intakeWorld(db);
    expect((await world.submit(await world.output(), (await world.key(499)).headers)).status).toBe(402);
    expect(await ledgerOf(db)).toMatchObject({ unsettled: 0, texts: 0, held: 0 });
  });
});

describe("the slot of an output", () => {
  const jobSpec = { erc8183_job_id: "0x7", escrow: ESCROW };

  it("is the job's and the deliverable's where the specification is bound, whatever specification names it", async () => {
    const world = intakeWorld(db, { bind: async () => boundTo(7n) });
    const [one, other] = [
      await world.registered(jobSpec),
      await world.registered({ ...jobSpec, domain: "code" }),
    ];
    const output = outputBody(one);
    const first = await read(await world.submit(output, (await world.key()).headers));
    const second = await read(await world.submit({ ...output, spec_id: other }, (await world.key()).headers));
    expect(second.verdict_id).toBe(first.verdict_id);
    expect(await verdictRow(first.verdict_id)).toMatchObject({
      slot: expect.stringMatching(new RegExp(`^job:31337:${ESCROW.toLowerCase()}:7:0x[0-9a-f]{64}$`)),
      job_id: "7",
      provider_addr: PROVIDER.toLowerCase(),
    });
  });

  it("is never taken by a specification that is not bound", async () => {
    const squatter = intakeWorld(db);
    const lenient = await squatter.registered(jobSpec);
    const output = outputBody(lenient);
    const squat = await read(await squatter.submit(output, (await squatter.key()).headers));
    const client = intakeWorld(db, { bind: async () => boundTo(7n) });
    const genuine = { ...output, spec_id: await client.registered(jobSpec) };
    const own = await read(await client.submit(genuine, (await client.key()).headers));
    expect(own.verdict_id).not.toBe(squat.verdict_id);
    expect(await verdictRow(squat.verdict_id)).toMatchObject({
      slot: expect.stringMatching(`^spec:${lenient}:0x`),
      job_id: null,
    });
  });

  it("is stored with what its run takes, what the job is worth and when it ends", async () => {
    const world = intakeWorld(db, {
      bind: async () => boundTo(7n),
      outputs: () => ({
        measure: () => ({ runTokens: 70, overflow: null }),
        readStake: async (job) => (job?.jobId === 7n ? 5_000_000n : null),
      }),
    });
    const output = outputBody(await world.registered(jobSpec));
    const { verdict_id } = await read(await world.submit(output, (await world.key()).headers));
    expect(await verdictRow(verdict_id)).toMatchObject({
      ...{ run_tokens: 70, stake_micro_usd: "5000000" },
      expires_at: new Date(0),
    });
  });

  it("is judged from the tokens of the day that are reserved for jobs", async () => {
    const budget = panelBudget({ used: 700 });
    const world = intakeWorld(db, { bind: async () => boundTo(7n), budget });
    const output = outputBody(await world.registered(jobSpec));
    expect((await world.submit(output, (await world.key()).headers)).status).toBe(200);
    const spent = panelBudget({ used: 1_000 });
    const late = intakeWorld(db, { bind: async () => boundTo(8n), budget: spent });
    const refused = await late.submit(outputBody(await late.registered(jobSpec)), (await late.key()).headers);
    expect([refused.status, await typeOf(refused)]).toEqual([503, "/docs#problem-panel-budget-spent"]);
  });

  it("refuses an output of an escrow whose code has changed, and charges nothing", async () => {
    const world = intakeWorld(db, {
      bind: async () => ({ kind: "suspended", reason: "its code hashes to 0x" }),
    });
    const output = outputBody(await world.registered(jobSpec));
    for (const { headers } of [await world.key(), await world.payment(output)]) {
      const refused = await world.submit(output, headers);
      expect([refused.status, refused.headers.get("retry-after"), await typeOf(refused)]).toEqual([
        503,
        "600",
        "/docs#problem-escrow-suspended",
      ]);
    }
    expect(await ledgerOf(db)).toMatchObject({ held: 0, captured: 0, settled: 0 });
  });

  it("refuses a provider who is not the bound job's", async () => {
    const world = intakeWorld(db, { bind: async () => boundTo(7n) });
    const output = outputBody(await world.registered(jobSpec), { provider_addr: CLIENT });
    const response = await world.submit(output, (await world.key()).headers);
    expect([response.status, await response.json()]).toMatchObject([
      422,
      {
        detail: [
          {
            type: "value_error",
            loc: ["body", "provider_addr"],
            ctx: { error: expect.stringContaining(PROVIDER) },
          },
        ],
      },
    ]);
    expect(await ledgerOf(db)).toMatchObject({ held: 0, captured: 0 });
  });

  it("refuses an output that cannot be judged beside its specification, and charges nothing", async () => {
    const reason = "too long for the models";
    const world = intakeWorld(db, {
      outputs: () => ({ measure: () => ({ runTokens: 9, overflow: reason }) }),
    });
    const output = outputBody(await world.registered());
    for (const { headers } of [await world.key(), await world.payment(output)]) {
      const response = await world.submit(output, headers);
      expect([response.status, await response.json()]).toMatchObject([
        422,
        { detail: [{ type: "value_error", loc: ["body", "output_text"], ctx: { error: reason } }] },
      ]);
    }
    expect(await ledgerOf(db)).toMatchObject({ held: 0, captured: 0, settled: 0 });
  });

  it.each([
    ["nothing was submitted to the job yet", null, "job-not-submitted", "5"],
    ["something else was submitted", `0x${"dd".repeat(32)}`, "deliverable-differs", null],
  ] as const)("takes no output while %s, and charges nothing", async (_, deliverable, code, retryAfter) => {
    const world = intakeWorld(db, {
      bind: async () => boundTo(7n),
      readDeliverable: async () => deliverable,
    });
    const output = outputBody(await world.registered(jobSpec));
    const payment = await world.payment(output);
    for (const { headers } of [await world.key(), payment]) {
      const response = await world.submit(output, headers);
      expect([response.status, response.headers.get("retry-after"), await typeOf(response)]).toEqual([
        409,
        retryAfter,
        `/docs#problem-${code}`,
      ]);
    }
    expect(await ledgerOf(db)).toMatchObject({
      held: 0,
      captured: 0,
      reserved: 0,
      accepted: 0,
      unsettled: 0,
    });
  });

  it("answers its verdict even after a reorganisation took the submission back", async () => {
    let deliverable: Hex | null = null;
    const world = intakeWorld(db, {
      bind: async () => boundTo(7n),
      readDeliverable: async () => deliverable,
    });
    const output = outputBody(await world.registered(jobSpec));
    deliverable = hashText(output.output_text);
    const first = await read(await world.submit(output, (await world.key()).headers));
    deliverable = null;
    expect(await read(await world.submit(output, (await world.key()).headers))).toEqual(first);
  });

  it("goes to the next submission by another account, charged anew, once a job's verdict failed", async () => {
    const world = intakeWorld(db, { bind: async () => boundTo(7n) });
    const output = outputBody(await world.registered(jobSpec));
    const submitter = await world.key();
    const first = await read(await world.submit(output, submitter.headers));
    await db.$client.query("update ahs.verdict set status = 'failed'");
    expect(await read(await world.submit(output, submitter.headers))).toEqual({ ...first, status: "failed" });
    const payment = await world.payment(output);
    const second = await read(await world.submit(output, payment.headers));
    expect(second).toMatchObject({ status: "pending" });
    expect(second.verdict_id).not.toBe(first.verdict_id);
    expect(await ledgerOf(db)).toMatchObject({ captured: 1, settled: 1 });
    const newest = { verdict_id: second.verdict_id, status: "pending" };
    expect(await read(await world.submit(output, submitter.headers))).toEqual(newest);
  });

  it("differs between jobs with the same output", async () => {
    let job = 7n;
    const world = intakeWorld(db, { bind: async () => boundTo(job) });
    const output = outputBody(await world.registered(jobSpec));
    const first = await read(await world.submit(output, (await world.key()).headers));
    job = 8n;
    const second = await read(await world.submit(output, (await world.key()).headers));
    expect(second.verdict_id).not.toBe(first.verdict_id);
  });

  it("asks no node where the specification names no escrow", async () => {
    const world = intakeWorld(db, { bind: () => Promise.reject(new Error("asked")) });
    const output = outputBody(await world.registered({ erc8183_job_id: "0x7" }));
    expect((await world.submit(output, (await world.key()).headers)).status).toBe(200);
  });

  it("goes to the next submission, charged anew, once its verdict failed past its third retry", async () => {
    const world = intakeWorld(db);
    const output = await world.output();
    const first = await read(await world.submit(output, (await world.key()).headers));
    const fail = (retries: number) =>
      db.$client.query("update ahs.verdict set status = 'failed', retries = $1", [retries]);
    await fail(2);
    expect(await read(await world.submit(output, (await world.key()).headers))).toEqual({
      verdict_id: first.verdict_id,
      status: "failed",
    });
    await fail(3);
    const second = await read(await world.submit(output, (await world.key()).headers));
    expect([second.verdict_id === first.verdict_id, second.status]).toEqual([false, "pending"]);
    const { rows } = await db.$client.query(
      "select id, replaced_at is not null as replaced from ahs.verdict order by created_at",
    );
    expect(rows).toEqual([
      { id: first.verdict_id, replaced: true },
      { id: second.verdict_id, replaced: false },
    ]);
    expect(await ledgerOf(db)).toMatchObject({ captured: 2 });
  });
});
