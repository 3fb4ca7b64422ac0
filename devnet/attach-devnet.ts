import type { Address, Hex } from "viem";
import { buildChain } from "./build-chain.ts";
import { contractAddresses } from "./contract-list.ts";
import { type Devnet, type DevnetOptions, devnetOn } from "./devnet.ts";
import { type JsonRpc, jsonRpc } from "./json-rpc.ts";
import {
  chainFault,
  findMissingContract,
  forgetChain,
  type Manifest,
  marksOf,
  readManifest,
  writeManifest,
} from "./manifest.ts";
import { DAY } from "./population/rhythm.ts";
import { createRoster } from "./population/roster.ts";
import { createWorld } from "./population/world.ts";

export type AttachOptions = Omit<DevnetOptions, "port"> & {
  /** A node of another process. */
  readonly rpcUrl: string;
};

/** The shortest history in which agents can show what they are. */
const LEAST_DAYS = 1;

/**
 * The devnet on a node of another process: as it was left if the data folder or the chain itself knows it, else
 * with contracts and population brought to it. Throws unless the node is anvil with chain id 31337 and, if there is
 * something to build, has nothing but its genesis or a head at least a day old.
 */
export async function attachDevnet(options: AttachOptions): Promise<Devnet> {
  const { rpcUrl, dataDir } = options;
  const rpc = jsonRpc(rpcUrl);
  await requireLocalAnvil(rpc);
  const theirs = {
    stopNode: async (): Promise<void> => undefined,
    exited: new Promise<string>(() => undefined),
  };
  const known = dataDir === null ? null : readManifest(dataDir);
  if (known !== null && (await chainFault(rpc, known)) === null) {
    return devnetOn({ rpc, manifest: known, isReused: true, ...theirs }, options);
  }
  const adopted = await adopt(rpc, options);
  const manifest = adopted ?? (await build(rpc, options));
  if (dataDir !== null) {
    forgetChain(dataDir);
    writeManifest(dataDir, manifest);
  }
  return devnetOn({ rpc, manifest, isReused: adopted !== null, ...theirs }, options);
}

async function requireLocalAnvil(rpc: JsonRpc): Promise<void> {
  const chainId = Number(await rpc.request("eth_chainId"));
  if (chainId !== 31_337) throw new Error(`the chain at ${rpc.url} has id ${chainId}, expected 31337`);
  const version = String(await rpc.request("web3_clientVersion"));
  if (!version.startsWith("anvil/")) throw new Error(`the node at ${rpc.url} is ${version}, expected anvil`);
}

/** The manifest of a chain that holds the contracts and this population already; null when it holds no contract. */
async function adopt(rpc: JsonRpc, { seed, wallets, days }: AttachOptions): Promise<Manifest | null> {
  const contracts = contractAddresses();
  if (!(await hasCode(rpc, contracts.identityRegistry))) return null;
  const missing = await findMissingContract(rpc);
  if (missing !== null) throw new Error(`the chain at ${rpc.url} is not complete: ${missing}`);
  const [member] = createRoster(createWorld(contracts, seed, wallets), seed, wallets);
  if (!member || (await nonceOf(rpc, member.context.wallet.address)) === 0) {
    throw new Error(`the chain at ${rpc.url} has the contracts, but not the population of seed ${seed}`);
  }
  const firstBlock = await blockOfCreation(rpc, contracts.identityRegistry);
  return { seed, wallets, days, firstBlock, ...(await marksOf(rpc)) };
}

async function build(rpc: JsonRpc, options: AttachOptions): Promise<Manifest> {
  const start = await startOfHistory(rpc, options);
  const { manifest } = await buildChain({ ...options, rpc, start });
  await rpc.request("evm_setAutomine", true);
  return manifest;
}

/** Unix seconds: the full length ago on a chain that has only its genesis, else not before its newest block. */
async function startOfHistory(rpc: JsonRpc, { days, now }: AttachOptions): Promise<number> {
  const head = (await rpc.request("eth_getBlockByNumber", "latest", false)) as {
    number: Hex;
    timestamp: Hex;
  };
  const today = Math.floor(now());
  const wanted = Math.floor(today - days * DAY);
  const headTime = Number(head.timestamp);
  if (Number(head.number) === 0) {
    // Only the genesis, which is not indexed, is then younger than its successors.
    if (headTime >= wanted) await rpc.request("evm_setTime", wanted - 1);
    return wanted;
  }
  if (today - headTime < LEAST_DAYS * DAY) {
    const age = `its newest block, ${Number(head.number)}, is ${today - headTime} s old`;
    throw new Error(`the chain at ${rpc.url} has no room for a history: ${age}; start it anew`);
  }
  return Math.max(wanted, headTime + 1);
}

async function hasCode(rpc: JsonRpc, address: Address): Promise<boolean> {
  return (await rpc.request("eth_getCode", address, "latest")) !== "0x";
}

async function nonceOf(rpc: JsonRpc, address: Address): Promise<number> {
  return Number(await rpc.request("eth_getTransactionCount", address, "latest"));
}

async function blockOfCreation(rpc: JsonRpc, address: Address): Promise<number> {
  const creator = (await rpc.request("ots_getContractCreator", address)) as { hash: Hex } | null;
  if (creator === null) throw new Error(`the node at ${rpc.url} does not know who created ${address}`);
  const receipt = (await rpc.request("eth_getTransactionReceipt", creator.hash)) as { blockNumber: Hex };
  return Number(receipt.blockNumber);
}
