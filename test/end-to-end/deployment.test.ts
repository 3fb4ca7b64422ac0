import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../../bin/supervisor/child-process.ts";
import { type CuttableProxy, startCuttableProxy } from "../support/anvil-testkit/cuttable-proxy.ts";
import type { Script } from "../support/anvil-testkit/script.ts";
import { useTestkit } from "../support/anvil-testkit/testkit.ts";
import { HAS_CADDY, startCaddy } from "../support/caddy.ts";
import { createTestKey, readBalance } from "../support/test-keys.ts";
import { until } from "../support/until.ts";
import { AGENT, jsonRequest, payer, paymentFor, prepareShop, untilAnswersFor } from "./shop.ts";

const ROUTE = `/ahs/route/${AGENT}`;
/** Of the route: in units of a key, and in those of USDC. */
const PRICE = { units: 10, usdc: 10_000n };
const BALANCE = 1_000_000;
/** Between two requests of a lane of the load: less than a key's rate together. */
const PAUSE_MS = 300;

const kit = useTestkit({ ageSeconds: 86_400 });
let indexer: Script;
let proxy: Awaited<ReturnType<typeof startCaddy>>;
/** Between the second server and its database. */
let database: CuttableProxy;
let ports: readonly [number, number];
let servers: [Script, Script];
let key: { readonly id: string; readonly secret: string };

beforeAll(async () => {
  if (!HAS_CADDY) return;
  workerMetrics = await freePort();
  ({ indexer } = await prepareShop(kit, { METRICS_PORT: String(workerMetrics) }));
  database = await startCuttableProxy(kit.databaseUrl);
  kit.onClose(database.close);
  ports = [await freePort(), await freePort()];
  const port = await freePort();
  publicUrl = `http://127.0.0.1:${port}`;
  servers = [await startServer(0), await startServer(1)];
  proxy = await startCaddy({ ports, folder: kit.folder, port });
  kit.onClose(proxy.stop);
  key = await createTestKey(kit.db, BALANCE);
  await untilAnswersFor(url(ROUTE));
});

let publicUrl: string;
let workerMetrics: number;
const url = (path: string) => `${publicUrl}${path}`;

function startServer(place: 0 | 1, env: Readonly<Record<string, string>> = {}): Promise<Script> {
  const databaseUrl = place === 0 ? kit.databaseUrl : database.url;
  const own = { HISTORY_SOURCE: "none", PUBLIC_URL: publicUrl, TRUSTED_PROXIES: "127.0.0.1" };
  return kit.startServer({ databaseUrl, env: { ...own, ...env } }, ports[place]);
}

describe.skipIf(!HAS_CADDY)("two servers behind the proxy of ops/Caddyfile", () => {
  test("a rolling replacement loses no answer", async () => {
    const { first } = await underLoad(async () => {
      for (const place of [0, 1] as const) {
        process.kill(servers[place].pid, "SIGTERM");
        expect(await servers[place].exited).toBe(0);
        await proxy.untilHealthy(ports[place], false);
        servers[place] = await startServer(place);
        await proxy.untilHealthy(ports[place], true);
      }
    });
    expect(first.length).toBeGreaterThan(20);
    expect(first.filter((status) => status !== 200)).toEqual([]);
  });

  test("a server without its database passes its share to the other one, and no call and no payment is lost", async () => {
    const losing = await underLoad(async () => {
      database.cut();
      await proxy.untilHealthy(ports[1], false);
    });
    // Until the proxy asks, the server itself refuses, and charges nothing.
    expect(losing.first.filter((status) => status !== 200 && status !== 503)).toEqual([]);
    const without = await underLoad(() => sleep(5_000));
    expect(without.first.length).toBeGreaterThan(5);
    expect(without.first.filter((status) => status !== 200)).toEqual([]);
    database.restore();
    await proxy.untilHealthy(ports[1], true);
  });

  test("an old index takes down only what needs a fresh one", async () => {
    const paid = { headers: { ...(await paymentFor(url(ROUTE))), "idempotency-key": randomUUID() } };
    const answer = await fetch(url(ROUTE), paid);
    expect(answer.status).toBe(200);
    await indexer.kill();
    for (const place of [0, 1] as const) {
      await servers[place].stop();
      servers[place] = await startServer(place, { MAX_INDEX_AGE_SECONDS: "1" });
    }
    for (const port of ports) await proxy.untilHealthy(port, true);
    const refused = await fetch(url(ROUTE), { headers: { "x-api-key": key.secret } });
    expect([refused.status, await refused.json()]).toMatchObject([
      503,
      { type: "/docs#problem-index-behind" },
    ]);
    const spec = { client_addr: payer.address, spec_text: "Count to 3." };
    expect((await fetch(url("/v1/specs"), jsonRequest("POST", spec))).status).toBe(200);
    for (const path of ["/", "/status", "/account", "/docs", "/v1/docs", "/openapi.json", "/livez"])
      expect([path, (await fetch(url(path))).status]).toEqual([path, 200]);
    const readiness = await fetch(url("/readyz"));
    expect([readiness.status, await readiness.json()]).toMatchObject([200, { index: { ok: false } }]);
    const repeated = await fetch(url(ROUTE), paid);
    expect([repeated.status, await repeated.json()]).toEqual([200, await answer.json()]);
  });

  test("the proxy answers by itself where no server is left, and one that comes back is asked again", async () => {
    for (const place of [0, 1] as const) {
      await servers[place].stop();
      await proxy.untilHealthy(ports[place], false);
    }
    for (const init of [{}, { headers: { "x-api-key": key.secret } }, jsonRequest("POST", {})]) {
      const response = await fetch(url(ROUTE), init);
      expect([response.status, response.headers.get("retry-after"), await response.json()]).toMatchObject([
        503,
        "5",
        { type: "/docs#problem-no-server", status: 503 },
      ]);
    }
    servers[0] = await startServer(0);
    await proxy.untilHealthy(ports[0], true);
    expect((await fetch(url("/livez"))).status).toBe(200);
  });

  test("the metrics of rules and board are shown by worker, servers and proxy", async () => {
    const texts = ["ops/prometheus/rules.yml", "ops/grafana/agent-health.json"].map((path) =>
      readFileSync(new URL(`../../${path}`, import.meta.url), "utf8"),
    );
    const read = texts.join("\n").match(/\b(?:ahs|caddy)_\w+/g) ?? [];
    const shown = await Promise.all(
      [workerMetrics, ports[0]].map(async (port) => (await fetch(`http://127.0.0.1:${port}/metrics`)).text()),
    );
    const helped = [...shown, await proxy.metrics()].join("\n").matchAll(/^# HELP (\w+)/gm);
    const names = new Set([...helped].map(([, name]) => name));
    const missing = new Set(
      read.map((name) => name.replace(/_bucket$/, "")).filter((name) => !names.has(name)),
    );
    // Of what this deployment does not have: a panel, an evaluator, a batch source, a read replica, a feed of the coin's price.
    const elsewhere = [...missing].filter(
      (name) => !/^ahs_(panel|verdicts?|escrow|warm|read_replica|native_price)_/.test(name),
    );
    expect(elsewhere).toEqual([]);
  });
});

/**
 * Calls by key in two lanes and by payments in one, as long as something lasts. Each is repeated until it is answered, then key and
 * chain are compared with the answers. `first` has the status of each first try, null for a lost connection.
 */
async function underLoad(act: () => Promise<void>): Promise<{ readonly first: readonly (number | null)[] }> {
  const before = { balance: await readBalance(kit.db, key.id), received: await kit.received() };
  const first: (number | null)[] = [];
  let isOver = false;
  const lane = async (headersOf: () => Promise<Record<string, string>>): Promise<number> => {
    let answered = 0;
    for (; !isOver; answered += 1) {
      const headers = { ...(await headersOf()), "idempotency-key": randomUUID() };
      first.push(await statusOf(headers));
      if (first.at(-1) !== 200)
        await until({ what: "a repeat is answered" }, async () =>
          (await statusOf(headers)) === 200 ? true : null,
        );
      await sleep(PAUSE_MS);
    }
    return answered;
  };
  const byKey = async () => ({ "x-api-key": key.secret });
  const byPayment = () =>
    until({ what: "the terms of a payment" }, () => paymentFor(url(ROUTE)).catch(() => null));
  const lanes = Promise.all([lane(byKey), lane(byKey), lane(byPayment)]);
  try {
    await act();
  } finally {
    isOver = true;
  }
  const [one, other, paid] = await lanes;
  expect(before.balance - (await readBalance(kit.db, key.id))).toBe((one + other) * PRICE.units);
  expect((await kit.received()) - before.received).toBe(BigInt(paid) * PRICE.usdc);
  return { first };
}

async function statusOf(headers: Record<string, string>): Promise<number | null> {
  const response = await fetch(url(ROUTE), { headers, signal: AbortSignal.timeout(60_000) }).catch(
    () => null,
  );
  await response?.arrayBuffer();
  return response?.status ?? null;
}
