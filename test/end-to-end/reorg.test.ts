import { join } from "node:path";
import { type Address, getAddress } from "viem";
import { expect, test } from "vitest";
import { writeDeployment } from "../../service/chain/deployments.ts";
import { lowerCase } from "../../service/db/columns.ts";
import type { Database } from "../../service/db/database.ts";
import { AHS_2026_2 } from "../../service/model/score/policy.ts";
import { scoreAtNewest } from "../../service/scores/score-wallets.ts";
import { readEscrowIndex, readIndexedJob } from "../../service/verification/escrow/escrow-jobs.ts";
import { enrichThrough } from "../support/anvil-testkit/enrich-final.ts";
import { startIndexer } from "../support/anvil-testkit/services.ts";
import { useTestkit } from "../support/anvil-testkit/testkit.ts";
import { createTestDatabase, openMigrated } from "../support/test-database.ts";

const STEADY = getAddress("0x00000000000000000000000000000000000a9e01");
const LATE = getAddress("0x00000000000000000000000000000000000a9e02");
/** Table and the key that orders it. */
const TABLES = [
  ["agent", "agent_id"],
  ["agent_wallet", "id"],
  ["wallet", "address"],
  ["transaction", "hash"],
  ["block", "number"],
  ["sanctions_change", "id"],
] as const;

const kit = useTestkit({ ageSeconds: 30 * 86_400 });

test("after a reorg of ten blocks rows and scores equal those of a fresh index, which needs no evaluator and no escrow", async () => {
  const { chain } = kit;
  await chain.register(STEADY);
  await work(STEADY, 15);
  const live = await kit.startIndexer();

  await chain.register(LATE);
  await work(LATE, 4);
  await chain.sanction([LATE]);
  await chain.revert(STEADY);
  const head = await chain.head();
  await live.reach(head);
  const beforeReorg = await rowsOf(kit.db);

  await chain.reorg(10);
  await work(STEADY, 3);
  const lastCall = await chain.head();
  await chain.mine(2 * chain.deployment.finalityBlocks + 1);
  await live.reach(await chain.head());
  await expect.poll(async () => newestHash(kit.db)).toBe(await headHash());

  const fresh = await indexAfresh();
  const afterReorg = await rowsOf(kit.db);
  expect(afterReorg).toEqual(await rowsOf(fresh.db));
  expect(afterReorg).not.toEqual(beforeReorg);
  const scores = await scoresOf(kit.db, lastCall);
  expect(scores.map(({ wallet }) => wallet)).toEqual([STEADY.toLowerCase()]);
  expect(scores).toEqual(await scoresOf(fresh.db, lastCall));
  await fresh.end();
});

async function work(agent: Address, calls: number): Promise<void> {
  for (let call = 0; call < calls; call += 1) {
    await kit.chain.moveTime(3_600);
    await kit.chain.succeed(agent);
  }
}

/** A second index of the same chain, in a database of its own, whose deployment knows no evaluator and no escrow. */
async function indexAfresh() {
  const database = await createTestDatabase();
  const db = openMigrated(database.url);
  const deploymentFile = join(kit.folder, "bare.json");
  writeDeployment(deploymentFile, { ...kit.chain.deployment, verdictEvaluator: null, escrows: [] });
  const indexer = await startIndexer({
    ...{ folder: kit.folder, databaseUrl: database.url, rpcUrl: kit.chain.rpcUrl, deploymentFile },
  });
  const head = await kit.chain.head();
  await indexer.reach(head);
  expect(await readEscrowIndex(db, 31_337)).toMatchObject({ number: BigInt(head) });
  const escrow = lowerCase(kit.chain.contracts.jobEscrow);
  expect(await readIndexedJob(db, { chainId: 31_337, escrow, jobId: 1n })).toBeNull();
  const end = async () => {
    await indexer.stop();
    await db.$client.end();
    await database.drop();
  };
  return { db, end };
}

async function rowsOf(db: Database): Promise<Record<string, unknown[]>> {
  const tables: Record<string, unknown[]> = {};
  for (const [table, key] of TABLES) {
    const { rows } = await db.$client.query(`select * from chain_31337."${table}" order by ${key}`);
    tables[table] = rows;
  }
  return tables;
}

/** Records of both wallets once a block is final; beyond it the two indexes need not have come as far. */
async function scoresOf(db: Database, finalBlock: number) {
  await enrichThrough(db, kit.chain, finalBlock);
  const wallets = [STEADY, LATE].map((address) => address.toLowerCase() as Address);
  const context = { db, chainId: 31_337, chain: kit.chain.deployment, policy: AHS_2026_2 };
  const scored = await scoreAtNewest(context, wallets);
  if (scored === null) throw new Error("there is no block to score at");
  return scored.records.map(({ record: { coverage, ...record }, counterparties }) => {
    const { toBlock: _toBlock, ...covered } = coverage;
    return { ...record, covered, counterparties };
  });
}

async function newestHash(db: Database): Promise<string | undefined> {
  const { rows } = await db.$client.query("select hash from chain_31337.block order by number desc limit 1");
  return rows[0]?.hash;
}

async function headHash(): Promise<string> {
  const block = (await kit.chain.rpc.request("eth_getBlockByNumber", "latest", false)) as { hash: string };
  return block.hash;
}
