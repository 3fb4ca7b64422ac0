import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { reset } from "../../../bin/commands/reset.ts";
import { parseConfig } from "../../../bin/config.ts";
import { writeDeployment } from "../../../service/chain/deployments.ts";
import { type Database, openDatabase } from "../../../service/db/database.ts";
import { createTestDatabase, type TestDatabase } from "../../support/test-database.ts";

const PUBLIC_CHAIN = 8453;
const ADDRESS = "0x000000000000000000000000000000000000dEaD";
const CONTRACT = { address: ADDRESS, startBlock: 0 } as const;
let database: TestDatabase;
let db: Database;
let folder: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "ahs-reset-"));
  database = await createTestDatabase();
  // Not one of ours by its name.
  db = open("test");
  await db.$client.query(`insert into ahs.chain_mark values (${PUBLIC_CHAIN}, 7, '0x7', 'first')`);
});
afterEach(async () => {
  await db.$client.end();
  await database.drop();
  rmSync(folder, { recursive: true });
});

function open(applicationName: string): Database {
  return openDatabase({
    url: database.url,
    applicationName,
    maxConnections: 2,
    statementTimeoutMs: 10_000,
    connectTimeoutMs: 5_000,
    onIdleError: () => undefined,
  });
}

/** Resets the index of a chain. The deployment file sets only the chain id: a reset reads nothing else from it. */
async function resetIndex(chainId: number, ...flags: readonly string[]): Promise<readonly string[]> {
  const deploymentFile = join(folder, `${chainId}.json`);
  writeDeployment(deploymentFile, {
    chainId,
    name: "a chain",
    startBlock: 0,
    finalityBlocks: 1,
    identityRegistry: CONTRACT,
    sanctionsList: null,
    oracle: CONTRACT,
    verdictEvaluator: null,
    assuranceAccounts: null,
    escrows: [],
    registries: [],
    reputationRegistry: null,
    validationRegistry: null,
    usdc: null,
    market: { native: { symbol: "ETH", decimals: 18, feed: null }, wrappedNative: null, tokens: [] },
    accounts: { entryPoints: [], publicFunders: [], mixers: [], venues: [], vettedServices: [] },
    staticWallets: [],
  });
  const lines: string[] = [];
  const config = parseConfig({
    DATABASE_URL: database.url,
    AHS_DEPLOYMENT: deploymentFile,
    LOG_LEVEL: "fatal",
  });
  await reset({ config, args: ["--index", ...flags], out: (line) => lines.push(line) });
  return lines;
}

async function chainsLeft(): Promise<readonly number[]> {
  const { rows } = await db.$client.query<{ chain_id: number }>(
    "select chain_id from ahs.chain_mark order by 1",
  );
  return rows.map(({ chain_id }) => chain_id);
}

test("resets a public chain after a plan that says what is removed and what stays", async () => {
  const plan = await resetIndex(PUBLIC_CHAIN);
  expect(plan.map((line) => line.split(/[,:]/)[0])).toEqual([
    "removed",
    "kept",
    "until the chain is indexed and enriched again",
    "nothing was done",
  ]);
  expect(await chainsLeft()).toEqual([PUBLIC_CHAIN]);
  await resetIndex(PUBLIC_CHAIN, "--yes");
  expect(await chainsLeft()).toEqual([]);
});

test("a public chain is not reset under processes that work with it, unless that is wanted", async () => {
  const worker = open("ahs-work");
  await worker.$client.query("select 1");
  await expect(resetIndex(PUBLIC_CHAIN, "--yes")).rejects.toThrow("ahs-work are connected");
  expect(await chainsLeft()).toEqual([PUBLIC_CHAIN]);
  await resetIndex(PUBLIC_CHAIN, "--yes", "--force");
  expect(await chainsLeft()).toEqual([]);
  await worker.$client.end();
});

test("the local chain is reset at a word", async () => {
  await db.$client.query("insert into ahs.chain_mark values (31337, 7, '0x7', 'first')");
  await resetIndex(31_337);
  expect(await chainsLeft()).toEqual([PUBLIC_CHAIN]);
});
