import { setTimeout as sleep } from "node:timers/promises";
import { createPublicClient, getAddress, http } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { agentHealthOracleAbi } from "../../service/chain/abi/agent-health-oracle.ts";
import { until } from "../support/anvil-testkit/script.ts";
import { bootTestkit, type Testkit } from "../support/anvil-testkit/testkit.ts";

const AGENT = getAddress("0x00000000000000000000000000000000000a9e01");
const HISTORY_CALLS = 16;
const FINALITY_BLOCKS = 30;

let kit: Testkit;
beforeAll(async () => {
  kit = await bootTestkit({ ageSeconds: 20 * 86_400 });
  await kit.chain.register(AGENT);
  for (let call = 0; call < HISTORY_CALLS; call += 1) {
    await kit.chain.moveTime(86_400);
    await kit.chain.succeed(AGENT);
  }
  await kit.chain.toWallClock();
  await kit.chain.mine(2 * FINALITY_BLOCKS, 0);
});
afterAll(async () => {
  await kit.close();
});

test("a listing is on chain at once, and one that a reorg took out is off it again before anything is final", async () => {
  const indexer = await kit.startIndexer();
  await indexer.reach(await kit.chain.head());
  kit.startWorker();
  await untilScored();

  const listing = await kit.chain.sanction([AGENT]);
  expect(await untilOnChain(true)).toBeLessThan(listing.blockNumber + FINALITY_BLOCKS);

  const head = await kit.chain.head();
  await kit.chain.reorg(head - listing.blockNumber + 1);
  await kit.chain.tick();
  await sleep(2_000);
  expect(await untilOnChain(false)).toBeLessThan(head + FINALITY_BLOCKS);
});

/** Mines until there is a score without a flag. */
async function untilScored(): Promise<void> {
  await until({ what: "the wallet is scored", timeoutMs: 170_000 }, async () => {
    await kit.chain.tick();
    await sleep(500);
    const { rows } = await kit.db.$client.query(
      "select sanctioned from ahs.current_score where wallet = $1",
      [AGENT.toLowerCase()],
    );
    return rows[0]?.sanctioned === false ? true : null;
  });
}

/** Mines until the oracle holds a record with that flag and keeps it; answers the block in which it first did. */
async function untilOnChain(sanctioned: boolean): Promise<number> {
  const client = createPublicClient({ transport: http(kit.chain.rpcUrl), cacheTime: 0 });
  const { address } = kit.chain.deployment.oracle;
  let since: number | null = null;
  return until({ what: `the oracle's flag is ${sanctioned}`, timeoutMs: 170_000 }, async () => {
    await kit.chain.tick();
    await sleep(700);
    const args = [AGENT] as const;
    const record = await client.readContract({
      address,
      abi: agentHealthOracleAbi,
      functionName: "scoreOf",
      args,
    });
    const head = await kit.chain.head();
    if (!record.exists || record.sanctioned !== sanctioned) since = null;
    else since ??= head;
    return since !== null && head - since >= 4 ? since : null;
  });
}
