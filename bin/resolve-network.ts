import { existsSync } from "node:fs";
import { type Address, getAddress } from "viem";
import { loadNetwork, type Network } from "../service/chain/networks.ts";
import type { OracleOptions } from "./deploy-options.ts";

/** ERC-4337 entry points 0.6 to 0.9, at one address on every chain that has them. */
const ENTRY_POINTS = [
  "0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789",
  "0x0000000071727De22E5E9d8BAf0edAc6f37da032",
  "0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108",
  "0x433709009B8330FDa32311DF1C2AFA402eD8D009",
] as const;
/** Of a chain of which no more is said. */
const FINALITY_BLOCKS = 30;

type Known = Omit<Network, "identityRegistry"> & {
  /** Null where the options have to name it. */
  readonly identityRegistry: Network["identityRegistry"] | null;
};

/** What the options say of the chain, over the file of the network that they name; throws where that is another chain's. */
export function resolveNetwork(wanted: OracleOptions, chainId: number): Network {
  const known = wanted.network === undefined ? nothingKnown(chainId) : named(wanted.network, chainId);
  const usdc = wanted.usdc === undefined ? known.usdc : getAddress(wanted.usdc);
  return {
    ...known,
    name: wanted.name ?? known.name,
    finalityBlocks: wanted.finality ?? known.finalityBlocks,
    identityRegistry: registryOf(wanted, known),
    sanctionsList: sanctionsOf(wanted, known),
    usdc,
    market: { ...known.market, tokens: tokensWith(known.market.tokens, usdc) },
  };
}

/** `base` is networks/base.json of this checkout; anything else is a path. */
function named(network: string, chainId: number): Network {
  const ours = new URL(`../networks/${network}.json`, import.meta.url).pathname;
  const known = loadNetwork(/^[a-z0-9-]+$/.test(network) && existsSync(ours) ? ours : network);
  if (known.chainId === chainId) return known;
  throw new Error(`the network ${network} is chain ${known.chainId}, and the node's is chain ${chainId}`);
}

function nothingKnown(chainId: number): Known {
  return {
    chainId,
    name: `chain-${chainId}`,
    finalityBlocks: FINALITY_BLOCKS,
    identityRegistry: null,
    sanctionsList: null,
    registries: [],
    usdc: null,
    market: {
      native: { symbol: "ETH", decimals: 18, feed: null },
      wrappedNative: null,
      tokens: [],
    },
    accounts: { entryPoints: [...ENTRY_POINTS], publicFunders: [], mixers: [] },
    staticWallets: [],
  };
}

function registryOf(wanted: OracleOptions, known: Known): Network["identityRegistry"] {
  const { registry, "registry-block": startBlock } = wanted;
  if (registry !== undefined) return { address: getAddress(registry), startBlock: startBlock ?? null };
  if (known.identityRegistry === null) throw new Error("no identity registry is named");
  return startBlock === undefined ? known.identityRegistry : { ...known.identityRegistry, startBlock };
}

function sanctionsOf(wanted: OracleOptions, known: Known): Network["sanctionsList"] {
  const { sanctions, "sanctions-block": startBlock } = wanted;
  if (sanctions === "none") return null;
  if (sanctions !== undefined) return { address: getAddress(sanctions), startBlock: startBlock ?? null };
  if (known.sanctionsList === null || startBlock === undefined) return known.sanctionsList;
  return { ...known.sanctionsList, startBlock };
}

function tokensWith(tokens: Network["market"]["tokens"], usdc: Address | null): Network["market"]["tokens"] {
  if (usdc === null || tokens.some(({ address }) => address === usdc)) return tokens;
  return [...tokens, { address: usdc, symbol: "USDC", decimals: 6, feed: null }];
}
