import {
  type Address,
  concatHex,
  createPublicClient,
  createWalletClient,
  type Hex,
  http,
  numberToHex,
  pad,
  toEventSelector,
} from "viem";
import { foundry } from "viem/chains";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "../../../../bin/supervisor/child-process.ts";
import bytecodes from "../../../../contracts/bytecode.json" with { type: "json" };
import { type Anvil, startAnvil } from "../../../../devnet/anvil-process.ts";
import { identityRegistryAbi } from "../../../../service/chain/abi/identity-registry.ts";
import { createChainReader } from "../../../../service/chain/node/chain-reader.ts";
import { CELO, createReportWorld, OLAS, type ReportWorld } from "../nightly/report-world.ts";

const MULTISIG: Address = `0x${"c0".repeat(20)}`;
const NEXT_MULTISIG: Address = `0x${"c1".repeat(20)}`;
const CONFIG: Hex = `0x${"12".repeat(32)}`;
const NEXT_CONFIG: Hex = `0x${"34".repeat(32)}`;
const CREATE = toEventSelector("CreateService(uint256,bytes32)");
const UPDATE = toEventSelector("UpdateService(uint256,bytes32)");
const SAFE_SETUP = toEventSelector("SafeSetup(address,address[],uint256,address,address)");
const DEPLOY = toEventSelector("CreateMultisigWithAgents(uint256,address)");

let world: ReportWorld;
let anvil: Anvil;

beforeAll(async () => {
  anvil = await startAnvil({ port: await freePort(), chainId: 31_337, stateFile: null, genesisTime: null });
  world = await createReportWorld();
});
afterAll(async () => {
  await world.close();
  await anvil.stop();
});

/** Code that calls an account without data. */
function callCode(to: Address): Hex {
  return concatHex(["0x60006000600060006000", "0x73", to, "0x5af150"]);
}

/** Code that logs these topics and one word of data whenever it is called. */
function logCode(topics: readonly Hex[], data: Hex): Hex {
  const push = (word: Hex): Hex => concatHex(["0x7f", pad(word)]);
  const size = data === "0x" ? 0 : 32;
  return concatHex([
    ...[push(data === "0x" ? "0x00" : data), push("0x00"), "0x52" as const],
    ...topics.toReversed().map(push),
    ...[push(numberToHex(size)), push("0x00"), numberToHex(0xa0 + topics.length), "0x00" as const],
  ]);
}

test("a node's own answers show services from creation to their multisig, and agents through every change", async () => {
  const transport = http(anvil.rpcUrl);
  const [owner, other] = (await anvil.rpc.request("eth_accounts")) as [Address, Address];
  const wallet = createWalletClient({ account: owner, chain: foundry, transport });
  const client = createPublicClient({ chain: foundry, transport, pollingInterval: 20, cacheTime: 0 });
  await anvil.rpc.request("evm_setAutomine", true);
  const emit = async (topics: readonly Hex[], data: Hex, before: Hex = "0x") => {
    await anvil.rpc.request("anvil_setCode", OLAS.address, concatHex([before, logCode(topics, data)]));
    await client.waitForTransactionReceipt({
      hash: await wallet.sendTransaction({ to: OLAS.address, gas: 100_000n }),
    });
  };
  const seven = pad("0x07");
  await emit([CREATE, seven], CONFIG);
  await emit([DEPLOY, seven, pad(MULTISIG)], "0x");
  await emit([CREATE, pad("0x08")], CONFIG);
  await emit([UPDATE, seven], NEXT_CONFIG);
  await anvil.rpc.request("anvil_setCode", NEXT_MULTISIG, logCode([SAFE_SETUP, pad(owner)], "0x"));
  await emit([DEPLOY, seven, pad(NEXT_MULTISIG)], "0x", callCode(NEXT_MULTISIG));
  await emit([DEPLOY, seven, pad(MULTISIG)], "0x");

  const hash = await wallet.deployContract({
    abi: identityRegistryAbi,
    bytecode: bytecodes.IdentityRegistry as Hex,
  });
  const { contractAddress: registry } = await client.waitForTransactionReceipt({ hash });
  if (registry == null) throw new Error("the registry was not deployed");
  const identity = { address: registry, abi: identityRegistryAbi } as const;
  const mined = async (sent: Promise<Hex>) => client.waitForTransactionReceipt({ hash: await sent });
  for (const uri of ["https://a.example/0", "https://a.example/1", ""]) {
    await mined(wallet.writeContract({ ...identity, functionName: "register", args: [uri] }));
  }
  await mined(wallet.writeContract({ ...identity, functionName: "transferFrom", args: [owner, other, 0n] }));
  await mined(wallet.writeContract({ ...identity, functionName: "setAgentURI", args: [1n, "ipfs://new"] }));
  await mined(wallet.writeContract({ ...identity, functionName: "unsetAgentWallet", args: [2n] }));

  await world.finalize(Number(await client.getBlockNumber()));
  const asked: string[] = [];
  const reader = (signal: AbortSignal) =>
    createChainReader({
      ...{ url: anvil.rpcUrl, timeoutMs: 10_000, retries: 0, retryMs: 0, signal },
      onRequest: (method) => asked.push(method),
    });
  const { registries } = await world.scan({
    ...world.withRegistries([OLAS, { ...CELO, address: registry }]),
    openReader: reader,
  });
  expect(registries.slice(1)).toMatchObject([
    { name: "olas", agents: 2, newWallets: 1, fault: null },
    { name: "another", agents: 3, newWallets: 1, fault: null },
  ]);
  const receipts = Array.from({ length: 3 }, () => "eth_getTransactionReceipt");
  expect(asked).toEqual(["eth_getLogs", ...receipts, "eth_getLogs"]);
  const { rows } = await world.db.$client.query(
    "select agent_id::int as id, wallet, uri from ahs.registry_agent order by registry = $1 desc, agent_id",
    [OLAS.address.toLowerCase()],
  );
  expect(rows).toEqual([
    { id: 7, wallet: NEXT_MULTISIG, uri: `ipfs://f01701220${NEXT_CONFIG.slice(2)}` },
    { id: 8, wallet: null, uri: `ipfs://f01701220${CONFIG.slice(2)}` },
    { id: 0, wallet: null, uri: "https://a.example/0" },
    { id: 1, wallet: owner.toLowerCase(), uri: "ipfs://new" },
    { id: 2, wallet: null, uri: null },
  ]);
});
