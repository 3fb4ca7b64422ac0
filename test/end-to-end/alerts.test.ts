import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Webhook } from "standardwebhooks";
import { type Address, getAddress } from "viem";
import { beforeAll, expect, test } from "vitest";
import { type Received, type Receiver, startReceiver } from "../service/alerts/receiver.ts";
import type { Script } from "../support/anvil-testkit/script.ts";
import type { TestServer } from "../support/anvil-testkit/services.ts";
import { useTestkit } from "../support/anvil-testkit/testkit.ts";
import { createTestKey, readBalance } from "../support/test-keys.ts";
import { until } from "../support/until.ts";

const WORSENS = getAddress("0x00000000000000000000000000000000000a1e01");
const LISTED = getAddress("0x00000000000000000000000000000000000a1e02");
const WATCHED = getAddress("0x00000000000000000000000000000000000a1e03");
const WALLETS = [WORSENS, LISTED, WATCHED];
const HISTORY_DAYS = 14;
const FAILURES = 12;
/** Blocks after which the local index takes a block as final. */
const FINALITY_BLOCKS = 30;
const BALANCE = 100_000;
const PRICE = 2_000;
/**
 * For what happens on the chain, or to the subscription, to be indexed, enriched, scored and delivered: seconds, and on a machine
 * with much else to do a good minute.
 */
const PATIENCE_MS = 90_000;
/** Two of these after another, and what the test does beside. */
const TEST_MS = 240_000;

/** Of what the tests below watch; thresholds and confidence have tests of their own. */
const ONLY = { events: "ahs.grade_changed,ahs.sanctions_hit" };

type Event = {
  readonly type: string;
  readonly data: {
    readonly address: string;
    readonly previous: { readonly grade: string | null };
    readonly current: { readonly grade: string | null; readonly ahs_score: number | null };
    readonly sanctions_flags?: readonly { readonly source: string; readonly reference: string }[];
    readonly as_of_block: number;
    readonly inputs_hash: string;
  };
};
type Bought = { readonly subscription_id: string; readonly secret: string; readonly manage_token: string };

const kit = useTestkit({ ageSeconds: (HISTORY_DAYS + 6) * 86_400 });
let receiver: Receiver;
let worker: Script;
let server: TestServer;
let key: Awaited<ReturnType<typeof createTestKey>>;

beforeAll(async () => {
  receiver = await startReceiver();
  kit.onClose(receiver.close);
  const { chain } = kit;
  for (const wallet of WALLETS) await chain.register(wallet);
  for (const wallet of WALLETS) await chain.succeedInCrowd(wallet);
  for (let day = 0; day < HISTORY_DAYS; day += 1) {
    await chain.moveTime(86_400);
    for (const wallet of WALLETS) await chain.succeed(wallet);
  }
  await chain.toWallClock();
  await chain.mine(FINALITY_BLOCKS + 5, 0);
  await kit.startIndexer();
  worker = work();
  server = await kit.startServer({ env: { PROBE_LOOPBACK: "1", MAX_INDEX_AGE_SECONDS: "3600" } });
  key = await createTestKey(kit.db, BALANCE);
  await until({ what: "all wallets have a grade", timeoutMs: 2 * PATIENCE_MS }, async () => {
    const { rowCount } = await kit.db.$client.query(
      "select 1 from ahs.current_score where grade is not null",
    );
    return rowCount === WALLETS.length ? true : null;
  });
}, 420_000);

test(
  "a subscription bought with a key gets a change of grade on the chain, signed, within seconds",
  async () => {
    const events = `${ONLY.events},ahs.threshold_breached`;
    const thresholds = { events, score_below: "100", d2_below: "100" };
    const bought = await subscribe(WORSENS, "/worsens", thresholds);
    expect(await readBalance(kit.db, key.id)).toBe(BALANCE - PRICE);
    const [first] = await arrived("/worsens", 1);
    expect(verified(first, bought)).toMatchObject({
      type: "subscription.test",
      data: { subscription_id: bought.subscription_id, address: WORSENS },
    });

    for (let failure = 0; failure < FAILURES; failure += 1) await kit.chain.revert(WORSENS);
    // Ponder calls blocks final in batches as long as the depth that makes them so.
    await kit.chain.mine(2 * FINALITY_BLOCKS + 5, 0);
    const [, second] = await arrived("/worsens", 2);
    const event = verified(second, bought);
    // Values that were below their thresholds all along are states, and no events.
    expect(event).toMatchObject({ type: "ahs.grade_changed", data: { address: WORSENS } });
    expect(event.data.current.grade).not.toBe(event.data.previous.grade);
    const { rows } = await kit.db.$client.query(
      "select grade, ahs_score, as_of_block::int from ahs.score where inputs_hash = $1",
      [event.data.inputs_hash],
    );
    expect(rows).toEqual([
      {
        grade: event.data.current.grade,
        ahs_score: event.data.current.ahs_score,
        as_of_block: event.data.as_of_block,
      },
    ]);
  },
  TEST_MS,
);

test(
  "a listing arrives while another receiver hangs, and kill -9 of the worker loses nothing",
  async () => {
    receiver.answer("/hangs", [204, "hang", "hang", "hang"]);
    receiver.answer("/fails", [204, 503]);
    const hangs = await subscribe(LISTED, "/hangs", ONLY);
    const fails = await subscribe(LISTED, "/fails", ONLY);
    const works = await subscribe(LISTED, "/works", ONLY);
    for (const path of ["/hangs", "/fails", "/works"]) await arrived(path, 1);
    await verifiedAll(3);

    const { hash } = await kit.chain.sanction([LISTED]);
    const event = (await arrived("/works", 3)).slice(1).map((delivery) => verified(delivery, works));
    expect(event.map(({ type }) => type).toSorted()).toEqual(["ahs.grade_changed", "ahs.sanctions_hit"]);
    const hit = event.find(({ type }) => type === "ahs.sanctions_hit");
    expect(hit?.data).toMatchObject({
      address: LISTED,
      current: { grade: "F", ahs_score: 0, trust_routing: "reject" },
      sanctions_flags: [{ source: "chainalysis-oracle", reference: hash }],
    });

    const [, cut] = await arrived("/hangs", 2);
    await until({ what: "all but the hanging deliveries are recorded", timeoutMs: PATIENCE_MS }, async () =>
      (await attemptsAt("/works")).length === 3 && (await attemptsAt("/fails")).includes(503) ? true : null,
    );
    await worker.kill();
    receiver.answer("/hangs", []);
    worker = work();
    const again = (await arrived("/hangs", 4)).slice(2);
    const repeated = again.find(({ headers }) => headers["webhook-id"] === cut?.headers["webhook-id"]);
    expect(repeated?.body).toBe(cut?.body);
    for (const delivery of again) verified(delivery, hangs);

    const toFailing = (await arrived("/fails", 4)).slice(1);
    for (const delivery of toFailing) verified(delivery, fails);
    expect(new Set(toFailing.map(({ headers }) => headers["webhook-id"])).size).toBe(2);

    await until({ what: "all deliveries are recorded", timeoutMs: PATIENCE_MS }, async () =>
      (await attemptsAt("/fails")).length === 4 && (await attemptsAt("/hangs")).length === 3 ? true : null,
    );
    expect(receiver.at("/works")).toHaveLength(3);
    const log = await manage("/deliveries", fails);
    const { deliveries } = (await log.json()) as { deliveries: { state: string; attempts: unknown[] }[] };
    expect(deliveries.map(({ state }) => state)).toEqual(["delivered", "delivered", "delivered"]);
    expect(deliveries.map(({ attempts }) => attempts.length).toSorted()).toEqual([1, 1, 2]);
  },
  TEST_MS,
);

test(
  "the subscription is managed by its token: rotated, tested, and ended for good",
  async () => {
    const bought = await subscribe(WORSENS, "/managed");
    await arrived("/managed", 1);
    const rotated = (await (await manage("/rotate", bought, "POST")).json()) as { secret: string };
    await manage("/test", bought, "POST");
    const [, second] = await arrived("/managed", 2);
    for (const secret of [bought.secret, rotated.secret]) verified(second, { secret });
    const again = await buy(WORSENS, "/managed");
    expect(await again.json()).toMatchObject({
      subscription_id: bought.subscription_id,
      secret: null,
      manage_token: null,
    });
    expect(await (await manage("", bought, "DELETE")).json()).toMatchObject({ status: "ended" });
    expect((await manage("/test", bought, "POST")).status).toBe(404);
  },
  TEST_MS,
);

test("a webhook_url that leads into this network is refused, and nothing is charged", async () => {
  const before = await readBalance(kit.db, key.id);
  const target = new URLSearchParams({ webhook_url: "https://169.254.169.254/latest/meta-data" });
  const refused = await fetch(`${server.baseUrl}/alerts/subscribe/${WORSENS}?${target}`, withKey());
  expect([refused.status, await readBalance(kit.db, key.id)]).toEqual([422, before]);
});

test(
  "the ten-minute path ends well: the example has a wallet's grade change, and verifies what arrives",
  async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "ahs-watch-"));
    kit.onClose(async () => rmSync(dataDir, { recursive: true }));
    const { chain } = kit;
    const up = {
      rpc_url: chain.rpcUrl,
      chain_id: chain.deployment.chainId,
      base_url: server.baseUrl,
      contracts: { sanctionsList: chain.deployment.sanctionsList?.address },
      api_key: key.secret,
      samples: { keeper: WATCHED },
    };
    writeFileSync(join(dataDir, "up.json"), JSON.stringify(up));
    const file = new URL("../../examples/watch-wallet.ts", import.meta.url).pathname;
    const example = spawn(process.execPath, [file, "--data-dir", dataDir]);
    const lines: string[] = [];
    for (const stream of [example.stdout, example.stderr])
      stream.on("data", (text) => lines.push(String(text)));
    const closed = once(example, "close");
    kit.onClose(async () => void example.kill());
    // Blocks come by themselves on the chain that the example is for.
    while (example.exitCode === null && example.signalCode === null)
      await Promise.all([kit.chain.tick(), sleep(500)]);
    const [status] = await closed;
    const said = lines.join("");
    expect(status, said).toBe(0);
    expect(said).toContain("the signature of this ahs.grade_changed verifies");
    expect(said).toContain("ahs.threshold_breached came too");
    const { rows } = await kit.db.$client.query(
      "select ended_at is not null as ended from ahs.alert_subscription where wallet = $1",
      [WATCHED.toLowerCase()],
    );
    expect(rows).toEqual([{ ended: true }]);
  },
  TEST_MS,
);

function work(): Script {
  return kit.startWorker({ env: { PROBE_LOOPBACK: "1" } });
}

function withKey(): RequestInit {
  return { headers: { "X-API-Key": key.secret } };
}

function buy(wallet: Address, path: string, more: Record<string, string> = {}): Promise<Response> {
  const query = new URLSearchParams({ webhook_url: `${receiver.baseUrl}${path}`, ...more });
  return fetch(`${server.baseUrl}/alerts/subscribe/${wallet}?${query}`, withKey());
}

async function subscribe(wallet: Address, path: string, more: Record<string, string> = {}): Promise<Bought> {
  const answer = await buy(wallet, path, more);
  expect(answer.status).toBe(200);
  return (await answer.json()) as Bought;
}

function manage(rest: string, { subscription_id, manage_token }: Bought, method = "GET"): Promise<Response> {
  return fetch(`${server.baseUrl}/alerts/${subscription_id}${rest}`, {
    method,
    headers: { authorization: `Bearer ${manage_token}` },
  });
}

/** Body of a delivery whose signature the public library has verified. */
function verified(delivery: Received | undefined, { secret }: { readonly secret: string }): Event {
  if (delivery === undefined) throw new Error("nothing was delivered");
  return new Webhook(secret).verify(delivery.body, delivery.headers) as Event;
}

async function arrived(path: string, count: number): Promise<readonly Received[]> {
  return until({ what: `${count} deliveries at ${path}`, timeoutMs: PATIENCE_MS }, async () => {
    const at = receiver.at(path);
    return at.length >= count ? at : null;
  });
}

/** Statuses of the attempts that are logged of the receiver's path, oldest first. */
async function attemptsAt(path: string): Promise<readonly (number | null)[]> {
  const { rows } = await kit.db.$client.query(
    `select a.status from ahs.webhook_attempt a join ahs.webhook_event e on e.id = a.event_id
     join ahs.webhook_endpoint w on w.id = e.endpoint_id where w.url = $1 order by a.id`,
    [`${receiver.baseUrl}${path}`],
  );
  return rows.map(({ status }) => status);
}

/** Waits until so many more endpoints count as answering. */
async function verifiedAll(count: number): Promise<void> {
  await until({ what: "the endpoints are verified", timeoutMs: PATIENCE_MS }, async () => {
    const { rowCount } = await kit.db.$client.query(
      `select 1 from ahs.alert_subscription s join ahs.webhook_endpoint e on e.id = s.endpoint_id
       where s.wallet = $1 and e.verified_at is not null`,
      [LISTED.toLowerCase()],
    );
    return rowCount === count ? true : null;
  });
}
