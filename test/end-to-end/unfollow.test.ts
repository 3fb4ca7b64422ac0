import { type Address, encodeDeployData, encodeFunctionData, getAddress, type Hex, numberToHex } from "viem";
import { beforeAll, expect, test } from "vitest";
import { runUnfollow } from "../../bin/commands/unfollow.ts";
import { EXIT_RESTART } from "../../bin/process.ts";
import bytecodes from "../../contracts/bytecode.json" with { type: "json" };
import { mintCallbackAbi } from "../../devnet/abi/mint-callback.ts";
import { agentHealthOracleAbi } from "../../service/chain/abi/agent-health-oracle.ts";
import { identityRegistryAbi } from "../../service/chain/abi/identity-registry.ts";
import { writeDeployment } from "../../service/chain/deployments.ts";
import { useTestkit } from "../support/anvil-testkit/testkit.ts";
import { until } from "../support/until.ts";

const AGENT: Address = getAddress("0x00000000000000000000000000000000000a9e01");
const SENDER: Address = getAddress("0x00000000000000000000000000000000000a9e02");
/** Of a hub; far from the blocks that the test makes, so that none of it ends a window. */
const BOUND = { transactions: 5, blocks: 1_000_000 };

const kit = useTestkit({ ageSeconds: 86_400 });
let hub: Address;
beforeAll(async () => {
  for (const account of [AGENT, SENDER]) {
    await kit.chain.rpc.request("anvil_setBalance", account, numberToHex(10n ** 20n));
    await kit.chain.rpc.request("anvil_impersonateAccount", account);
  }
  hub = await deployHub();
  writeDeployment(kit.deploymentFile, { ...kit.chain.deployment, receivedBound: BOUND });
});
test("a hub that registers itself costs rows up to the bound; unfollowed, it costs none, through restart, new names and a new index", async () => {
  const { chain, db } = kit;
  const { identityRegistry, oracle } = chain.contracts;
  const final = () => chain.mine(2 * chain.deployment.finalityBlocks + 1);
  await chain.register(AGENT);
  await chain.send({ from: SENDER, to: hub, data: registering(identityRegistry), gas: 3_000_000n });
  await payHub(9);
  await final();
  const first = await kit.startIndexer();
  await payHub(4);
  await first.reach(await chain.head());
  expect(await rowsOf(hub)).toEqual({ wallets: 1, received: 5, calldata: 0 });
  const { rows } = await db.$client.query(
    "select received, busy_until is not null as busy from chain_31337.wallet where address = $1",
    [hub.toLowerCase()],
  );
  expect(rows).toEqual([{ received: 6, busy: true }]);
  await final();
  await first.reach(await chain.head());

  const lines: string[] = [];
  const command = (...args: string[]) =>
    runUnfollow(args, { db, chainId: 31_337, out: (line) => lines.push(line) });
  await command("add", hub);
  expect(lines).toEqual([`${hub} is followed no more: "ahs index" starts again`]);
  // Readers no longer see it, before any process restarts.
  expect((await rowsOf(hub)).wallets).toBe(0);
  expect(await first.exited).toBe(EXIT_RESTART);

  const cached = await cachedOf(hub);
  expect(cached).toBeGreaterThan(9);
  const second = await kit.startIndexer();
  await payHub(3);
  // It is named again by a paid request, by itself and as another agent's wallet.
  await chain.send({ from: SENDER, to: oracle, data: requesting(hub) });
  await chain.send({ from: SENDER, to: hub, data: registering(identityRegistry), gas: 3_000_000n });
  await payHub(3);
  await final();
  await second.reach(await chain.head());
  expect(await cachedOf(hub)).toBe(cached + 1);
  await second.kill();
  await payHub(2);
  await final();

  const third = await kit.startIndexer();
  await third.stop();
  expect(await cachedOf(hub)).toBe(cached + 1);
  writeDeployment(kit.deploymentFile, { ...chain.deployment, name: "anew", receivedBound: BOUND });
  const anew = await kit.startIndexer();
  await until({ what: "the new index is shown" }, async () => {
    const { wallets, received } = await rowsOf(hub);
    return wallets === 0 && received === 0 ? true : null;
  });
  expect(await rowsOf(AGENT)).toMatchObject({ wallets: 1 });
  // The registry's word stays in the index, of which the agent's wallet is a part.
  const agents = await db.$client.query(
    "select count(*)::int as of from chain_31337.agent where wallet = $1",
    [hub.toLowerCase()],
  );
  expect(agents.rows).toEqual([{ of: 2 }]);

  await command("remove", hub);
  expect(await anew.exited).toBe(EXIT_RESTART);
}, 300_000);

async function rowsOf(address: Address) {
  const { rows } = await kit.db.$client.query(
    `select (select count(*)::int from chain_31337.wallet where address = $1) as wallets,
       count(*)::int as received, count(input)::int as calldata
     from chain_31337.transaction where "to" = $1 and not own`,
    [address.toLowerCase()],
  );
  return rows[0];
}

/** Transactions to it that Ponder has stored. */
async function cachedOf(address: Address): Promise<number> {
  const { rows } = await kit.db.$client.query(
    'select count(*)::int as count from ponder_sync.transactions where "to" = $1',
    [address.toLowerCase()],
  );
  return rows[0].count;
}

async function payHub(times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) await kit.chain.send({ from: SENDER, to: hub, value: 1n });
}

function registering(registry: Address): Hex {
  const registration = encodeFunctionData({
    abi: identityRegistryAbi,
    functionName: "register",
    args: ["data:,hub"],
  });
  return encodeFunctionData({
    abi: mintCallbackAbi,
    functionName: "register",
    args: [registry, registration, []],
  });
}

function requesting(wallet: Address): Hex {
  return encodeFunctionData({ abi: agentHealthOracleAbi, functionName: "requestScore", args: [wallet] });
}

async function deployHub(): Promise<Address> {
  const { rpc } = kit.chain;
  const hash = await rpc.request("eth_sendTransaction", {
    from: SENDER,
    data: encodeDeployData({ abi: mintCallbackAbi, bytecode: bytecodes.MintCallback as Hex }),
    gas: numberToHex(3_000_000),
    maxFeePerGas: numberToHex(10n ** 11n),
    maxPriorityFeePerGas: numberToHex(1),
  });
  await kit.chain.tick();
  const receipt = (await rpc.request("eth_getTransactionReceipt", hash)) as { contractAddress: Address };
  return getAddress(receipt.contractAddress);
}
