import { randomBytes, randomUUID } from "node:crypto";
import { pino } from "pino";
import type { Address } from "viem";
import { beforeAll, describe, expect, it } from "vitest";
import { apiKeyFinder, createApiKey, revokeApiKey } from "../../../service/access/api-keys.ts";
import { createKeyDebits } from "../../../service/access/key-debits.ts";
import { createApp } from "../../../service/api/create-app.ts";
import { ahsRecordSchema } from "../../../service/api/schemas/ahs-record.ts";
import type { Services } from "../../../service/api/services.ts";
import { type Database, openDatabase } from "../../../service/db/database.ts";
import { createInfrastructureReader } from "../../../service/registries/probes/probes-of-wallet.ts";
import { readSanctionsSources } from "../../../service/sanctions/sources.ts";
import { createScoreReader } from "../../../service/scores/scores.ts";
import { insertCurrentScore } from "../../support/score-rows.ts";
import { useDatabase } from "../../support/test-database.ts";
import { keyOnlyAccess } from "../access/key-only-access.ts";
import { createIndexTables } from "../db/index-tables.ts";
import { enrichTo, finalize } from "../model/features/index-tables.ts";
import { bodyOf, fakePorts, WALLET } from "./fake-ports.ts";

const CHAIN = 31337;
const NOW = new Date("2026-11-20T10:00:00Z");

const db = useDatabase();

beforeAll(async () => {
  await createIndexTables(db, CHAIN);
  const block = { number: 1000, timestamp: NOW.getTime() / 1000 };
  await db.$client.query(
    `insert into "chain_31337".block (number, hash, "timestamp") values (${block.number}, '0x', ${block.timestamp})`,
  );
  await finalize(db.$client, "chain_31337", block);
  await enrichTo(db.$client, "chain_31337", block.number);
});

/** The app on the store itself; only scoring is left out. */
function appOn(database: Database, scoreNow: Services["scoreNow"] = async () => ({ kind: "not-indexed" })) {
  const logger = pino({ level: "silent" });
  const clock = { now: () => NOW, monotonicMs: () => performance.now() };
  const keys = {
    find: apiKeyFinder(database),
    ...createKeyDebits({ db: database, now: () => NOW, randomUuid: () => randomUUID() }),
  };
  return createApp({
    ...fakePorts().ports,
    access: keyOnlyAccess({ keys, clock, logger }),
    clock,
    clockAheadSeconds: () => 0,
    logger,
    randomId: () => randomUUID(),
    sanctionsSources: () =>
      readSanctionsSources(database, { chainId: CHAIN, sanctionsList: { address: WALLET, startBlock: 0 } }),
    scores: createScoreReader(database, CHAIN),
    infrastructure: {
      ...createInfrastructureReader(database, { chainId: CHAIN, registries: [] }),
      refusal: async () => null,
      reserve: () => null,
    },
    scoreNow,
  });
}

async function newKey(balanceUnits: number | null) {
  const wanted = { name: "n", partner: false, balanceUnits, expiresAt: null };
  return createApiKey(db, wanted, { randomBytes, randomUuid: () => randomUUID() });
}

async function balanceOf(id: string): Promise<number> {
  const { rows } = await db.$client.query("select balance_units from ahs.api_key where id = $1", [id]);
  return Number(rows[0].balance_units);
}

const LINE = {
  value: 0.98,
  unit: "points",
  samples: 300,
  state: "measured",
  contribution: 8800,
  reason: null,
} as const;

async function follow(wallet: Address): Promise<void> {
  await db.$client.query(
    `insert into "chain_31337".wallet (address, source, followed_block, own_calls, own_failures, touched_block)
     values ($1, 'static', 1, 0, 0, 1)`,
    [wallet],
  );
}

const ROUTE = `/ahs/route/${WALLET}`;

describe("the interface on a real store", () => {
  it("answers as many calls at once as a balance pays for, and not one more", async () => {
    const { key, secret } = await newKey(255);
    const app = appOn(db);
    const answers = await Promise.all(
      Array.from({ length: 60 }, () => app.request(ROUTE, { headers: { "X-API-Key": secret } })),
    );
    const statuses = answers.map((response) => response.status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(25);
    expect(statuses.filter((status) => status === 402)).toHaveLength(35);
    expect(await balanceOf(key.id)).toBe(5);
  });

  it("charges nothing for work that ends in 404", async () => {
    const { key, secret } = await newKey(1000);
    const address = `0x${"7".repeat(40)}` as const;
    await follow(address);
    const response = await appOn(db).request(`/ahs/${address}`, { headers: { "X-API-Key": secret } });
    expect([response.status, await balanceOf(key.id)]).toEqual([404, 1000]);
  });

  it("answers a score of an older model version as that version recorded it, with its lines and in its history", async () => {
    const { secret } = await newKey(null);
    const wallet = `0x${"8".repeat(40)}` as const;
    const lines = [
      { ...LINE, dimension: "D1", name: "success_rate", unit: "share of calls", score: 88, weight: 0.3 },
      { ...LINE, dimension: "AHS", name: "unproven", value: -25, score: 59, weight: 0, contribution: -2500 },
    ] as const;
    const older = {
      wallet,
      modelVersion: "AHS-2026.1",
      ahsScore: 59,
      grade: "D",
      features: [...lines],
    } as const;
    await follow(wallet);
    const row = await insertCurrentScore(db, older);
    const app = appOn(db, async () => ({ kind: "stored", row }));
    const url = `/ahs/${wallet}?include=features,history`;
    const response = await app.request(url, { headers: { "X-API-Key": secret } });
    const body = await bodyOf(response);
    expect(body).toMatchObject({
      ...{ ahs_score: 59, grade: "D", model_version: "AHS-2026.1" },
      features: [{ name: "success_rate", score: 88, weight: 0.3, contribution: 88 }],
      adjustments: [{ dimension: "AHS", name: "unproven", points: -25 }],
      history: [{ model_version: "AHS-2026.1", ahs_score: 59 }],
    });
    expect(ahsRecordSchema.parse(body)).toEqual(body);
  });

  it("stops a revoked key at once", async () => {
    const { key, secret } = await newKey(null);
    const app = appOn(db);
    const ask = async () => (await app.request(ROUTE, { headers: { "X-API-Key": secret } })).status;
    const before = await ask();
    await revokeApiKey(db, key.id, NOW);
    expect([before, await ask()]).toEqual([200, 401]);
  });

  it("answers 503 while the database is gone, and lives on", async () => {
    const gone = openDatabase({
      url: "postgres://nobody@127.0.0.1:1/nothing",
      applicationName: "test",
      maxConnections: 1,
      statementTimeoutMs: 1000,
      connectTimeoutMs: 1000,
      onIdleError: () => undefined,
    });
    const app = appOn(gone);
    const response = await app.request(ROUTE, { headers: { "X-API-Key": `ahs_${"k".repeat(43)}` } });
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(await bodyOf(response)).toMatchObject({ type: "/docs#problem-database-unavailable" });
    expect((await app.request("/readyz")).status).toBe(503);
    expect((await app.request("/livez")).status).toBe(200);
    await gone.$client.end();
  });

  it("answers 503 at the deadline of a statement that never ends, and serves again afterwards", async () => {
    const { secret } = await newKey(null);
    const app = appOn(db);
    const ask = async () => (await app.request(ROUTE, { headers: { "X-API-Key": secret } })).status;
    const blocker = await db.$client.connect();
    await blocker.query("begin; lock table ahs.api_key in access exclusive mode");
    const statuses = await Promise.all([ask(), ask(), ask()]);
    await blocker.query("rollback");
    blocker.release();
    expect([...statuses, await ask()]).toEqual([503, 503, 503, 200]);
  });
});
