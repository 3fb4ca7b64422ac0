import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Address, createPublicClient, getAddress, http } from "viem";
import { beforeAll, expect, test } from "vitest";
import { agentHealthOracleAbi } from "../../service/chain/abi/agent-health-oracle.ts";
import { writeDeployment } from "../../service/chain/deployments.ts";
import { sdnXml } from "../service/sanctions/sdn-file.ts";
import { runScript } from "../support/anvil-testkit/script.ts";
import { useTestkit } from "../support/anvil-testkit/testkit.ts";
import { until } from "../support/until.ts";

const LISTED_BEFORE = getAddress("0x00000000000000000000000000000000000a9e01");
const LISTED_NOW = getAddress("0x00000000000000000000000000000000000a9e02");
const IMPORTED = getAddress("0x00000000000000000000000000000000000a9e03");
const CLEAN = getAddress("0x00000000000000000000000000000000000a9e04");
const REORGED = getAddress("0x00000000000000000000000000000000000a9e05");
const FINALITY_BLOCKS = 30;
/** From the listing to the record in the oracle contract. */
const MOST_MS = 60_000;

const kit = useTestkit({ ageSeconds: 3_600 });
beforeAll(async () => {
  const { chain } = kit;
  await chain.sanction([LISTED_BEFORE]);
  // As on a public chain, where the index begins long after the list did.
  const sanctionsList = { address: chain.contracts.sanctionsList, startBlock: (await chain.head()) + 1 };
  writeDeployment(kit.deploymentFile, { ...chain.deployment, sanctionsList });
  for (const wallet of [LISTED_BEFORE, LISTED_NOW, IMPORTED, CLEAN, REORGED]) await chain.register(wallet);
  await chain.mine(2 * FINALITY_BLOCKS, 1);
  await chain.toWallClock();
  await kit.startIndexer();
  kit.startWorker();
});

test("a wallet that the contract listed before the index begins is found by asking the contract", async () => {
  await untilOnChain(LISTED_BEFORE, true);
  expect(await flagsOf(LISTED_BEFORE)).toEqual([
    { source: "chainalysis-oracle", reference: expect.stringMatching(/^isSanctioned at block \d+$/) },
  ]);
  await kit.chain.unsanction([LISTED_BEFORE]);
  await untilOnChain(LISTED_BEFORE, false);
});

test("a listing is in the oracle contract within a minute, and so is its end", async () => {
  const { hash } = await kit.chain.sanction([LISTED_NOW]);
  await untilOnChain(LISTED_NOW, true);
  expect(await flagsOf(LISTED_NOW)).toEqual([{ source: "chainalysis-oracle", reference: hash }]);
  await kit.chain.unsanction([LISTED_NOW]);
  await untilOnChain(LISTED_NOW, false);
});

test("an import of a list with the wallet is in the oracle contract within a minute, and so is one without it", async () => {
  const stranger = getAddress("0x00000000000000000000000000000000000a9e99");
  await importList([IMPORTED, stranger]);
  await untilOnChain(IMPORTED, true);
  expect(await flagsOf(IMPORTED)).toEqual([{ source: "ofac-sdn", reference: "900" }]);
  await importList([stranger]);
  await untilOnChain(IMPORTED, false);
  const { sanctioned } = await recordOf(CLEAN);
  expect(sanctioned).toBe(false);
});

test("a listing that a reorg took out is off the oracle again before anything is final", async () => {
  const listing = await kit.chain.sanction([REORGED]);
  expect(await untilOnChain(REORGED, true, 4)).toBeLessThan(listing.blockNumber + FINALITY_BLOCKS);
  const head = await kit.chain.head();
  await kit.chain.reorg(head - listing.blockNumber + 1);
  await kit.chain.tick();
  await sleep(2_000);
  expect(await untilOnChain(REORGED, false, 4)).toBeLessThan(head + FINALITY_BLOCKS);
});

/** Runs `ahs sanctions import` as an operator would. */
async function importList(addresses: readonly Address[]): Promise<void> {
  const path = join(kit.folder, "sdn_advanced.xml");
  const parties = addresses.map((value, position) => ({
    fixedRef: String(900 + position),
    ids: [{ currency: "USDT", value }],
  }));
  writeFileSync(path, sdnXml({ parties }));
  const env = { DATABASE_URL: kit.databaseUrl };
  const script = runScript(["sanctions", "import", path], env, join(kit.folder, "import.log"));
  expect(await script.exited, script.log()).toBe(0);
}

/** Mines until the oracle's record of the wallet says so for some blocks; returns the first of them, fails after a minute. */
async function untilOnChain(wallet: Address, sanctioned: boolean, blocks = 0): Promise<number> {
  let since: number | null = null;
  return until({ what: `the oracle's flag is ${sanctioned}`, timeoutMs: MOST_MS }, async () => {
    await kit.chain.tick();
    await sleep(500);
    const [record, head] = [await recordOf(wallet), await kit.chain.head()];
    if (!record.exists || record.sanctioned !== sanctioned) since = null;
    else since ??= head;
    return since !== null && head - since >= blocks ? since : null;
  });
}

async function recordOf(wallet: Address) {
  const client = createPublicClient({ transport: http(kit.chain.rpcUrl), cacheTime: 0 });
  return client.readContract({
    address: kit.chain.deployment.oracle.address,
    abi: agentHealthOracleAbi,
    functionName: "scoreOf",
    args: [wallet],
  });
}

/** Source and reference of each flag in the wallet's newest record. */
async function flagsOf(wallet: Address) {
  const { rows } = await kit.db.$client.query(
    `select s.sanctions_flags as flags from ahs.current_score c join ahs.score s on s.id = c.score_id
     where c.wallet = $1`,
    [wallet.toLowerCase()],
  );
  return (rows[0].flags as { source: string; reference: string }[]).map(({ source, reference }) => ({
    source,
    reference,
  }));
}
