import { randomBytes, randomUUID } from "node:crypto";
import { pino } from "pino";
import { expect, it } from "vitest";
import { callGate } from "../../../../bin/serve/create-services.ts";
import { createApiKeyAccess } from "../../../../service/access/api-key-access.ts";
import { apiKeyFinder, createApiKey, readApiKey } from "../../../../service/access/api-keys.ts";
import { createAccess } from "../../../../service/access/create-access.ts";
import { dropExpiredAnswers } from "../../../../service/access/idempotent-answers.ts";
import { createKeyDebits, returnExpiredHolds } from "../../../../service/access/key-debits.ts";
import { createSubscribe } from "../../../../service/alerts/subscriptions.ts";
import { useDatabase } from "../../../support/test-database.ts";
import { bodyOf, fakeApp, WALLET } from "../fake-ports.ts";

const PATH = `/alerts/subscribe/${WALLET}?webhook_url=https://hooks.example.com/`;
const DAY_MS = 86_400_000;

const db = useDatabase();

/** A server on the database whose keys are kept as `keepAnswered` says, and a key with 5 USD. */
async function server(keepAnswered: "kept" | "killed before") {
  let offsetMs = 0;
  const clock = { now: () => new Date(Date.now() + offsetMs), monotonicMs: () => performance.now() };
  const logger = pino({ level: "silent" });
  const debits = createKeyDebits({ db, now: clock.now, randomUuid: randomUUID });
  const killed = () => new Promise<never>(() => undefined);
  const keys = createApiKeyAccess({
    keys: {
      find: apiKeyFinder(db),
      ...debits,
      ...(keepAnswered === "kept" ? {} : { keepAnswered: killed }),
    },
    clock,
    logger,
  });
  const deps = { db, chainId: 31_337, now: clock.now, randomBytes, randomUuid: randomUUID };
  const { app } = fakeApp({
    access: createAccess({ keys, payments: null, ...callGate({ db, logger, clock }) }),
    subscribe: createSubscribe(deps),
  });
  return {
    app,
    /** Runs the worker's cleanup after the time limit of a dead request. */
    async sweep() {
      offsetMs += 125_000;
      await returnExpiredHolds(db, clock.now());
      await dropExpiredAnswers(db, clock.now());
    },
  };
}

it("monitoring by key is neither free nor doubled when the server dies before the debit is stored with its answer", async () => {
  const wanted = { name: "k", partner: false, balanceUnits: 5_000, expiresAt: null };
  const { key, secret } = await createApiKey(db, wanted, { randomBytes, randomUuid: randomUUID });
  const request = { headers: { "X-API-Key": secret, "Idempotency-Key": "monitor" } };
  const dying = await server("killed before");
  void dying.app.request(PATH, request);
  const daysBought = async () => {
    const { rows } = await db.$client.query(
      "select extract(epoch from sum(expires_at - created_at)) * 1000 as ms from ahs.alert_subscription",
    );
    return Math.round(Number(rows[0].ms) / DAY_MS);
  };
  await expect.poll(daysBought).toBe(30);
  await dying.sweep();
  const alive = await server("kept");
  const repeated = await alive.app.request(PATH, request);
  const again = await alive.app.request(PATH, request);
  expect([repeated.status, await repeated.json()]).toEqual([200, await again.json()]);
  expect([await daysBought(), (await readApiKey(db, key.id))?.balanceUnits]).toEqual([30, 3_000]);
  const next = await alive.app.request(PATH, { headers: { ...request.headers, "Idempotency-Key": "more" } });
  expect((await bodyOf(next)).secret).toBeNull();
  expect([await daysBought(), (await readApiKey(db, key.id))?.balanceUnits]).toEqual([60, 1_000]);
});
