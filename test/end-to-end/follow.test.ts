import { type Address, encodeFunctionData, getAddress, type Hex, numberToHex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { agentHealthOracleAbi } from "../../service/chain/abi/agent-health-oracle.ts";
import { identityRegistryAbi } from "../../service/chain/abi/identity-registry.ts";
import { writeDeployment } from "../../service/chain/deployments.ts";
import { bootTestkit, type Testkit } from "../support/anvil-testkit/testkit.ts";

const STATIC = getAddress("0x00000000000000000000000000000000000a9e01");
const REQUESTED = getAddress("0x00000000000000000000000000000000000a9e02");
const SELLER = getAddress("0x00000000000000000000000000000000000a9e03");
const BUYER = getAddress("0x00000000000000000000000000000000000a9e04");
const HASTY = getAddress("0x00000000000000000000000000000000000a9e05");

let kit: Testkit;
beforeAll(async () => {
  kit = await bootTestkit({ ageSeconds: 86_400 });
});
afterAll(async () => {
  await kit.close();
});

test("a wallet followed for several reasons has each own call once, from the first of them on", async () => {
  const { chain } = kit;
  writeDeployment(kit.deploymentFile, { ...chain.deployment, staticWallets: [STATIC] });
  for (const wallet of [STATIC, REQUESTED, HASTY]) await fund(wallet);
  await chain.succeed(STATIC);
  await chain.succeed(REQUESTED);
  await chain.send({ from: STATIC, to: chain.contracts.oracle, data: request(REQUESTED) });
  const indexer = await kit.startIndexer();
  await indexer.reach(await chain.head());
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
  // What it did in the block before it registered is not followed.
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
