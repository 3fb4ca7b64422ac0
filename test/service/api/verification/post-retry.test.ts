import { randomUUID } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { readApiKey } from "../../../../service/access/api-keys.ts";
import { returnDebit } from "../../../../service/access/key-debits.ts";
import { panelBudget } from "../../../support/panel-budget.ts";
import { useDatabase } from "../../../support/test-database.ts";
import {
  boundTo,
  CLIENT,
  clearIntake,
  ESCROW,
  type IntakeWorld,
  intakeWorld,
  ledgerOf,
  outputBody,
  PROVIDER,
  type Submitted,
} from "./intake-world.ts";

const db = useDatabase();
afterEach(() => clearIntake(db));

/** Fails a verdict as a worker does if no decision came within its hour. */
async function fail(id: string): Promise<void> {
  await db.transaction(async (tx) => {
    const { rows } = await db.$client.query(
      "update ahs.verdict set status = 'failed', error_message = 'no answer', lease_until = null where id = $1 returning debit_id",
      [id],
    );
    if (rows[0].debit_id !== null) await returnDebit(tx, rows[0].debit_id);
  });
}

async function submitted(world: IntakeWorld, headers: Record<string, string>): Promise<string> {
  const response = await world.submit(await world.output(), headers);
  return ((await response.json()) as Submitted).verdict_id;
}

const retry = (world: IntakeWorld, id: string, headers: Record<string, string> = {}) =>
  world.post(`/v1/verdicts/${id}/retry`, "", headers);
const outcomeOf = async (response: Response) => [
  response.status,
  ((await response.json()) as { type?: string; status?: string }).type?.split("problem-")[1] ?? "queued",
];
const balanceOf = async (id: string) => (await readApiKey(db, id))?.balanceUnits;

describe("POST /v1/verdicts/{verdict_id}/retry", () => {
  it("takes no credits and queues nothing while the tokens of the day are spent, but for the outputs of jobs", async () => {
    const budget = panelBudget({ used: 700 });
    const rich = intakeWorld(db);
    const { id: keyId, headers } = await rich.key(800);
    const id = await submitted(rich, headers);
    await fail(id);
    expect(await outcomeOf(await retry(intakeWorld(db, { budget }), id, headers))).toEqual([
      503,
      "panel-budget-spent",
    ]);
    expect(await balanceOf(keyId)).toBe(800);
    await db.$client.query(
      "update ahs.verdict set job_chain_id = 31337, job_escrow = '0xe5', job_id = 7 where id = $1",
      [id],
    );
    expect(await outcomeOf(await retry(intakeWorld(db, { budget }), id, headers))).toEqual([200, "queued"]);
  });

  it("queues a failed verdict three times, and takes back the credits that its failure returned", async () => {
    const world = intakeWorld(db);
    const { id: keyId, headers } = await world.key(800);
    const id = await submitted(world, headers);
    for (const round of [1, 2, 3]) {
      await fail(id);
      expect(await balanceOf(keyId)).toBe(800);
      const response = await retry(world, id, headers);
      expect([round, response.status, await response.json()]).toEqual([
        round,
        200,
        { verdict_id: id, status: "pending" },
      ]);
      expect(await balanceOf(keyId)).toBe(300);
    }
    const { rows } = await db.$client.query(
      "select status, cause, retries, attempts, error_message from ahs.verdict",
    );
    expect(rows).toEqual([
      { status: "pending", cause: "retried", retries: 3, attempts: 0, error_message: null },
    ]);
    await fail(id);
    expect(await outcomeOf(await retry(world, id, headers))).toEqual([409, "retries-used-up"]);
    expect(await balanceOf(keyId)).toBe(800);
  });

  it("changes nothing where the key has spent what was returned to it", async () => {
    const world = intakeWorld(db);
    const { id: keyId, headers } = await world.key(600);
    const id = await submitted(world, headers);
    await fail(id);
    await submitted(world, headers);
    expect(await outcomeOf(await retry(world, id, headers))).toEqual([402, "balance-insufficient"]);
    expect(await balanceOf(keyId)).toBe(100);
    expect(await ledgerOf(db)).toMatchObject({ captured: 1 });
  });

  it("is for the wallet that paid, whose payment stays as it is", async () => {
    const world = intakeWorld(db);
    const output = await world.output();
    const { account, headers } = await world.payment(output);
    const { verdict_id: id } = (await (await world.submit(output, headers)).json()) as Submitted;
    await fail(id);
    world.signedIn.address = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";
    const signedIn = { "sign-in-with-x": "me" };
    expect(await outcomeOf(await retry(world, id, signedIn))).toEqual([403, "not-the-submitter"]);
    world.signedIn.address = account.address.toLowerCase() as typeof world.signedIn.address;
    expect(await outcomeOf(await retry(world, id, signedIn))).toEqual([200, "queued"]);
    expect(world.desk.settled).toHaveLength(1);
    expect(await ledgerOf(db)).toMatchObject({ settled: 1, accepted: 1 });
  });

  it("is for client and provider of its job too, where a payment stays with it", async () => {
    const world = intakeWorld(db, { bind: async () => boundTo(7n) });
    const output = outputBody(await world.registered({ erc8183_job_id: "0x7", escrow: ESCROW }));
    const { headers } = await world.payment(output);
    const { verdict_id: id } = (await (await world.submit(output, headers)).json()) as Submitted;
    const signedIn = { "sign-in-with-x": "me" };
    const by = async (address: string) => {
      await fail(id);
      // Addresses of requests are in lower case.
      world.signedIn.address = address.toLowerCase() as typeof world.signedIn.address;
      return outcomeOf(await retry(world, id, signedIn));
    };
    expect(await by(CLIENT)).toEqual([200, "queued"]);
    expect(await by(PROVIDER)).toEqual([200, "queued"]);
    expect(await by(ESCROW)).toEqual([403, "not-the-submitter"]);
    expect(world.desk.settled).toHaveLength(1);
  });

  it("retries once under one Idempotency-Key", async () => {
    const world = intakeWorld(db);
    const { headers } = await world.key();
    const id = await submitted(world, headers);
    await fail(id);
    const named = { ...headers, "Idempotency-Key": "again" };
    const answers = [await retry(world, id, named), await retry(world, id, named)];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const { rows } = await db.$client.query("select retries from ahs.verdict");
    expect(rows).toEqual([{ retries: 1 }]);
  });

  it("retries once, and takes the price once, when it is asked for ten times at once", async () => {
    const world = intakeWorld(db);
    const { id: keyId, headers } = await world.key();
    const id = await submitted(world, headers);
    await fail(id);
    const answers = await Promise.all(Array.from({ length: 10 }, () => retry(world, id, headers)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(409)]);
    expect(await balanceOf(keyId)).toBe(4_500);
  });

  it("refuses a caller without a credential or with another key, and a verdict that did not fail or does not exist", async () => {
    const world = intakeWorld(db);
    const { headers } = await world.key();
    const id = await submitted(world, headers);
    expect(await outcomeOf(await retry(world, id))).toEqual([401, "identity-missing"]);
    expect(await outcomeOf(await retry(world, id, (await world.key()).headers))).toEqual([
      403,
      "not-the-submitter",
    ]);
    expect(await outcomeOf(await retry(world, id, headers))).toEqual([409, "verdict-not-failed"]);
    expect(await outcomeOf(await retry(world, randomUUID(), headers))).toEqual([404, "not-found"]);
    expect(await outcomeOf(await retry(world, "x", headers))).toEqual([404, "not-found"]);
  });

  it("says nothing of an output whose price is still open", async () => {
    const world = intakeWorld(db);
    const { headers } = await world.key();
    const id = await submitted(world, headers);
    await db.$client.query("update ahs.verdict set status = 'unsettled'");
    expect(await outcomeOf(await retry(world, id, headers))).toEqual([404, "not-found"]);
  });

  it("refuses a verdict that has been decided, whatever the status of its re-run", async () => {
    const world = intakeWorld(db);
    const { headers } = await world.key();
    const id = await submitted(world, headers);
    await db.$client.query("update ahs.verdict set status = 'processing', runs = 1");
    const response = await retry(world, id, headers);
    expect([response.status, ((await response.json()) as { detail: string }).detail]).toEqual([
      409,
      expect.stringContaining("is completed"),
    ]);
  });

  it("refuses, and takes nothing, once the texts are gone", async () => {
    const world = intakeWorld(db);
    const { id: keyId, headers } = await world.key();
    const id = await submitted(world, headers);
    await fail(id);
    await db.$client.query("delete from ahs.output_text");
    expect(await outcomeOf(await retry(world, id, headers))).toEqual([410, "texts-dropped"]);
    expect(await balanceOf(keyId)).toBe(5_000);
  });
});

it("a debit is returned once, and taken again once", async () => {
  const world = intakeWorld(db);
  const { id: keyId, headers } = await world.key();
  await submitted(world, headers);
  const { rows } = await db.$client.query("select debit_id from ahs.verdict");
  await db.transaction((tx) => returnDebit(tx, rows[0].debit_id));
  await db.transaction((tx) => returnDebit(tx, rows[0].debit_id));
  expect(await balanceOf(keyId)).toBe(5_000);
});
