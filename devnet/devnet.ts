import { existsSync, mkdirSync } from "node:fs";
import { type Address, toHex } from "viem";
import type { HDAccount } from "viem/accounts";
import type { Deployment } from "../service/chain/deployments.ts";
import { roleAccounts } from "./accounts.ts";
import { requireFreePort, startAnvil } from "./anvil-process.ts";
import { buildChain, type ChainPlan, type StagedProgress } from "./build-chain.ts";
import { putCanonicalContracts } from "./canonical-contracts.ts";
import { type Contracts, contractAddresses } from "./contract-list.ts";
import { localDeployment } from "./deploy-contracts.ts";
import type { JsonRpc } from "./json-rpc.ts";
import { noteNode, stopOrphan } from "./kept-node.ts";
import { type LiveLogger, type Living, startLiving } from "./live.ts";
import {
  chainFault,
  findMissingContract,
  forgetChain,
  type Manifest,
  readManifest,
  stateFileIn,
  writeManifest,
} from "./manifest.ts";
import type { ArchetypeName } from "./population/plan-types.ts";
import { DAY } from "./population/rhythm.ts";
import { createRoster, samplesOf } from "./population/roster.ts";
import type { KeyedWallet } from "./population/wallets.ts";
import { createWorld } from "./population/world.ts";

export type DevnetOptions = ChainPlan & {
  /** Port of the node on 127.0.0.1. */
  readonly port: number;
  /** Keeps the chain between two runs; null keeps nothing. */
  readonly dataDir: string | null;
  /** The wall clock, in unix seconds; fractions are cut. */
  readonly now: () => number;
  readonly onProgress: StagedProgress;
  readonly logger: LiveLogger;
  /** Breaks the building of a new chain off, which then rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
};

export type Devnet = {
  readonly rpcUrl: string;
  readonly deployment: Deployment;
  readonly contracts: Contracts;
  /** One address of each archetype. */
  readonly samples: Readonly<Record<ArchetypeName, Address>>;
  readonly accounts: Readonly<Record<keyof ReturnType<typeof roleAccounts>, KeyedWallet>>;
  /** Whether the chain of an earlier run goes on. */
  readonly isReused: boolean;
  /** Lets the chain live; until then the node mines each transaction at once. */
  startLiving(): Promise<Living>;
  /** Resolves with a description once the node of its own is gone; never for a node of another process. */
  readonly exited: Promise<string>;
  /** Stops the chain's life and the node of its own, whose chain is written to the data folder. */
  stop(): Promise<void>;
};

/** Parts of a running chain: its node and the contracts on it. */
export type ChainHome = {
  readonly rpc: JsonRpc;
  readonly manifest: Manifest;
  readonly isReused: boolean;
  readonly exited: Promise<string>;
  /** Ends the node, if it is ours. */
  stopNode(): Promise<void>;
};

const CHAIN_ID = 31_337;

/**
 * Starts a node with the contracts and the population: the chain kept in the data folder if it is the one described
 * there, else a new one. Throws when the port is taken, or when the kept chain has another seed or size.
 */
export async function startDevnet(options: DevnetOptions): Promise<Devnet> {
  const { dataDir, port } = options;
  const manifest = dataDir === null ? null : readManifest(dataDir);
  if (dataDir !== null && manifest !== null) await stopOrphan(dataDir, manifest);
  await requireFreePort(port);
  const resumed = dataDir === null || manifest === null ? null : await resume(options, dataDir, manifest);
  const { anvil, ...home } = resumed ?? (await buildAnew(options));
  if (dataDir !== null) noteNode(dataDir, anvil);
  // A loaded node takes up its clock at the genesis again, a building one runs late by what the last block took.
  await anvil.rpc.request("evm_setTime", Math.floor(options.now()));
  await anvil.rpc.request("evm_setAutomine", true);
  return devnetOn({ ...home, rpc: anvil.rpc, exited: anvil.exited, stopNode: anvil.stop }, options);
}

/** The devnet on a chain that was built or found. */
export async function devnetOn(
  home: ChainHome,
  { now, logger }: Pick<DevnetOptions, "now" | "logger">,
): Promise<Devnet> {
  const { rpc, manifest } = home;
  const { seed, wallets, firstBlock } = manifest;
  const contracts = contractAddresses();
  // A chain that was built before may lack them.
  await putCanonicalContracts(rpc);
  const world = createWorld(contracts, seed, wallets);
  const roster = createRoster(world, seed, wallets);
  let living: Living | null = null;
  return {
    rpcUrl: rpc.url,
    deployment: await localDeployment(rpc, {
      firstBlock,
      exchanges: world.exchanges.map((exchange) => exchange.address),
    }),
    contracts,
    samples: samplesOf(roster),
    accounts: keyedAccounts(),
    isReused: home.isReused,
    exited: home.exited,
    startLiving: async () => {
      living ??= await startLiving({ rpc, world, roster, seed, now, logger });
      return living;
    },
    stop: async () => {
      await living?.stop();
      await home.stopNode();
    },
  };
}

async function resume(options: DevnetOptions, dataDir: string, manifest: Manifest) {
  const { seed, wallets, days, port, logger } = options;
  if (manifest.seed !== seed || manifest.wallets !== wallets || manifest.days !== days) {
    const built = `seed ${manifest.seed}, ${manifest.wallets} wallets, ${manifest.days} days`;
    throw new Error(`the chain in ${dataDir} was built with ${built}: start it with these, or reset it`);
  }
  const stateFile = stateFileIn(dataDir);
  if (!existsSync(stateFile)) {
    logger.warn("the last run ended without writing its chain: building a new one");
    return null;
  }
  // With another genesis the node would keep two blocks 0.
  const genesisTime = manifest.genesis.timestamp;
  const anvil = await startAnvil({ port, chainId: CHAIN_ID, stateFile, genesisTime }).catch(
    (error: unknown) => {
      logger.warn(`the kept chain cannot be loaded, building a new one: ${String(error)}`);
      return null;
    },
  );
  if (anvil === null) return null;
  const fault = (await chainFault(anvil.rpc, manifest)) ?? (await findMissingContract(anvil.rpc));
  if (fault === null) return { anvil, manifest, isReused: true };
  logger.warn(`the kept chain is not the one that was built (${fault}): building a new one`);
  await anvil.stop();
  return null;
}

async function buildAnew(options: DevnetOptions) {
  const { dataDir, port, now, days } = options;
  if (dataDir !== null) {
    forgetChain(dataDir);
    mkdirSync(dataDir, { recursive: true });
  }
  const start = Math.floor(now() - days * DAY);
  const stateFile = dataDir === null ? null : stateFileIn(dataDir);
  const anvil = await startAnvil({ port, chainId: CHAIN_ID, stateFile, genesisTime: start - 1 });
  try {
    const { manifest } = await buildChain({ ...options, rpc: anvil.rpc, start });
    if (dataDir !== null) writeManifest(dataDir, manifest);
    return { anvil, manifest, isReused: false };
  } catch (error) {
    await anvil.stop();
    throw error;
  }
}

function keyedAccounts(): Devnet["accounts"] {
  const accounts = Object.entries(roleAccounts()).map(([role, account]) => [role, keyed(account)]);
  return Object.fromEntries(accounts) as Devnet["accounts"];
}

function keyed(account: HDAccount): KeyedWallet {
  const { privateKey } = account.getHdKey();
  if (!privateKey) throw new Error(`${account.address} has no private key`);
  return { address: account.address, privateKey: toHex(privateKey) };
}
