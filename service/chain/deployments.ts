import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { type Address, type Hex, isAddress } from "viem";
import { z } from "zod";

const address = z.custom<Address>(
  (value) => typeof value === "string" && isAddress(value),
  "expected an EIP-55 address",
);

/** A contract and the block from which its events are indexed: its own first, or an earlier one. */
const contract = z.object({ address, startBlock: z.int().nonnegative() });

const token = z.object({
  address,
  symbol: z.string().min(1),
  decimals: z.int().min(0).max(36),
  /** AggregatorV3 feed of its price in US dollars; null without one. */
  feed: address.nullable(),
});

/** Tokens of the chain and their price feeds. */
const market = z.object({
  native: token.omit({ address: true }),
  /** The native coin as an ERC-20 token; null without one. */
  wrappedNative: address.nullable(),
  /** Recognised ERC-20 tokens, each once. */
  tokens: z.array(token),
});

/** An account that is known by name: the source that names it, and the day on which that was read. */
const namedAccount = z.object({
  address,
  name: z.string().min(1),
  source: z.string().min(1),
  date: z.iso.date(),
});

/** Older files have the addresses alone. */
const knownAccount = z.union([address, namedAccount]);

/** Accounts that the model must know by name. */
const accounts = z.object({
  /** ERC-4337 entry points whose events are believed. */
  entryPoints: z.array(address),
  /** Exchanges, bridges, faucets and paymasters: that they fund two wallets links them in nothing. */
  publicFunders: z.array(knownAccount),
  mixers: z.array(knownAccount),
  /** Contracts whose every swap costs this part of ten thousand, paid to others than the swapper; see docs/backing.md. */
  venues: z.array(z.object({ address, feeBps: z.number().positive().max(1_000) })).default([]),
  /** Sellers of whose revenue a part is taken for spent, see docs/backing.md. */
  vettedServices: z.array(address).default([]),
  /** Contracts of many users, of which an index that begins late sees few; none where it is absent. */
  popularContracts: z.array(namedAccount).optional(),
});

const codeHash = z
  .templateLiteral(["0x", z.string().regex(/^[0-9a-f]{64}$/)])
  .transform((hash) => hash as Hex);

/** An ERC-8183 escrow whose jobs are settled, as long as its code stays what it was. */
const escrow = contract.extend({
  /** ABI generation. */
  generation: z.enum(["G1", "G3", "V3"]),
  /** keccak256 of its runtime code. */
  codeHash,
  /** Implementation of an ERC-1967 proxy, and the hash of its code; null for any other contract. */
  implementation: z.object({ address, codeHash }).nullable(),
});

/** How a registry of agents logs them: each kind has a decoder of its events in service/registries/readers. */
const REGISTRY_KINDS = ["erc8004", "olas-service-registry-l2", "virtuals-agent-factory"] as const;

/** A registry beside the one that the index follows; the nightly scan reads its events. */
const registry = contract.extend({ name: z.string().min(1), kind: z.enum(REGISTRY_KINDS) });

/** Most transactions sent to one wallet that the index stores in a window of so many blocks. */
const receivedBound = z.object({ transactions: z.int().positive(), blocks: z.int().positive() });

/**
 * Which blocks enrichment reads with all their transactions: of every stretch of `everyBlocks` blocks, counted from block 0, the first
 * `blocks`. The first gives the tip that prices of the stretch's calls are compared with; all of them show users of contracts.
 */
const sample = z
  .object({ everyBlocks: z.int().positive(), blocks: z.int().positive().max(100) })
  .refine(({ everyBlocks, blocks }) => blocks <= everyBlocks, "expected at most all blocks of a stretch");

function areDistinct(contracts: readonly { readonly address: Address }[]): boolean {
  return new Set(contracts.map((one) => one.address.toLowerCase())).size === contracts.length;
}

export const deploymentSchema = z.object({
  chainId: z.int().positive(),
  name: z.string(),
  /** Block explorer whose paths are /address/…, /tx/… and /block/…; absent without one. */
  explorer: z.url({ protocol: /^https$/ }).optional(),
  startBlock: z.int().nonnegative(),
  /** Blocks behind the head that count as final. */
  finalityBlocks: z.int().positive(),
  /** Most that our keys offer for a unit of gas; 500 unless it is given. */
  maxFeePerGasGwei: z.int().positive().optional(),
  identityRegistry: contract,
  /** Contract with the interface of the Chainalysis oracle; null where the chain has none: then imported lists alone decide. */
  sanctionsList: contract.nullable(),
  oracle: contract,
  /** Acts on signed verdicts, named as evaluator by jobs; null where none is deployed. */
  verdictEvaluator: contract.nullable().default(null),
  /** Bonds that a settled REJECT of that evaluator slashes; null where none is deployed. */
  assuranceAccounts: contract.nullable().default(null),
  escrows: z.array(escrow).default([]),
  /** Registries that the nightly scan reads, each once. */
  registries: z.array(registry).refine(areDistinct, "expected each address once").default([]),
  /** ERC-8004 reputation registry of these agents, where the publisher leaves feedback; null leaves none. */
  reputationRegistry: address.nullable().default(null),
  /** ERC-8004 validation registry of these agents, where the publisher answers requests; null answers none. */
  validationRegistry: contract.nullable().default(null),
  usdc: address.nullable(),
  market,
  accounts,
  staticWallets: z.array(address),
  /** Where it is absent, the index has a bound of its own. */
  receivedBound: receivedBound.optional(),
  /** Ten blocks of every 10,800 where it is absent. A quiet chain needs more, the local one reads every block. */
  sample: sample.optional(),
});

/** Where everything that the service reads or writes on one chain lives. */
export type Deployment = z.infer<typeof deploymentSchema>;

/** An account of a deployment's lists. */
export type KnownAccount = z.infer<typeof knownAccount>;

/** The addresses of known accounts, lower-case. */
export function addressesIn(known: readonly KnownAccount[]): ReadonlySet<Address> {
  return new Set(known.map((one) => (typeof one === "string" ? one : one.address).toLowerCase() as Address));
}

export type RegistryEntry = z.infer<typeof registry>;

/** A registry that names an agent, beside the one that the index follows. */
export type FurtherRegistry = Pick<RegistryEntry, "name" | "address">;

/** The registries that the nightly scan reads, by lower-case address. */
export function registriesByAddress({
  registries,
}: Pick<Deployment, "registries">): ReadonlyMap<Address, FurtherRegistry> {
  return new Map(registries.map((entry) => [entry.address.toLowerCase() as Address, entry]));
}

export type ReceivedBound = z.infer<typeof receivedBound>;

export type SamplingRule = z.infer<typeof sample>;

/** Six hours of two-second blocks: four samples a day, in 0.1 % of all blocks. */
const USUAL_SAMPLE: SamplingRule = { everyBlocks: 10_800, blocks: 10 };

/** The sampling rule of a chain. */
export function samplingOf({ sample }: Pick<Deployment, "sample">): SamplingRule {
  return sample ?? USUAL_SAMPLE;
}

export type ChainFacts = Pick<Deployment, "chainId" | "market" | "accounts" | "sanctionsList">;

/** Reads one chain's deployment file; throws with every fault found when the file is not a deployment. */
export function loadDeployment(path: string): Deployment {
  const parsed = deploymentSchema.safeParse(JSON.parse(readFileSync(path, "utf8")));
  if (!parsed.success) throw new Error(`${path} is not a deployment: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

/** Writes a deployment where every command reads it; an older file of that name is replaced. */
export function writeDeployment(path: string, deployment: Deployment): void {
  writeFileSync(path, `${JSON.stringify(deployment, null, 2)}\n`);
}

/** Throws when a file of that name exists: a deployment that processes may be reading is never overwritten. */
export function requireNewFile(path: string): void {
  if (existsSync(path)) throw new Error(`${path} exists: a deployment is never overwritten`);
}

/** Writes a deployment into a new file, as every command reads it; throws when the file exists. */
export function writeNewDeployment(path: string, deployment: Deployment): void {
  writeFileSync(path, `${JSON.stringify(deployment, null, 2)}\n`, { flag: "wx" });
  loadDeployment(path);
}

const schema = z.object({
  deploymentFile: z.string().min(1),
  rpcUrl: z.url(),
  databaseUrl: z.string().min(1),
  pollingIntervalMs: z.int().min(100),
  /** Most blocks of one eth_getLogs; null where Ponder finds out. */
  logsBlocks: z.int().min(1).nullable(),
  /** Addresses in lower case that the operator does not want followed. */
  unfollowed: z.array(z.templateLiteral(["0x", z.string().regex(/^[0-9a-f]{40}$/)])),
});

/** Settings that the indexer's launcher passes to its configuration file, through one environment variable. */
export type IndexSettings = z.infer<typeof schema>;

export const INDEX_SETTINGS_VARIABLE = "AHS_INDEX_SETTINGS";

/** Reads the settings and the deployment they name; throws with what is wrong when the launcher did not set them. */
export function readIndexSettings(value: string | undefined) {
  if (value === undefined)
    throw new Error(`${INDEX_SETTINGS_VARIABLE} is not set: start the indexer with "ahs index"`);
  const settings = schema.parse(JSON.parse(value));
  return { ...settings, deployment: loadDeployment(settings.deploymentFile) };
}
