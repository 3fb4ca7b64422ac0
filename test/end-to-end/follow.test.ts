import { type Address, encodeFunctionData, getAddress, type Hex, numberToHex } from "viem";
import { beforeAll, expect, test } from "vitest";
import { agentHealthOracleAbi } from "../../service/chain/abi/agent-health-oracle.ts";
import { identityRegistryAbi } from "../../service/chain/abi/identity-registry.ts";
import { writeDeployment } from "../../service/chain/deployments.ts";
import { AHS_2026_2 } from "../../service/model/score/policy.ts";
import { scoreAtNewest } from "../../service/scores/score-wallets.ts";
import { enrichThrough } from "../support/anvil-testkit/enrich-final.ts";
import type { TestIndexer } from "../support/anvil-testkit/services.ts";
import { useTestkit } from "../support/anvil-testkit/testkit.ts";

const STATIC = getAddress("0x00000000000000000000000000000000000a9e01");
const REQUESTED = getAddress("0x00000000000000000000000000000000000a9e02");
const SELLER = getAddress("0x00000000000000000000000000000000000a9e03");
const BUYER = getAddress("0x00000000000000000000000000000000000a9e04");
const HASTY = getAddress("0x00000000000000000000000000000000000a9e05");
const AGENT = getAddress("0x00000000000000000000000000000000000a9e06");

const kit = useTestkit({ ageSeconds: 40 * 86_400 });
let indexer: TestIndexer;
beforeAll(async () => {
  const { chain } = kit;
  writeDeployment(kit.deploymentFile, { ...chain.deployment, staticWallets: [STATIC] });
  for (const wallet of [STATIC, REQUESTED, HASTY]) await fund(wallet);
  await chain.succeed(STATIC);
  await chain.succeed(REQUESTED);
  await chain.send({ from: STATIC, to: chain.contracts.oracle, data: request(REQUESTED) });
  await chain.register(AGENT);
  for (let call = 0; call < 20; call += 1) {
    await chain.moveTime(7_200);
    expect((await chain.succeed(AGENT)).status).toBe("success");
  }
  indexer = await kit.startIndexer();
});

test("a wallet followed for several reasons has each own call once, from the first of them on", async () => {
  const { chain } = kit;
  for (const wallet of [STATIC, REQUESTED]) {
    await chain.succeed(wallet);
    await chain.register(wallet);
    await chain.register(wallet);
    await chain.revert(wallet);
  }
  await inOneBlock(HASTY, [
    { to: chain.contracts.keeperTarget1, data: "0x" },
    { to: chain.contracts.identityRegistry, data: REGISTER },
    { to: chain.contracts.keeperTarget1, data: "0xdeadbeef" },
  ]);
  await chain.succeed(HASTY);
  await indexer.reach(await chain.head());

  expect(await followed(STATIC)).toEqual({
    source: "static",
    own_calls: 6,
    own_failures: 1,
    nonces: range(0, 6),
  });
  expect(await followed(REQUESTED)).toEqual({
    source: "requested",
    own_calls: 4,
    own_failures: 1,
    nonces: range(1, 4),
  });
  // Its calls in that block before the registration are not followed.
  expect(await followed(HASTY)).toEqual({
    source: "registered",
    own_calls: 3,
    own_failures: 1,
    nonces: range(1, 3),
  });

  await chain.register(SELLER);
  const agentId = await newestAgent();
  const data = encodeFunctionData({
    abi: identityRegistryAbi,
    functionName: "transferFrom",
    args: [SELLER, BUYER, agentId],
  });
  await chain.send({ from: SELLER, to: chain.contracts.identityRegistry, data });
  await chain.succeed(SELLER);
  await indexer.reach(await chain.head());
  const { rows } = await kit.db.$client.query(
    `select a.owner, a.wallet, a.wallet_span, s.to_block is not null as closed
     from chain_31337.agent a join chain_31337.agent_wallet s on s.agent_id = a.agent_id where a.agent_id = $1`,
    [agentId],
  );
  expect(rows).toEqual([{ owner: BUYER.toLowerCase(), wallet: null, wallet_span: null, closed: true }]);
  expect(await followed(SELLER)).toEqual({
    source: "registered",
    own_calls: 3,
    own_failures: 0,
    nonces: range(0, 3),
  });
});

test("the index holds an agent's registrations and its reverted transactions, each once, and these lower its success rate", async () => {
  const { chain } = kit;
  const first = await kit.db.$client.query(
    'select nonce, ok from chain_31337.transaction where "from" = $1 and own order by block limit 1',
    [AGENT.toLowerCase()],
  );
  expect(first.rows).toEqual([{ nonce: 0, ok: true }]);
  await settle();
  const before = await successRate();

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
  const { rows } = await kit.db.$client.query("select ok, own from chain_31337.transaction where hash = $1", [
    failed.hash,
  ]);
  expect(rows).toEqual([{ ok: false, own: true }]);
  await settle();
  expect(await successRate()).toBeLessThan(before);
});

/** Lets everything so far become final, and enriches it. */
async function settle(): Promise<void> {
  const block = await kit.chain.head();
  await kit.chain.mine(2 * kit.chain.deployment.finalityBlocks + 1);
  await indexer.reach(await kit.chain.head());
  await enrichThrough(kit.db, kit.chain, block);
}

async function successRate(): Promise<number> {
  const context = { db: kit.db, chainId: 31_337, chain: kit.chain.deployment, policy: AHS_2026_2 };
  const scored = await scoreAtNewest(context, [AGENT.toLowerCase() as typeof AGENT]);
  const line = scored?.records[0]?.record.features.find(({ name }) => name === "success_rate");
  if (line?.value == null) throw new Error("no success rate");
  return line.value;
}

const REGISTER = encodeFunctionData({
  abi: identityRegistryAbi,
  functionName: "register",
  args: ["data:,agent"],
});

function request(wallet: Address): Hex {
  return encodeFunctionData({ abi: agentHealthOracleAbi, functionName: "requestScore", args: [wallet] });
}

function range(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, position) => first + position);
}

async function fund(wallet: Address): Promise<void> {
  await kit.chain.rpc.request("anvil_setBalance", wallet, numberToHex(10n ** 20n));
  await kit.chain.rpc.request("anvil_impersonateAccount", wallet);
}

async function inOneBlock(from: Address, calls: readonly { to: Address; data: Hex }[]): Promise<void> {
  const fee = numberToHex(10n ** 11n);
  for (const call of calls) {
    await kit.chain.rpc.request("eth_sendTransaction", {
      from,
      ...call,
      gas: numberToHex(500_000),
      maxFeePerGas: fee,
      maxPriorityFeePerGas: numberToHex(1),
    });
  }
  await kit.chain.tick();
}

async function newestAgent(): Promise<bigint> {
  const { rows } = await kit.db.$client.query("select max(agent_id) + 1 as id from chain_31337.agent");
  return BigInt(rows[0].id);
}

/** The wallet's row with the nonces of its own calls in the index. */
async function followed(wallet: Address) {
  const { rows } = await kit.db.$client.query(
    `select source, own_calls, own_failures,
       (select array_agg(nonce order by block, transaction_index) from chain_31337.transaction
        where "from" = $1 and own) as nonces
     from chain_31337.wallet where address = $1`,
    [wallet.toLowerCase()],
  );
  return rows[0];
}
