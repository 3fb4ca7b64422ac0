import {
  type Address,
  type ContractFunctionArgs,
  encodeDeployData,
  encodeFunctionData,
  type Hex,
  numberToHex,
} from "viem";
import { beforeAll, expect, test } from "vitest";
import { openChainClient } from "../../bin/process.ts";
import bytecodes from "../../contracts/bytecode.json" with { type: "json" };
import { mintCallbackAbi } from "../../devnet/abi/mint-callback.ts";
import { identityRegistryAbi } from "../../service/chain/abi/identity-registry.ts";
import { writeDeployment } from "../../service/chain/deployments.ts";
import type { TestIndexer } from "../support/anvil-testkit/services.ts";
import { useTestkit } from "../support/anvil-testkit/testkit.ts";

const PLAIN: Address = "0x00000000000000000000000000000000000a9e01";
const STRANGER: Address = "0x00000000000000000000000000000000000a9e02";
const SENDER: Address = "0x00000000000000000000000000000000000a9e03";
const REGISTER_GAS = 3_000_000n;

const kit = useTestkit({ ageSeconds: 86_400 });
beforeAll(async () => {
  for (const account of [PLAIN, STRANGER, SENDER]) {
    await kit.chain.rpc.request("anvil_setBalance", account, numberToHex(10n ** 20n));
    await kit.chain.rpc.request("anvil_impersonateAccount", account);
  }
});
test("owner, wallet and URI of every agent are the contract's, whatever its mint called back", async () => {
  const { chain } = kit;
  const registry = chain.contracts.identityRegistry;
  const [first, second] = [await deployCallback(), await deployCallback()];
  const deadline = BigInt(Math.floor(Date.now() / 1000)) + 200n;
  await chain.toWallClock();
  const setTo = (agentId: bigint, wallet: Address) =>
    encoded("setAgentWallet", [agentId, wallet, deadline, "0x"]);

  /** Calls that the receiver makes during each agent's mint, by agent id. */
  const duringMint: readonly (readonly Hex[])[] = [
    [],
    [encoded("transferFrom", [first, STRANGER, 1n])],
    [encoded("unsetAgentWallet", [2n])],
    [setTo(3n, second)],
    [encoded("unsetAgentWallet", [4n]), setTo(4n, second)],
    [encoded("setAgentURI", [5n, "data:,during"]), encoded("setApprovalForAll", [SENDER, true])],
    [encoded("transferFrom", [first, second, 6n])],
  ];
  let indexer: TestIndexer | null = null;
  const register = async (agentId: number, uri: string | null) => {
    const registration = uri === null ? encoded("register", []) : encoded("register", [uri]);
    const data = encodeFunctionData({
      abi: mintCallbackAbi,
      functionName: "register",
      args: [registry, registration, duringMint[agentId] ?? []],
    });
    return chain.send({ from: SENDER, to: first, data, gas: REGISTER_GAS });
  };
  for (const agentId of duringMint.keys()) {
    // Half of them before the indexer begins, the others while it follows the head.
    if (agentId === 3) indexer = await kit.startIndexer();
    const { status } = await register(agentId, agentId === 5 ? null : `data:,agent ${agentId}`);
    expect(status).toBe("success");
  }
  expect((await register(7, "data:,a\0b")).status).toBe("success");
  // Three changes of one wallet in one block.
  await inOneBlock([setTo(5n, second), encoded("unsetAgentWallet", [5n]), setTo(5n, first)]);
  await indexer?.reach(await chain.head());

  const inIndex = await kit.db.$client.query<{
    agent_id: string;
    owner: string;
    wallet: string | null;
    open: number;
  }>(
    `select agent_id::int, owner, wallet, agent_uri,
       (select string_agg(s.wallet, ',') from chain_31337.agent_wallet s
        where s.agent_id = a.agent_id and s.to_block is null) as open
     from chain_31337.agent a order by agent_id`,
  );
  const onChain = await Promise.all([0n, 1n, 2n, 3n, 4n, 5n, 6n, 7n].map(readAgent));
  expect(inIndex.rows).toEqual(onChain);
  expect(inIndex.rows[1]).toMatchObject({ owner: STRANGER, wallet: null });
  expect(inIndex.rows[5]).toMatchObject({ agent_uri: "data:,during", wallet: first.toLowerCase() });
  await indexer?.stop();
});

test("metadata of another key never has the contract that it names followed, live, after a restart or by a new index", async () => {
  const { chain } = kit;
  const [hub, other] = [chain.contracts.keeperTarget1, chain.contracts.keeperTarget2];
  await chain.register(PLAIN);
  const before = await kit.startIndexer();
  const agentId = BigInt(
    (await kit.db.$client.query("select max(agent_id) as id from chain_31337.agent")).rows[0].id,
  );
  const name = (target: Address, key: string) =>
    chain.send({
      from: PLAIN,
      to: chain.contracts.identityRegistry,
      data: encoded("setMetadata", [agentId, key, target]),
    });
  // The only log of its block: an answer that were left empty would hold the indexer up for good.
  await name(hub, "x");
  await chain.succeed(STRANGER, hub);
  await before.reach(await chain.head());
  await before.stop();
  await name(other, "wallet");
  await chain.succeed(STRANGER, other);
  await chain.mine(2 * chain.deployment.finalityBlocks + 1);

  const restarted = await kit.startIndexer();
  await chain.succeed(STRANGER, hub);
  await chain.succeed(STRANGER, other);
  await chain.mine(2 * chain.deployment.finalityBlocks + 1);
  await restarted.reach(await chain.head());
  await restarted.stop();
  await expectNothingOf([hub, other]);

  writeDeployment(kit.deploymentFile, { ...chain.deployment, name: "another build" });
  const anew = await kit.startIndexer();
  await anew.stop();
  await expectNothingOf([hub, other]);
});

async function expectNothingOf(targets: readonly Address[]): Promise<void> {
  const named = targets.map((target) => target.toLowerCase());
  const { rows } = await kit.db.$client.query(
    `select (select count(*)::int from ponder_sync.factory_addresses where address = any($1)) as children,
       (select count(*)::int from ponder_sync.transactions where "to" = any($1)) as cached,
       (select count(*)::int from chain_31337.transaction where "to" = any($1)) as stored,
       (select count(*)::int from ponder_sync.transactions where "from" = $2) as known`,
    [named, PLAIN],
  );
  expect(rows).toEqual([{ children: 0, cached: 0, stored: 0, known: expect.any(Number) }]);
  expect(rows[0].known).toBeGreaterThan(1);
}

async function deployCallback(): Promise<Address> {
  const data = encodeDeployData({ abi: mintCallbackAbi, bytecode: bytecodes.MintCallback as Hex });
  const hash = await kit.chain.rpc.request("eth_sendTransaction", {
    from: SENDER,
    data,
    gas: numberToHex(REGISTER_GAS),
    maxFeePerGas: numberToHex(10n ** 11n),
    maxPriorityFeePerGas: numberToHex(1),
  });
  await kit.chain.tick();
  const receipt = (await kit.chain.rpc.request("eth_getTransactionReceipt", hash)) as {
    contractAddress: Address;
  };
  return receipt.contractAddress;
}

async function inOneBlock(calls: readonly Hex[]): Promise<void> {
  for (const data of calls) {
    await kit.chain.rpc.request("eth_sendTransaction", {
      from: SENDER,
      to: kit.chain.contracts.identityRegistry,
      data,
      gas: numberToHex(500_000),
      maxFeePerGas: numberToHex(10n ** 11n),
      maxPriorityFeePerGas: numberToHex(1),
    });
  }
  await kit.chain.tick();
}

/** As the index has it. */
async function readAgent(agentId: bigint) {
  const client = openChainClient(kit.chain.rpcUrl);
  const address = kit.chain.contracts.identityRegistry;
  const base = { address, abi: identityRegistryAbi, args: [agentId] } as const;
  const [owner, wallet, uri] = [
    await client.readContract({ ...base, functionName: "ownerOf" }),
    await client.readContract({ ...base, functionName: "getAgentWallet" }),
    await client.readContract({ ...base, functionName: "tokenURI" }),
  ];
  const shown = BigInt(wallet) === 0n ? null : wallet.toLowerCase();
  return {
    agent_id: Number(agentId),
    owner: owner.toLowerCase(),
    wallet: shown,
    agent_uri: agentId === 7n ? "" : uri,
    open: shown,
  };
}

type Registry = typeof identityRegistryAbi;
function encoded<
  Name extends
    | "register"
    | "setAgentWallet"
    | "unsetAgentWallet"
    | "transferFrom"
    | "setAgentURI"
    | "setApprovalForAll"
    | "setMetadata",
>(functionName: Name, args: ContractFunctionArgs<Registry, "nonpayable" | "payable", Name>): Hex {
  return encodeFunctionData({ abi: identityRegistryAbi, functionName, args } as never);
}
