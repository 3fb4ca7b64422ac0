import { type Address, encodeAbiParameters, encodeEventTopics, type Hex, keccak256, stringToHex } from "viem";
import { expect, test } from "vitest";
import { type NodeLog, type NodeRpc, withFollowedLogs } from "../../../bin/indexer/followed-logs.ts";
import { agentHealthOracleAbi } from "../../../service/chain/abi/agent-health-oracle.ts";
import { identityRegistryAbi } from "../../../service/chain/abi/identity-registry.ts";

const REGISTRY: Address = `0x${"8a".repeat(20)}`;
const HUB: Address = `0x${"cd".repeat(20)}`;
const WALLET: Address = `0x${"ab".repeat(20)}`;

const registryLog = (eventName: "MetadataSet" | "Registered", args: object, data: Hex): NodeLog => ({
  address: REGISTRY,
  topics: encodeEventTopics({ abi: identityRegistryAbi, eventName, args } as never) as readonly Hex[],
  data,
});
const metadata = (key: string, value: Hex) =>
  registryLog(
    "MetadataSet",
    { agentId: 7n, indexedMetadataKey: key },
    encodeAbiParameters([{ type: "string" }, { type: "bytes" }], [key, value]),
  );
const registered = (owner: Address) =>
  registryLog("Registered", { agentId: 7n, owner }, encodeAbiParameters([{ type: "string" }], ["data:,"]));
const requested = (wallet: Address, requester: Address): NodeLog => ({
  address: `0x${"0a".repeat(20)}`,
  topics: encodeEventTopics({
    ...{ abi: agentHealthOracleAbi, eventName: "ScoreRequested", args: { wallet, requester } },
  }) as readonly Hex[],
  data: encodeAbiParameters([{ type: "uint256" }], [1n]),
});

const FACTORY = [{ address: REGISTRY, topics: ["0x01"], fromBlock: "0x1", toBlock: "0x2" }];
const HANDLERS = [{ address: REGISTRY, topics: [["0x01", "0x02"]], fromBlock: "0x1", toBlock: "0x2" }];
const BLOCK = [{ blockHash: "0x01" }];

async function ask(params: unknown, logs: readonly NodeLog[], method = "eth_getLogs") {
  const rpc: NodeRpc = { request: async () => logs };
  const filtered = withFollowedLogs(rpc, { identityRegistry: REGISTRY, unfollowed: [HUB] });
  return (await filtered.request({ method, params })) as readonly NodeLog[];
}
const emptied = (log: NodeLog) => ({ ...log, topics: [], data: "0x" });

test.each<[string, NodeLog, boolean]>([
  ["an agent's wallet", metadata("agentWallet", WALLET), true],
  ["a cleared wallet", metadata("agentWallet", "0x"), true],
  ["a wallet of 32 bytes", metadata("agentWallet", `0x${"00".repeat(12)}${"ab".repeat(20)}`), false],
  ["a wallet of 19 bytes", metadata("agentWallet", `0x${"ab".repeat(19)}`), false],
  ["another key that names a contract", metadata("x", WALLET), false],
  ["a key that only looks like it", metadata("agentWallet ", WALLET), false],
  ["data cut short", { ...metadata("agentWallet", WALLET), data: "0x" }, false],
  ["the same event of another contract", { ...metadata("x", WALLET), address: HUB }, true],
  ["a registration", registered(WALLET), true],
])("%s, for any reader", async (_, log, isWhole) => {
  for (const params of [FACTORY, HANDLERS, BLOCK]) {
    expect(await ask(params, [log])).toEqual([isWhole ? log : emptied(log)]);
  }
});

test("a log of an unfollowed address is whole for handlers alone, and one that is only requested is followed", async () => {
  const naming = [metadata("agentWallet", HUB), registered(HUB), requested(HUB, WALLET)];
  const logs = [...naming, requested(WALLET, HUB)];
  expect(await ask(FACTORY, logs)).toEqual([...naming.map(emptied), requested(WALLET, HUB)]);
  expect(await ask(HANDLERS, logs)).toEqual(logs);
  expect(await ask(BLOCK, logs)).toEqual(logs);
});

test("leaves every other answer as it is", async () => {
  const logs = [metadata("x", HUB)];
  expect(await ask(FACTORY, logs, "eth_getBlockReceipts")).toBe(logs);
  expect(keccak256(stringToHex("agentWallet"))).toBe(metadata("agentWallet", WALLET).topics[2]);
});
