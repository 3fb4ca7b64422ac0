import { ExactEvmScheme } from "@x402/evm/exact/client";
import { wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { getAddress } from "viem";
import { beforeAll, expect, test } from "vitest";
import { roleAccounts } from "../../devnet/accounts.ts";
import { servesFreshData } from "../../devnet/demo/await-ready.ts";
import { type Receiver, startReceiver } from "../service/alerts/receiver.ts";
import type { TestServer } from "../support/anvil-testkit/services.ts";
import { useTestkit } from "../support/anvil-testkit/testkit.ts";
import { createTestKey } from "../support/test-keys.ts";
import { until } from "../support/until.ts";

const AGENT = getAddress("0x00000000000000000000000000000000000a9e05");
const HOUR_MS = 3_600_000;
const BLOCK_MS = 300;
const TOLERANCE = "3 minutes";
const SHIFT = new URL("../support/anvil-testkit/shift-date.ts", import.meta.url).href;
const ENV = { PROBE_LOOPBACK: "1", HISTORY_SOURCE: "none" };

const payFetch = wrapFetchWithPayment(
  fetch,
  new x402Client().register("eip155:31337", new ExactEvmScheme(roleAccounts().payer)).setSpendControls(false),
);
const kit = useTestkit({ ageSeconds: 20 * 86_400 });
let good: TestServer;
let ahead: TestServer;
let behind: TestServer;
let receiver: Receiver;

/** A process whose machine's date is shifted. */
const off = (aheadMs: number) => ({
  env: { ...ENV, NODE_OPTIONS: `--import=${SHIFT}`, DATE_AHEAD_MS: String(aheadMs) },
});

/** One good server; every other process is an hour off, in either direction. */
beforeAll(async () => {
  receiver = await startReceiver();
  kit.onClose(receiver.close);
  await kit.chain.register(AGENT);
  await kit.chain.succeedInCrowd(AGENT);
  for (let day = 0; day < 12; day += 1) {
    await kit.chain.moveTime(86_400);
    await kit.chain.succeed(AGENT);
  }
  await kit.chain.toWallClock();
  await kit.chain.mine(40, 0);
  await kit.startIndexer(off(-HOUR_MS));
  for (const shift of [HOUR_MS, -HOUR_MS]) kit.startWorker(off(shift));
  [good, ahead, behind] = await Promise.all([
    kit.startServer({ env: ENV }),
    kit.startServer(off(HOUR_MS)),
    kit.startServer(off(-HOUR_MS)),
  ]);
  kit.startMining(BLOCK_MS);
  await until({ what: "the wallet has a score and the index is fresh", timeoutMs: 120_000 }, async () => {
    const { rowCount } = await kit.db.$client.query("select 1 from ahs.current_score");
    return rowCount !== 0 && (await servesFreshData(good.baseUrl)) ? true : null;
  });
}, 300_000);

test("a server an hour off is not ready, in words, and measures ages by the database", async () => {
  const readings = await Promise.all(
    [good, ahead, behind].map(async ({ baseUrl }) => {
      const response = await fetch(`${baseUrl}/readyz`);
      const { checks, index } = (await response.json()) as {
        readonly checks: { readonly server: { readonly detail: string } };
        readonly index: { readonly ok: boolean };
      };
      return [response.status, checks.server.detail, index.ok];
    }),
  );
  const words = (side: string) =>
    expect.stringMatching(
      new RegExp(
        `^this machine's clock is 3(599|600|601) s ${side} the database's, at most 5 s are allowed$`,
      ),
    );
  expect(readings).toEqual([
    [200, "takes requests", true],
    [503, words("ahead of"), true],
    [503, words("behind"), true],
  ]);
  expect(ahead.log()).toMatch(/"level":50.*this machine's clock is/);
});

test("calls at servers an hour off take from a key's rate what calls elsewhere take, and no more", async () => {
  const key = await createTestKey(kit.db, null);
  await kit.db.$client.query("update ahs.api_key set rate_per_minute = 60 where id = $1", [key.id]);
  const ask = ({ baseUrl }: TestServer) =>
    fetch(`${baseUrl}/ahs/route/${AGENT}`, { headers: { "X-API-Key": key.secret } });
  for (const server of [ahead, behind]) expect((await ask(server)).status).toBe(200);
  const answers = await Promise.all(Array.from({ length: 80 }, () => ask(good)));
  const granted = answers.filter(({ status }) => status === 200).length;
  const refused = answers.find(({ status }) => status === 429);
  // One token comes back in each second of the burst.
  expect(granted).toBeGreaterThanOrEqual(58);
  expect(granted).toBeLessThan(80);
  expect(Number(refused?.headers.get("retry-after"))).toBeLessThanOrEqual(1);
  await until({ what: "a token is back", timeoutMs: 5_000 }, async () =>
    (await ask(good)).status === 200 ? true : null,
  );
});

test("payments settle and alerts arrive by workers an hour off, which also made the score", async () => {
  const paid = await payFetch(`${good.baseUrl}/ahs/route/${AGENT}`);
  expect([paid.status, await paid.json()]).toMatchObject([200, { stale: false }]);
  const key = await createTestKey(kit.db, 100_000);
  const query = new URLSearchParams({ webhook_url: `${receiver.baseUrl}/here`, events: "ahs.grade_changed" });
  const bought = await fetch(`${good.baseUrl}/alerts/subscribe/${AGENT}?${query}`, {
    headers: { "X-API-Key": key.secret },
  });
  expect(bought.status).toBe(200);
  const [delivery] = await until({ what: "the test event arrives", timeoutMs: 60_000 }, async () => {
    const received = receiver.at("/here");
    return received.length > 0 ? received : null;
  });
  const sentAt = Number(delivery?.headers["webhook-timestamp"]);
  expect(Math.abs(sentAt - Date.now() / 1_000)).toBeLessThan(60);
});

test("no row is dated by a clock that is an hour off", async () => {
  const { rows: columns } = await kit.db.$client.query<{ table: string; column: string }>(
    `select table_name as table, column_name as column from information_schema.columns
     where table_schema = 'ahs' and data_type = 'timestamp with time zone'`,
  );
  expect(columns.length).toBeGreaterThan(80);
  const wrong: string[] = [];
  for (const { table, column } of columns) {
    const { rows } = await kit.db.$client.query<{ rows: number }>(
      `select count(*)::int as rows from ahs."${table}"
       where "${column}" between now() + interval '1 hour' - interval '${TOLERANCE}' and now() + interval '1 hour' + interval '${TOLERANCE}'
          or "${column}" between now() - interval '1 hour' - interval '${TOLERANCE}' and now() - interval '1 hour' + interval '${TOLERANCE}'`,
    );
    if (rows[0]?.rows !== 0) wrong.push(`${table}.${column}`);
  }
  expect(wrong).toEqual([]);
});
