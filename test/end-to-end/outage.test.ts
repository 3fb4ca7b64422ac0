import { setTimeout as sleep } from "node:timers/promises";
import { getAddress } from "viem";
import { beforeAll, expect, test } from "vitest";
import { privateKeyOf, roleAccounts } from "../../devnet/accounts.ts";
import { type CuttableProxy, startCuttableProxy } from "../support/anvil-testkit/cuttable-proxy.ts";
import type { Script } from "../support/anvil-testkit/script.ts";
import type { TestServer } from "../support/anvil-testkit/services.ts";
import { useTestkit } from "../support/anvil-testkit/testkit.ts";
import { urlForRole } from "../support/test-database.ts";
import { until } from "../support/until.ts";

const AGENT = getAddress("0x00000000000000000000000000000000000a9e01");
const OUTAGE_MS = 4_000;
const RECOVERY_MS = 90_000;

const kit = useTestkit({ ageSeconds: 20 * 86_400 });
let database: CuttableProxy;
let node: CuttableProxy;
let worker: Script;
let indexer: Script;
let server: TestServer;

/** As providers of nodes hand out keys. */
const NODE_KEY = "nOdEkEy-0123456789abcdef";
const PANEL_KEY = "sk-panel-0123456789abcdef";
/** Nothing listens at the panel's. */
const TRACED = {
  LOG_LEVEL: "trace",
  PANEL_BASE_URL: "http://127.0.0.1:1/v1",
  PANEL_MODEL: "none",
  PANEL_API_KEY: PANEL_KEY,
};

function withKey(url: string): string {
  return `${url}?apikey=${NODE_KEY}`;
}

beforeAll(async () => {
  await kit.chain.register(AGENT);
  await kit.chain.succeedInCrowd(AGENT);
  for (let call = 0; call < 36; call += 1) {
    await kit.chain.moveTime(43_200);
    await kit.chain.succeed(AGENT);
  }
  await kit.chain.toWallClock();
  [database, node] = await Promise.all([
    startCuttableProxy(kit.databaseUrl),
    startCuttableProxy(kit.chain.rpcUrl),
  ]);
  kit.onClose(database.close);
  kit.onClose(node.close);
  const own = { rpcUrl: withKey(node.url), env: TRACED };
  indexer = await kit.startIndexer({ rpcUrl: own.rpcUrl });
  worker = kit.startWorker({ ...own, databaseUrl: database.url });
  server = await kit.startServer({ ...own, databaseUrl: database.url });
  await publishedAfter(0);
}, 240_000);

test.each([
  ["database", () => database],
  ["node", () => node],
])(
  "a worker outlives the loss of its %s, and publishes what happened meanwhile",
  async (_, part) => {
    const before = (await onChain()).asOf;
    part().cut();
    for (let call = 0; call < 6; call += 1) await kit.chain.revert(AGENT);
    await sleep(OUTAGE_MS);
    part().restore();
    await publishedAfter(before);
    const exited = await Promise.race([worker.exited.then(() => true), sleep(0).then(() => false)]);
    expect(exited).toBe(false);
  },
  OUTAGE_MS + RECOVERY_MS + 30_000,
);

test("no process's log, at trace and through all of this, holds a key or a password", async () => {
  await fetch(`${server.baseUrl}/health`);
  const { password } = new URL(urlForRole(kit.databaseUrl, "ahs_work"));
  const keys = Object.entries(accountKeys());
  for (const [name, script] of Object.entries({ indexer, worker, server })) {
    const log = script.log();
    for (const secret of [NODE_KEY, PANEL_KEY, password]) expect(log, name).not.toContain(secret);
    for (const [role, key] of keys) expect(log, `${name}: ${role}`).not.toContain(key);
    expect(log.length, name).toBeGreaterThan(0);
  }
  // It logged the loss of the node with its URL.
  expect(indexer.log()).toContain("apikey=[Redacted]");
});

/** Without 0x, as a log might show them. */
function accountKeys(): Record<string, string> {
  const { publisher, signer, facilitator } = roleAccounts();
  const digits = (account: typeof publisher) => privateKeyOf(account).slice(2);
  return { publisher: digits(publisher), signer: digits(signer), facilitator: digits(facilitator) };
}

/** Lets the chain go on until the oracle's record is of a later block; six failures more move every score enough. */
async function publishedAfter(asOf: number): Promise<void> {
  await until({ what: `a record after block ${asOf}`, timeoutMs: RECOVERY_MS }, async () => {
    await kit.chain.tick();
    await sleep(100);
    return (await onChain()).asOf > asOf ? true : null;
  });
}

async function onChain(): Promise<{ asOf: number }> {
  const there = await kit.db.$client.query(
    "select to_regclass('chain_31337.oracle_score') is not null as there",
  );
  if (there.rows[0]?.there !== true) return { asOf: 0 };
  const { rows } = await kit.db.$client.query("select max(as_of) as as_of from chain_31337.oracle_score");
  return { asOf: Number(rows[0]?.as_of ?? 0) };
}
