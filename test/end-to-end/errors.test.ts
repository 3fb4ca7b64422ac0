import { getAddress } from "viem";
import { beforeAll, describe, expect, test } from "vitest";
import { servesFreshData } from "../../devnet/demo/await-ready.ts";
import { revokeApiKey } from "../../service/access/api-keys.ts";
import { type CuttableProxy, startCuttableProxy } from "../support/anvil-testkit/cuttable-proxy.ts";
import type { TestServer } from "../support/anvil-testkit/services.ts";
import { useTestkit } from "../support/anvil-testkit/testkit.ts";
import { createTestKey, readBalance } from "../support/test-keys.ts";
import { until } from "../support/until.ts";

const AGENT = getAddress("0x00000000000000000000000000000000000a9e01");
const UNKNOWN = getAddress("0x00000000000000000000000000000000000a9e99");
const BALANCE = 50_000;
const MAX_INDEX_AGE_SECONDS = 4;

const kit = useTestkit({ ageSeconds: 86_400 });
let database: CuttableProxy;
let node: CuttableProxy;
let server: TestServer;
let key: { readonly id: string; readonly secret: string };

beforeAll(async () => {
  await kit.chain.register(AGENT);
  for (let call = 0; call < 12; call += 1) {
    await kit.chain.moveTime(3_600);
    await kit.chain.succeed(AGENT);
  }
  await kit.chain.toWallClock();
  await kit.chain.mine(40, 0);
  [database, node] = await Promise.all([
    startCuttableProxy(kit.databaseUrl),
    startCuttableProxy(kit.chain.rpcUrl),
  ]);
  kit.onClose(database.close);
  kit.onClose(node.close);
  await kit.startIndexer({ rpcUrl: node.url });
  // Enriches: nothing is scored before that.
  kit.startWorker();
  server = await kit.startServer({
    rpcUrl: node.url,
    databaseUrl: database.url,
    env: { MAX_INDEX_AGE_SECONDS: String(MAX_INDEX_AGE_SECONDS), HISTORY_SOURCE: "none" },
  });
  key = await createTestKey(kit.db, BALANCE);
  kit.startMining(500);
  await until({ what: "the service is ready" }, async () =>
    (await servesFreshData(server.baseUrl)) ? true : null,
  );
});

describe("each refusal is a clear problem and costs nothing", () => {
  test("a wrong address is a 422 that names the pattern", async () => {
    const answer = await ask("/ahs/0x123", key.secret);
    expect(answer.status).toBe(422);
    expect(answer.body.detail[0]).toMatchObject({
      type: "string_pattern_mismatch",
      loc: ["path", "address"],
      input: "0x123",
    });
  });

  test("an unknown wallet is a 404 where no source knows its past", async () => {
    expect(await ask(`/ahs/${UNKNOWN}`, key.secret)).toMatchObject({ status: 404, body: { status: 404 } });
  });

  test("neither key nor payment is a 402 that names the price", async () => {
    const answer = await ask(`/ahs/${AGENT}`, null);
    expect(answer).toMatchObject({
      status: 402,
      body: {
        x402Version: 2,
        error: expect.stringContaining("1.00 USD"),
        accepts: [
          { scheme: "exact", network: "eip155:31337", amount: "1000000", extra: { name: "USD Coin" } },
          { scheme: "exact", amount: "1000000", extra: { assetTransferMethod: "permit2" } },
        ],
      },
    });
  });

  test("a revoked key is a 401", async () => {
    const revoked = await createTestKey(kit.db, BALANCE);
    await revokeApiKey(kit.db, revoked.id, new Date());
    const answer = await ask(`/ahs/${AGENT}`, revoked.secret);
    expect(answer).toMatchObject({ status: 401, body: { detail: expect.stringContaining("revoked") } });
    expect(await readBalance(kit.db, revoked.id)).toBe(BALANCE);
  });

  test("an empty key is a 402 that names price and balance", async () => {
    const empty = await createTestKey(kit.db, 999);
    const answer = await ask(`/ahs/${AGENT}`, empty.secret);
    expect(answer).toMatchObject({
      status: 402,
      body: { error: expect.stringMatching(/1\.00 USD.*0\.999 USD/) },
    });
    expect(await readBalance(kit.db, empty.id)).toBe(999);
  });

  test("with the node gone the index grows too old: 503 with Retry-After, and back by itself", async () => {
    expect((await ask(`/ahs/route/${AGENT}`, key.secret)).status).toBe(200);
    await atFullBalanceExcept(10);
    node.cut();
    await expect.poll(() => statusOf(`/ahs/route/${AGENT}`)).toBe(503);
    await atFullBalance(async () => {
      const answer = await ask(`/ahs/route/${AGENT}`, key.secret);
      expect(answer).toMatchObject({ status: 503, body: { status: 503 } });
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    });
    expect(await ask("/readyz", null)).toMatchObject({ status: 200, body: { index: { ok: false } } });
    node.restore();
    await expect.poll(() => servesFreshData(server.baseUrl)).toBe(true);
  });

  test("with the database gone: 503 with Retry-After, and back by itself", async () => {
    await atFullBalance(async () => {
      database.cut();
      const answer = await ask(`/ahs/${AGENT}`, key.secret);
      expect(answer).toMatchObject({ status: 503, body: { status: 503 } });
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
      expect((await ask("/livez", null)).status).toBe(200);
      expect((await ask("/readyz", null)).status).toBe(503);
      database.restore();
      await expect.poll(() => statusOf("/readyz")).toBe(200);
    });
    await expect.poll(() => statusOf(`/ahs/${AGENT}`)).toBe(200);
  });
});

async function ask(path: string, apiKey: string | null) {
  const response = await fetch(`${server.baseUrl}${path}`, {
    headers: apiKey === null ? {} : { "x-api-key": apiKey },
    signal: AbortSignal.timeout(15_000),
  });
  return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) };
}

async function statusOf(path: string): Promise<number> {
  return (await ask(path, path.startsWith("/ahs") ? key.secret : null)).status;
}

let spent = 0;
async function atFullBalanceExcept(units: number): Promise<void> {
  spent += units;
  expect(await readBalance(kit.db, key.id)).toBe(BALANCE - spent);
}

/** Does something that costs the key nothing. */
async function atFullBalance(act: () => Promise<void>): Promise<void> {
  const before = await readBalance(kit.db, key.id);
  await act();
  expect(await readBalance(kit.db, key.id)).toBe(before);
}
