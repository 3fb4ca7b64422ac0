import { randomUUID } from "node:crypto";
import type { Address } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { afterEach, describe, expect, it } from "vitest";
import { readApiKey } from "../../../../service/access/api-keys.ts";
import { lowerCase } from "../../../../service/db/columns.ts";
import { jobSpec, verdict, verdictRun } from "../../../../service/db/tables/verdict.ts";
import { openWindow } from "../../../../service/verification/escrow/appeal-rows.ts";
import { panelBudget } from "../../../support/panel-budget.ts";
import { useDatabase } from "../../../support/test-database.ts";
import { verdictResult } from "./fake-verification-ports.ts";
import { CHAIN_ID, CLIENT, clearIntake, ESCROW, type IntakeWorld, intakeWorld } from "./intake-world.ts";

const db = useDatabase();
afterEach(() => clearIntake(db));

const HASH = `0x${"5e".repeat(32)}` as const;
const PRICE = 1_250;
const MINUTE_MS = 60_000;

/** A rejected verdict of a job of this provider, which may be appealed for ten minutes. */
async function rejected(world: IntakeWorld, provider: Address, owner = "key:none"): Promise<string> {
  const [id, specId] = [randomUUID(), randomUUID()];
  const now = world.now();
  const party = { clientAddr: lowerCase(CLIENT), specHash: HASH, domain: "content", specText: "Count." };
  await db.insert(jobSpec).values({ id: specId, ...party, createdAt: now });
  await db.insert(verdict).values({
    ...{ id, specId, slot: id, outputHash: HASH, submittedBy: "agent", owner, units: PRICE },
    ...{ submitterAddr: lowerCase(provider), providerAddr: lowerCase(provider) },
    ...{ status: "completed", cause: "submitted", runs: 1, finalVerdict: "REJECT" },
    ...{ jobChainId: CHAIN_ID, jobEscrow: lowerCase(ESCROW), jobId: 7n },
    ...{ notBefore: now, createdAt: now, updatedAt: now },
  });
  const decision = {
    finalVerdict: "REJECT",
    result: verdictResult(),
    evidence: "{}",
    evidenceHash: HASH,
  } as const;
  await db
    .insert(verdictRun)
    .values({ verdictId: id, run: 1, cause: "submitted", ...decision, createdAt: now });
  const after = (ms: number) => new Date(now.getTime() + ms);
  const times = { appealBy: after(10 * MINUTE_MS), decideBy: after(70 * MINUTE_MS), units: PRICE };
  await openWindow(db, { verdictId: id, chainId: CHAIN_ID, run: 1, ...times, at: now });
  return id;
}

/** Headers of a payment with an Idempotency-Key, which proves a repeat. */
async function payment(world: IntakeWorld, id: string, account: PrivateKeyAccount) {
  const { headers } = await world.payment({}, { path: pathOf(id), account });
  return { ...headers, "idempotency-key": randomUUID() };
}

const pathOf = (id: string) => `/v1/verdicts/${id}/appeal?price_usd=1.25`;
const outcomeOf = async (response: Response) => {
  const body = (await response.json()) as { readonly type?: string; readonly status: unknown };
  return [response.status, body.type?.split("problem-")[1] ?? body.status];
};
const balanceOf = async (id: string) => (await readApiKey(db, id))?.balanceUnits;
const someone = () => privateKeyToAccount(generatePrivateKey());
const statesOf = async () => {
  const { rows } = await db.$client.query("select state, appellant from ahs.appeal order by created_at");
  return rows.map(({ state, appellant }) => `${state} ${appellant}`);
};

describe("POST /v1/verdicts/{verdict_id}/appeal", () => {
  it("sells one appeal to the provider's wallet by x402, and answers its repeat for free", async () => {
    const world = intakeWorld(db);
    const account = someone();
    const id = await rejected(world, account.address);
    const headers = await payment(world, id, account);
    const response = await world.post(pathOf(id), {}, headers);
    expect(await outcomeOf(response.clone())).toEqual([200, "open"]);
    expect(response.headers.get("x-charged-usd")).toBe("1.250");
    expect(await outcomeOf(await world.post(pathOf(id), {}, headers))).toEqual([200, "open"]);
    const again = await payment(world, id, account);
    expect(await outcomeOf(await world.post(pathOf(id), {}, again))).toEqual([200, "open"]);
    expect(world.desk.settled).toHaveLength(1);
    expect(await statesOf()).toEqual(["open provider"]);
    const { rows } = await db.$client.query("select status, cause, final_verdict from ahs.verdict");
    expect(rows).toEqual([{ status: "pending", cause: "appeal", final_verdict: "REJECT" }]);
  });

  it("sells to the submitter's key, and to a key that a party's wallet bought", async () => {
    const world = intakeWorld(db);
    const [own, bought] = [await world.key(), await world.key()];
    await db.$client.query("update ahs.api_key set bought_by = $1 where id = $2", [
      lowerCase(CLIENT),
      bought.id,
    ]);
    const first = await rejected(world, someone().address, `key:${own.id}`);
    const second = await rejected(world, someone().address, `key:${own.id}`);
    expect(await outcomeOf(await world.post(pathOf(first), {}, own.headers))).toEqual([200, "open"]);
    expect(await outcomeOf(await world.post(pathOf(second), {}, bought.headers))).toEqual([200, "open"]);
    expect(await outcomeOf(await world.post(pathOf(second), {}, own.headers))).toEqual([
      409,
      "appeal-closed",
    ]);
    expect(await statesOf()).toEqual(["open submitter", "open client"]);
    expect([await balanceOf(own.id), await balanceOf(bought.id)]).toEqual([5_000 - PRICE, 5_000 - PRICE]);
  });

  it("opens one of many appeals at once, and charges for one", async () => {
    const world = intakeWorld(db, { logLevel: "error" });
    const { id: keyId, headers } = await world.key();
    const id = await rejected(world, someone().address, `key:${keyId}`);
    const answers = await Promise.all(
      Array.from({ length: 8 }, async () => outcomeOf(await world.post(pathOf(id), {}, headers))),
    );
    const refused = answers.filter(([status]) => status !== 200);
    expect(answers).toContainEqual([200, "open"]);
    // The key's balance pays four appeals; while four are asked for, the others cannot be paid.
    for (const answer of refused)
      expect([
        [402, undefined],
        [409, "appeal-unsettled"],
        [409, "appeal-closed"],
      ]).toContainEqual(answer);
    expect(await balanceOf(keyId)).toBe(5_000 - PRICE);
  });

  it("refuses others, a late appeal, and one without a second panel, at no charge", async () => {
    const world = intakeWorld(db);
    const { id: keyId, headers } = await world.key();
    const id = await rejected(world, someone().address);
    const by = (where: IntakeWorld, verdictId = id) => where.post(pathOf(verdictId), {}, headers);
    expect(await outcomeOf(await by(world))).toEqual([403, "not-the-submitter"]);
    expect(await outcomeOf(await by(world, randomUUID()))).toEqual([404, "not-found"]);
    expect(await outcomeOf(await by(intakeWorld(db, { hasAppeals: false })))).toEqual([
      503,
      "appeals-not-configured",
    ]);
    const budget = panelBudget({ used: 1_000 });
    const own = await rejected(world, someone().address, `key:${keyId}`);
    expect(await outcomeOf(await by(intakeWorld(db, { budget }), own))).toEqual([503, "panel-budget-spent"]);
    world.pass(10 * MINUTE_MS);
    const late = await by(world, own);
    expect(await late.clone().json()).toMatchObject({
      detail: expect.stringContaining("could be appealed until"),
    });
    expect(await outcomeOf(late)).toEqual([409, "appeal-closed"]);
    expect(await balanceOf(keyId)).toBe(5_000);
    expect(await statesOf()).toEqual(["window null", "window null"]);
  });

  it.each(["?price_usd=0.5", "?price_usd=1.251", "", "?price_usd=1e3", "?price_usd=-1.25"])(
    "refuses another price than that of the appeal at no charge: %j",
    async (query) => {
      const world = intakeWorld(db);
      const { id: keyId, headers } = await world.key();
      const id = await rejected(world, someone().address, `key:${keyId}`);
      const refused = await world.post(`/v1/verdicts/${id}/appeal${query}`, {}, headers);
      expect(refused.status).toBe(422);
      expect(await refused.text()).toContain("price_usd");
      expect(await balanceOf(keyId)).toBe(5_000);
      expect(await statesOf()).toEqual(["window null"]);
    },
  );

  it("is withdrawn where the payment fails, and may be made again", async () => {
    const world = intakeWorld(db);
    const account = someone();
    const id = await rejected(world, account.address);
    world.desk.answers.settle = { kind: "refused", reason: "insufficient_funds" };
    const headers = await payment(world, id, account);
    expect((await world.post(pathOf(id), {}, headers)).status).not.toBe(200);
    await world.sweep();
    expect(await statesOf()).toEqual(["window null"]);
  });

  it("is opened by the sweep where the answer of the settlement came too late, and the repeat gets it", async () => {
    const world = intakeWorld(db, { settleDeadlineMs: 50 });
    const account = someone();
    const id = await rejected(world, account.address);
    world.desk.answers.settle = "silence";
    const headers = await payment(world, id, account);
    expect((await world.post(pathOf(id), {}, headers)).status).toBe(503);
    expect(await statesOf()).toEqual(["unsettled provider"]);
    await db.$client.query("update ahs.payment set state = 'settled', transaction_hash = $1", [HASH]);
    world.pass(3 * MINUTE_MS);
    await world.sweep();
    expect(await statesOf()).toEqual(["open provider"]);
    expect(await outcomeOf(await world.post(pathOf(id), {}, headers))).toEqual([200, "open"]);
  });
});
