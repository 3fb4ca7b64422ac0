import { getAddress } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AHS_2026_1 } from "../../service/model/score/policy.ts";
import { scoreAtNewest } from "../../service/scores/score-wallets.ts";
import { enrichThrough } from "../support/anvil-testkit/enrich-final.ts";
import type { TestIndexer } from "../support/anvil-testkit/indexer.ts";
import { bootTestkit, type Testkit } from "../support/anvil-testkit/testkit.ts";

const AGENT = getAddress("0x00000000000000000000000000000000000a9e01");

describe("the index", () => {
  let kit: Testkit;
  beforeAll(async () => {
    kit = await bootTestkit({ ageSeconds: 40 * 86_400 });
  });
  afterAll(async () => {
    await kit.close();
  });

  test("holds an agent's registrations and its reverted transactions, each once, and these lower its success rate", async () => {
    const { chain } = kit;
    await chain.register(AGENT);
    for (let call = 0; call < 20; call += 1) {
      await chain.moveTime(7_200);
      expect((await chain.succeed(AGENT)).status).toBe("success");
    }
    const indexer = await kit.startIndexer();
    await indexer.reach(await chain.head());
    const first = await kit.db.$client.query(
      'select nonce, ok from chain_31337.transaction where "from" = $1 and own order by block limit 1',
      [AGENT.toLowerCase()],
    );
    expect(first.rows).toEqual([{ nonce: 0, ok: true }]);
    await settle(kit, indexer);
    const before = await successRate(kit);

    await chain.register(AGENT);
    await indexer.reach(await chain.head());
    const counted = await kit.db.$client.query(
      `select w.own_calls, count(*)::int as own from chain_31337.wallet w
       join chain_31337.transaction t on t."from" = w.address and t.own where w.address = $1 group by w.own_calls`,
      [AGENT.toLowerCase()],
    );
    expect(counted.rows).toEqual([{ own_calls: 22, own: 22 }]);

    const failed = await chain.revert(AGENT);
    expect(failed.status).toBe("reverted");
    await indexer.reach(failed.blockNumber);
    const { rows } = await kit.db.$client.query(
      "select ok, own from chain_31337.transaction where hash = $1",
      [failed.hash],
    );
    expect(rows).toEqual([{ ok: false, own: true }]);
    await settle(kit, indexer);
    expect(await successRate(kit)).toBeLessThan(before);
    await indexer.stop();
  });
});

/** Lets everything so far become final, and enriches it. */
async function settle(kit: Testkit, indexer: TestIndexer): Promise<void> {
  const block = await kit.chain.head();
  await kit.chain.mine(2 * kit.chain.deployment.finalityBlocks + 1);
  await indexer.reach(await kit.chain.head());
  await enrichThrough(kit.db, kit.chain, block);
}

async function successRate(kit: Testkit): Promise<number> {
  const context = { db: kit.db, chainId: 31_337, chain: kit.chain.deployment, policy: AHS_2026_1 };
  const scored = await scoreAtNewest(context, [AGENT.toLowerCase() as typeof AGENT]);
  const line = scored?.records[0]?.record.features.find(({ name }) => name === "success_rate");
  if (line?.value == null) throw new Error("no success rate");
  return line.value;
}
