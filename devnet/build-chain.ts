import type { Address } from "viem";
import { roleAccounts } from "./accounts.ts";
import { type BuildProgress, buildHistory } from "./build-history.ts";
import { contractAddresses } from "./contract-list.ts";
import { deployContracts } from "./deploy-contracts.ts";
import type { JsonRpc } from "./json-rpc.ts";
import { marksOf } from "./manifest.ts";
import { baseFeeAt } from "./population/base-fee.ts";
import { planBond } from "./population/bond.ts";
import { planFurtherAgents } from "./population/further-agents.ts";
import { type Population, planPopulation } from "./population/plan.ts";
import { type ReadyBlock, resolveBlocks } from "./population/resolve.ts";
import { jobProvider } from "./population/wallets.ts";
import type { World } from "./population/world.ts";

export type ChainPlan = {
  readonly seed: string;
  readonly wallets: number;
  /** Length of the history, in days. */
  readonly days: number;
};

export type StagedProgress = (progress: {
  done: number;
  total: number;
  stage: "contracts" | "plan" | "history" | "catch-up";
}) => void;

type BuildChainOptions = ChainPlan & {
  readonly rpc: JsonRpc;
  /** Unix seconds at which the history begins. */
  readonly start: number;
  /** The wall clock, in unix seconds; fractions are cut. */
  readonly now: () => number;
  readonly onProgress: StagedProgress;
  /** Breaks the building off. */
  readonly signal?: AbortSignal | undefined;
};

const MAX_BLOCKS = 8_000;
/** Empty blocks after the history: more than count as not final, so that all of it is final when services start. */
const CATCH_UP_BLOCKS = 34;
/** The history ends this long before the wall clock, room for the empty blocks. */
const CATCH_UP_SECONDS = 60;
const BLOCKS_FOR_CONTRACTS = 100;
/** Deployment mines by the second. */
const SECONDS_FOR_CONTRACTS = 300;
const ENDOWMENT_WEI = 10n ** 24n;

/** Deploys the contracts, plays the history and catches up with the wall clock, on an anvil whose head is before the start. */
export async function buildChain(options: BuildChainOptions) {
  const { rpc, start, seed, wallets, days, onProgress, signal } = options;
  const now = (): number => Math.floor(options.now());
  onProgress({ done: 0, total: 1, stage: "contracts" });
  await mineOnDemand(rpc, start);
  const deployed = await deployContracts(rpc);
  onProgress({ done: 0, total: 1, stage: "plan" });
  const population = planHistory({ seed, wallets, start, end: now() });
  const blocks = await resolveBlocks(population.blocks, { seed, nonces: await noncesOfRoles(rpc) });

  const endowments = endowmentsOf(population.world);
  await buildHistory({
    rpc,
    blocks,
    endowments,
    onProgress: (progress) => onProgress({ ...progress, stage: "history" }),
    signal,
  });
  const last = blocks.at(-1)?.time ?? start + SECONDS_FOR_CONTRACTS;
  await catchUp({
    rpc,
    seed,
    last,
    now,
    onProgress: (progress) => onProgress({ ...progress, stage: "catch-up" }),
  });

  const firstBlock = deployed.deployment.identityRegistry.startBlock;
  const manifest = { seed, wallets, days, firstBlock, ...(await marksOf(rpc)) };
  return { ...deployed, manifest };
}

/**
 * The population of a chain that starts and ends at these times in unix seconds, as `buildChain` plays it. Its last block is that of
 * the further registries and of the provider's bond.
 */
export function planHistory(span: { seed: string; wallets: number; start: number; end: number }): Population {
  const { seed, wallets, start, end } = span;
  const population = planPopulation({
    contracts: contractAddresses(),
    seed,
    wallets,
    history: { start: start + SECONDS_FOR_CONTRACTS, end: end - CATCH_UP_SECONDS },
    maxBlocks: MAX_BLOCKS - CATCH_UP_BLOCKS - BLOCKS_FOR_CONTRACTS - 1,
  });
  const { blocks } = population;
  const last = blocks.at(-1)?.time ?? start + SECONDS_FOR_CONTRACTS;
  const agents = planFurtherAgents(population, last + 1);
  const bond = planBond(population.world, jobProvider(seed).address, agents.time);
  return { ...population, blocks: [...blocks, { ...agents, calls: [...agents.calls, ...bond] }] };
}

/** From the given time on, whatever mode the node was in. */
async function mineOnDemand(rpc: JsonRpc, start: number): Promise<void> {
  await rpc.request("evm_setIntervalMining", 0);
  await rpc.request("evm_setAutomine", false);
  await rpc.request("evm_mine", { timestamp: start });
}

async function noncesOfRoles(rpc: JsonRpc): Promise<Map<Address, number>> {
  const { deployer } = roleAccounts();
  const nonce = await rpc.request("eth_getTransactionCount", deployer.address, "latest");
  return new Map([[deployer.address, Number(nonce)]]);
}

function endowmentsOf(world: World): Map<Address, bigint> {
  const { bundler, facilitator, spammer, saboteur } = world;
  const rich = [...world.exchanges, ...world.evaluators, bundler, facilitator, spammer, saboteur];
  // The exchanges' wrapped coin is minted: coin must lie behind it for those who unwrap some.
  return new Map(
    [...rich.map((wallet) => wallet.address), world.weth.address].map((a) => [a, ENDOWMENT_WEI]),
  );
}

/** From the time of the newest block, in unix seconds, on. */
async function catchUp({
  rpc,
  seed,
  last,
  now,
  onProgress,
}: Pick<BuildChainOptions, "rpc" | "seed" | "now"> & {
  last: number;
  onProgress: BuildProgress;
}): Promise<void> {
  const end = Math.max(now(), last + CATCH_UP_BLOCKS);
  const start = Math.max(last, end - CATCH_UP_SECONDS);
  const blocks = Array.from({ length: CATCH_UP_BLOCKS }, (_, i): ReadyBlock => {
    const time = start + Math.round(((end - start) * (i + 1)) / CATCH_UP_BLOCKS);
    return { time, baseFee: baseFeeAt(seed, time), transactions: [] };
  });
  await buildHistory({ rpc, blocks, endowments: new Map(), onProgress });
}
