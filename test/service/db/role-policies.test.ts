import { randomBytes, randomUUID } from "node:crypto";
import pino from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Database } from "../../../service/db/database.ts";
import { quarantineItems, readQuarantine, releaseItems } from "../../../service/db/quarantine.ts";
import { ROW_POLICIES } from "../../../service/db/roles.ts";
import { enqueueSettlement } from "../../../service/sender/payments-sender.ts";
import { readGasSpent } from "../../../service/sender/sender-transactions.ts";
import { insertEvidence, noteFinal } from "../../../service/verification/verdicts/accept-evidence.ts";
import { acceptOutput, activateOutput } from "../../../service/verification/verdicts/accept-output.ts";
import { askRerun, queueRetry, takeForRetry } from "../../../service/verification/verdicts/rerun-verdict.ts";
import { recordReview } from "../../../service/verification/verdicts/review.ts";
import { runOne } from "../../../service/verification/verdicts/run-one.ts";
import { dropIntake } from "../../../service/verification/verdicts/settle-intake.ts";
import { insertSpec } from "../../../service/verification/verdicts/specs.ts";
import { leaseVerdicts } from "../../../service/verification/verdicts/verdict-queue.sql.ts";
import { openMigrated, urlForRole } from "../../support/test-database.ts";
import { decided } from "../verification/verdicts/a-decision.ts";
import {
  CHAIN_ID,
  CLIENT,
  createVerdictWorld,
  LEASE_MS,
  PROVIDER,
  type VerdictWorld,
} from "../verification/verdicts/verdict-world.ts";

const INSUFFICIENT_PRIVILEGE = "42501";
const ESCROW = `0x${"e5".repeat(20)}` as const;
const OF_JOB = { jobChainId: CHAIN_ID, jobEscrow: ESCROW, jobId: 7n };
const FACILITATOR = { chainId: CHAIN_ID, sender: `0x${"fa".repeat(20)}` } as const;
const TOKEN = `0x${"05".repeat(20)}` as const;

let world: VerdictWorld;
let serve: Database;
beforeAll(async () => {
  world = await createVerdictWorld();
  const { connectionString } = world.db.$client.options;
  serve = openMigrated(urlForRole(String(connectionString), "ahs_serve"));
});
afterAll(async () => {
  await serve.$client.end();
  await world.close();
});

/** How PostgreSQL answers a server: how many rows changed, or the code of its refusal. */
const attempt = (text: string, values: readonly unknown[] = []) =>
  serve.$client.query(text, [...values]).then(
    ({ rowCount }) => rowCount,
    (error: { code?: string }) => error.code,
  );

async function held(): Promise<string> {
  const id = await world.add({ slot: randomUUID(), ...OF_JOB });
  const now = world.now();
  const leaseUntil = new Date(now.getTime() + LEASE_MS);
  const claims = await leaseVerdicts(world.db, { now, leaseUntil, limit: 100 });
  const claimed = claims.find(({ verdictId }) => verdictId === id);
  if (claimed === undefined) throw new Error("it is not due");
  await runOne(
    world.deps(async () => decided("HOLD")),
    claimed,
    new AbortController().signal,
  );
  return id;
}

function decision(id: string, finalVerdict: string) {
  return world.query(
    `insert into ahs.verdict_run (verdict_id, run, cause, final_verdict, result, evidence, evidence_hash, created_at)
     values ($1, 1, 'submitted', $2, '{}', '{}', '0x', now())`,
    [id, finalVerdict],
  );
}

test("the database has these policies, and no others", async () => {
  const rows = await world.query<{ name: string }>(
    `select c.relname || ' ' || p.polname as name from pg_policy p join pg_class c on c.oid = p.polrelid`,
  );
  const wanted = Object.entries(ROW_POLICIES).flatMap(([table, policies]) =>
    ["everyone", ...policies.map(({ name }) => name)].map((name) => `${table} ${name}`),
  );
  expect(rows.map(({ name }) => name).toSorted()).toEqual(wanted.toSorted());
});

describe("a server asks for transfers of paid calls, and again where one failed", () => {
  const authorization = {
    scheme: "exact",
    asset: TOKEN,
    payer: CLIENT,
    nonce: `0x${"01".repeat(32)}`,
  } as const;

  test("which is what it does", async () => {
    const order = { authorization, to: TOKEN, data: "0x01" } as const;
    const id = await enqueueSettlement(serve, FACILITATOR, order);
    await world.query("update ahs.sender_transaction set state = 'failed' where id = $1", [id]);
    expect(await enqueueSettlement(serve, FACILITATOR, { ...order, data: "0x02" })).toBe(id);
    const [row] = await world.query("select state, data from ahs.sender_transaction where id = $1", [id]);
    expect(row).toEqual({ state: "queued", data: "0x02" });
  });

  test("within what the day's gas leaves, which it reads", async () => {
    const of = { chainId: FACILITATOR.chainId, purposes: ["x402"], now: world.now() };
    expect(await readGasSpent(serve, of)).toBe(0n);
  });

  test.each([
    ["a publication", { purpose: "publish" }],
    ["a transfer of coins", { value: "5000000000000000000" }],
    ["one with a nonce", { state: "prepared", nonce: 1_000_000 }],
    ["one that counts as sent", { state: "broadcast", hashes: ["0x01"] }],
  ])("and not for %s", async (_what, changes) => {
    const row = {
      ...FACILITATOR,
      reference: randomUUID(),
      purpose: "x402",
      to: TOKEN,
      data: "0x",
      value: "0",
    };
    const columns = Object.entries({ state: "queued", hashes: [], ...row, ...changes });
    const names = columns.map(([name]) => (name === "chainId" ? "chain_id" : `"${name}"`)).join(", ");
    const places = columns.map((_, place) => `$${place + 1}`).join(", ");
    const insert = `insert into ahs.sender_transaction (${names}) values (${places})`;
    const values = columns.map(([, value]) => value);
    expect(await attempt(insert, values)).toBe(INSUFFICIENT_PRIVILEGE);
  });

  test("and changes no other of them", async () => {
    await world.query(
      `insert into ahs.sender_transaction (chain_id, sender, reference, purpose, "to", data, value, state, hashes)
       values (1, '0x1', 'a', 'publish', '0x2', '0x', 0, 'failed', '{}'), (1, '0x1', 'b', 'x402', '0x2', '0x', 0, 'mined', '{}')`,
    );
    const change = "update ahs.sender_transaction set data = '0x03', state = 'queued' where chain_id = 1";
    expect(await attempt(change)).toBe(0);
  });
});

describe("a server quarantines wallets whose publication it cannot plan", () => {
  const faults = [{ subject: CLIENT, error: new Error("cannot be encoded") }];

  test("which is what it does, and releases them", async () => {
    const scope = { chainId: CHAIN_ID, kind: "publish" } as const;
    for (const _again of [1, 2]) await quarantineItems(serve, scope, { faults, now: world.now() });
    expect([...(await readQuarantine(serve, scope)).keys()]).toEqual([CLIENT]);
    await releaseItems(serve, scope, [CLIENT]);
    expect((await readQuarantine(serve, scope)).size).toBe(0);
  });

  test("and keeps none from being scored", async () => {
    const scope = { chainId: CHAIN_ID, kind: "score" } as const;
    await expect(quarantineItems(serve, scope, { faults, now: world.now() })).rejects.toMatchObject({
      code: INSUFFICIENT_PRIVILEGE,
    });
    await quarantineItems(world.db, scope, { faults, now: world.now() });
    await releaseItems(serve, scope, [CLIENT]);
    expect((await readQuarantine(serve, scope)).size).toBe(1);
  });
});

describe("a server takes outputs, and has them retried and reviewed", () => {
  const signal = new AbortController().signal;
  const purchaser = { owner: "wallet:0xee", units: 500, debitId: null, paymentId: null, signal };
  const deps = () => ({
    db: serve,
    logger: pino({ level: "silent" }),
    now: world.now,
    randomBytes,
    randomUuid: randomUUID,
    waitMs: 300,
  });

  test("which is what it does, from the specification on", async () => {
    const specId = randomUUID();
    await insertSpec(serve, {
      ...{ id: specId, clientAddr: CLIENT, providerAddr: null, specText: "Name three rivers." },
      ...{ acceptanceCriteria: null, domain: "content", specHash: "0x5e", job: null, clientSignature: null },
      ...{ registeredBlock: null, createdAt: world.now() },
    });
    const draft = {
      ...({ specId, outputHash: "0x0f", outputText: "Rhine, Elbe, Oder", submittedBy: "client" } as const),
      ...{ submitterAddr: CLIENT, providerAddr: PROVIDER, webhookUrl: null },
      ...{ runTokens: 9, stakeMicroUsd: 5_000_000n, expiresAt: world.now() },
      job: { chainId: CHAIN_ID, escrow: ESCROW, jobId: 7n },
    } as const;
    const dropped = await acceptOutput(deps(), { ...draft, slot: "a" }, purchaser);
    const accepted = await acceptOutput(deps(), { ...draft, slot: "b" }, purchaser);
    if (dropped.kind !== "noted" || accepted.kind !== "noted") throw new Error("a slot is not free");
    await serve.transaction((tx) => dropIntake(tx, dropped.verdictId));
    await activateOutput({ db: serve, now: world.now }, accepted.verdictId);
    expect(await world.query("select id, status from ahs.verdict where spec_id = $1", [specId])).toEqual([
      { id: accepted.verdictId, status: "pending" },
    ]);
  });

  test("a failed one again", async () => {
    const id = await world.add({ status: "failed", slot: randomUUID() });
    await serve.transaction(async (tx) => {
      expect(await takeForRetry(tx, id)).toMatchObject({ status: "failed" });
      await queueRetry(tx, id, world.now());
    });
    expect(await world.row(id)).toMatchObject({ status: "pending", cause: "retried" });
  });

  test("a held one with evidence, then by its reviewer's word", async () => {
    const id = await held();
    const of = { verdictId: id, submittedBy: "key:1", textHash: "0x7e" } as const;
    await serve.transaction(async (tx) => {
      await insertEvidence(tx, { ...of, id: randomUUID(), text: "See?", createdAt: world.now() });
      await noteFinal(tx, of);
      expect(await askRerun(tx, { verdictId: id, cause: "evidence", at: world.now() })).toBe("asked");
    });
    const review = {
      verdictId: id,
      decision: "ALLOW",
      reason: "All three are rivers.",
      reviewedBy: "ada",
    } as const;
    const outcome = await recordReview({ db: serve, chainId: CHAIN_ID, now: world.now }, review);
    expect(outcome).toMatchObject({ kind: "recorded", run: 2 });
    const checks = await world.query("select run, status from ahs.settlement_check where verdict_id = $1", [
      id,
    ]);
    expect(checks).toEqual([{ run: 2, status: "waiting" }]);
  });

  test("and neither writes the panel's decisions nor takes any back", async () => {
    const [fresh, over] = [
      await world.add(),
      await world.add({ status: "completed", runs: 1, finalVerdict: "REJECT" }),
    ];
    await decision(over, "REJECT");
    const insert = `insert into ahs.verdict_run (verdict_id, run, cause, final_verdict, result, evidence, evidence_hash, created_at)
      values ($1, $2, $3, 'ALLOW', '{}', '{}', '0x', now())`;
    const answers = [
      await attempt(insert, [fresh, 1, "submitted"]),
      await attempt(insert, [over, 2, "review"]),
      await attempt(
        "update ahs.verdict set final_verdict = 'ALLOW', status = 'completed', runs = 1 where id = $1",
        [fresh],
      ),
      await attempt("update ahs.verdict set status = 'processing' where id = $1", [fresh]),
      await attempt("update ahs.verdict set output_hash = '0x' where id = $1", [fresh]),
      await attempt("update ahs.verdict set job_id = 8 where id = $1", [fresh]),
      await attempt("update ahs.verdict_run set final_verdict = 'ALLOW' where verdict_id = $1", [over]),
      await attempt("update ahs.verdict_run set evidence = '' where verdict_id = $1", [over]),
      await attempt("delete from ahs.output_text"),
      await attempt("update ahs.text_erasure set erased_at = now()"),
      await attempt("update ahs.job_spec set spec_text = 'Anything.'"),
      await attempt("update ahs.held_evidence set text = 'Believe me.'"),
      await attempt("update ahs.settlement_check set verdict_id = $1", [fresh]),
    ];
    expect(new Set(answers)).toEqual(new Set([INSUFFICIENT_PRIVILEGE]));
    expect(await attempt("delete from ahs.verdict where id = $1", [over])).toBe(0);
  });
});
