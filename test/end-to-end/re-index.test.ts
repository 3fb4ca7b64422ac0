import { statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Address, createPublicClient, getAddress, http, numberToHex } from "viem";
import { beforeAll, expect, test } from "vitest";
import { agentHealthOracleAbi } from "../../service/chain/abi/agent-health-oracle.ts";
import { writeDeployment } from "../../service/chain/deployments.ts";
import { decodeView } from "../../service/chain/oracle-codec.ts";
import type { Database } from "../../service/db/database.ts";
import { readBuilds, readServedBuild } from "../../service/db/index-builds.ts";
import { runScript, type Script } from "../support/anvil-testkit/script.ts";
import type { TestIndexer, TestServer } from "../support/anvil-testkit/services.ts";
import { useTestkit } from "../support/anvil-testkit/testkit.ts";
import { createTestDatabase, openMigrated } from "../support/test-database.ts";
import { createTestKey } from "../support/test-keys.ts";
import { until } from "../support/until.ts";

const [FIRST, SECOND, STATIC] = [0xa9e01, 0xa9e02, 0xa9e03].map((number) =>
  getAddress(numberToHex(number, { size: 20 })),
) as [Address, Address, Address];
const AGENTS = [FIRST, SECOND];
const CHAIN_ID = 31_337;
/** One a day: more than the two weeks that a score needs. */
const HISTORY_CALLS = 17;
const WAIT_MS = 150_000;

const kit = useTestkit({ ageSeconds: 20 * 86_400 });
let oldIndexer: TestIndexer;
let newIndexer: TestIndexer;
let worker: Script;
let server: TestServer;
/** The deployment of the new build: one more wallet. */
let newDeploymentFile: string;

beforeAll(async () => {
  const { chain } = kit;
  await chain.rpc.request("anvil_setBalance", STATIC, numberToHex(10n ** 20n));
  for (const agent of AGENTS) await chain.register(agent);
  for (const agent of AGENTS) await chain.succeedInCrowd(agent);
  for (let call = 0; call < HISTORY_CALLS; call += 1) {
    await chain.moveTime(86_400);
    for (const wallet of [...AGENTS, STATIC]) await chain.succeed(wallet);
  }
  await chain.toWallClock();
  newDeploymentFile = join(kit.folder, "new-deployment.json");
  writeDeployment(newDeploymentFile, { ...chain.deployment, staticWallets: [STATIC] });
  oldIndexer = await kit.startIndexer();
  worker = kit.startWorker();
  server = await kit.startServer();
  await settled(kit.db, AGENTS);
}, 480_000);

test("a new build takes over from the old one without a gap, an error or a step back, and the old one is dropped", async () => {
  const before = await readServedBuild(kit.db.$client, CHAIN_ID);
  const watch = await watchReaders();
  newIndexer = await kit.startIndexer({ deploymentFile: newDeploymentFile });
  await until({ what: "the new build is served", timeoutMs: WAIT_MS }, async () => {
    await mineAtTheIndexesPace(kit.db);
    return (await readServedBuild(kit.db.$client, CHAIN_ID)) === before ? null : true;
  });
  // Both run, and the old one does not take the readers back.
  await settled(kit.db, [...AGENTS, STATIC]);
  expect(await readServedBuild(kit.db.$client, CHAIN_ID)).not.toBe(before);
  await oldIndexer.stop();
  expect(await run(["prune", "--yes"], kit.databaseUrl)).toContain(`dropped ${before}`);
  await newIndexer.reach(await kit.chain.head());
  const seen = await watch.stop();
  expect(seen.answers).toBeGreaterThan(20);
  expect(seen.faults).toEqual([]);
  expect(await readBuilds(kit.db.$client, CHAIN_ID)).toMatchObject([{ isServed: true, isRunning: true }]);
}, 480_000);

test("publications and transactions since a backup are found on the chain again, and nothing is sent twice", async () => {
  const file = join(kit.folder, "ahs.backup");
  await run(["backup", file], kit.databaseUrl);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const nonceBefore = await nonce();
  for (let call = 0; call < 6; call += 1) await kit.chain.revert(FIRST);
  await until({ what: "more is published", timeoutMs: WAIT_MS }, async () => {
    await settled(kit.db, [FIRST]);
    return (await nonce()) > nonceBefore ? true : null;
  });
  for (const process of [worker, server, newIndexer]) await process.stop();

  const fresh = await createTestDatabase();
  const db = openMigrated(fresh.url);
  kit.onClose(async () => {
    await db.$client.end();
    await fresh.drop();
  });
  expect(await run(["restore", file], fresh.url)).toMatch(/restored \d+ rows/);
  const own = { databaseUrl: fresh.url, deploymentFile: newDeploymentFile };
  await kit.startIndexer(own);
  kit.startWorker(own);
  await kit.chain.revert(SECOND);
  await settled(db, [FIRST, SECOND, STATIC]);
  await expectChainEquals(db);
  await expectNothingTwice(db);
}, 480_000);

async function run(args: readonly string[], databaseUrl: string): Promise<string> {
  const env = { DATABASE_URL: databaseUrl, AHS_DEPLOYMENT: kit.deploymentFile };
  const script = runScript(args, env, join(kit.folder, `${args.join("-").replaceAll("/", "_")}.log`));
  expect(await script.exited, script.log()).toBe(0);
  return script.log();
}

/** Starts a client that sends a request every 50 ms, and a reader of the index, until the caller stops both. */
async function watchReaders() {
  const { secret } = await createTestKey(kit.db, null);
  const faults: string[] = [];
  let answers = 0;
  let running = true;
  let newest = 0;
  const ask = async () => {
    while (running) {
      const answer = await fetch(`${server.baseUrl}/ahs/route/${FIRST}`, {
        headers: { "x-api-key": secret },
      });
      const text = await answer.text();
      if (answer.status === 200) answers += 1;
      else faults.push(`${answer.status} ${text}`);
      const { rows } = await kit.db.$client.query<{ newest: number }>(
        "select max(number)::float8 as newest from chain_31337.block",
      );
      const block = rows[0]?.newest ?? -1;
      // Both builds go on in the moment of the change: the very newest block may be of the one and not yet of the other.
      if (block < newest - 1) faults.push(`block ${block} after ${newest}`);
      newest = Math.max(newest, block);
      await sleep(50);
    }
  };
  const done = ask().catch((error: Error) => faults.push(error.message));
  return {
    stop: async () => {
      running = false;
      await done;
      return { answers, faults };
    },
  };
}

/** Every one of the wallets is scored at its last call and published, and nothing is open. */
async function settled(db: Database, wallets: readonly Address[]): Promise<void> {
  await until({ what: `${wallets} are published`, timeoutMs: WAIT_MS }, async () => {
    if ((await readServedBuild(db.$client, CHAIN_ID)) === null) return null;
    await mineAtTheIndexesPace(db);
    const { rows } = await db.$client.query(
      `select (select count(*)::int from ahs.publish_intent where state in ('pending', 'sent'))
         + (select count(*)::int from ahs.sender_transaction where not final and state <> 'failed') as open,
         (select count(*)::int from chain_31337.wallet w join ahs.current_score c on c.wallet = w.address
          join chain_31337.oracle_score o on o.wallet = w.address
          where w.address = any($1) and w.touched_block <= c.as_of_block) as published`,
      [wallets.map((wallet) => wallet.toLowerCase())],
    );
    return rows[0].open === 0 && rows[0].published === wallets.length ? true : null;
  });
}

/** Some blocks more once every build holds all that there are: what was sent gets mined and final, and none falls behind. */
async function mineAtTheIndexesPace(db: Database): Promise<void> {
  const head = await kit.chain.head();
  const builds = await readBuilds(db.$client, CHAIN_ID);
  const running = builds.filter(({ isRunning }) => isRunning);
  const newest = await Promise.all(running.map(({ schema }) => newestOf(db, schema)));
  if (newest.every((block) => block >= head - 1)) await kit.chain.mine(10);
  await sleep(100);
}

/** Of a build that has no tables yet, none. */
async function newestOf(db: Database, schema: string): Promise<number> {
  const { rows } = await db.$client.query("select to_regclass($1) is not null as there", [`${schema}.block`]);
  if (rows[0].there !== true) return -1;
  const { rows: blocks } = await db.$client.query(`select max(number)::int as newest from ${schema}.block`);
  return blocks[0].newest ?? -1;
}

function client() {
  return createPublicClient({ transport: http(kit.chain.rpcUrl) });
}

async function publisher(): Promise<Address> {
  const { rows } = await kit.db.$client.query("select sender from ahs.sender_transaction limit 1");
  return rows[0].sender;
}

async function nonce(): Promise<number> {
  return client().getTransactionCount({ address: await publisher() });
}

async function expectChainEquals(db: Database): Promise<void> {
  const { rows } = await db.$client.query("select wallet, ahs_score, as_of from chain_31337.oracle_score");
  expect(rows).toHaveLength(3);
  for (const { wallet, ahs_score, as_of } of rows) {
    const view = await client().readContract({
      address: kit.chain.deployment.oracle.address,
      abi: agentHealthOracleAbi,
      functionName: "scoreOf",
      args: [wallet],
    });
    const onChain = decodeView(view);
    expect(onChain).toMatchObject({ asOf: BigInt(as_of), outcome: { kind: "scored", ahsScore: ahs_score } });
  }
}

/** No wallet is written twice for one block, and every transaction that the restored database knows is mined, each under a nonce of its own. */
async function expectNothingTwice(db: Database): Promise<void> {
  const events = await client().getContractEvents({
    address: kit.chain.deployment.oracle.address,
    abi: agentHealthOracleAbi,
    eventName: "Published",
    fromBlock: 0n,
  });
  const writes = events.flatMap(({ args }) =>
    (args.packed ?? []).map((word) => `${word.slice(0, 42)} ${args.asOf}`),
  );
  expect(new Set(writes).size).toBe(writes.length);
  const { rows } = await db.$client.query(
    "select nonce::int, state from ahs.sender_transaction where sender = $1 and nonce is not null order by nonce",
    [await publisher()],
  );
  expect(new Set(rows.map(({ state }) => state))).toEqual(new Set(["mined"]));
  expect(rows.at(-1).nonce).toBe((await nonce()) - 1);
}
