import { createConfig, factory } from "ponder";
import { type Address, parseAbiItem } from "viem";
import { agentHealthOracleAbi } from "./service/chain/abi/agent-health-oracle.ts";
import { identityRegistryAbi } from "./service/chain/abi/identity-registry.ts";
import { sanctionsListAbi } from "./service/chain/abi/sanctions-list.ts";
import { INDEX_SETTINGS_VARIABLE, readIndexSettings } from "./service/chain/deployments.ts";
import { assuranceEvents, jobEscrowEvents, verdictEvaluatorEvents } from "./service/chain/escrow-events.ts";

export const indexSettings = readIndexSettings(process.env[INDEX_SETTINGS_VARIABLE]);
const { deployment } = indexSettings;
const chain = "scored";

/** Ponder starts at 20 requests a second per entry of the list, even where the entries are one node. */
const RPC_BUCKETS = 25;
/** A source needs an address: nothing is ever sent from this one, and it emits nothing. */
const NOBODY: Address = "0xffffffffffffffffffffffffffffffffffffffff";
/** MetadataSet's value starts 160 bytes into the data and holds 20 packed bytes: a word read 12 earlier ends with them. */
const AGENT_WALLET_LOCATION = "offset148";

const registry = deployment.identityRegistry;
const evaluator = deployment.verdictEvaluator;
const assurance = deployment.assuranceAccounts;
/** A list that Ponder takes: it has at least one address. */
const addressesOf = (contracts: readonly { readonly address: Address }[]) =>
  contracts.length === 0 ? NOBODY : contracts.map(({ address }) => address);
const firstOf = (contracts: readonly { readonly startBlock: number }[]) =>
  contracts.length === 0 ? deployment.startBlock : Math.min(...contracts.map(({ startBlock }) => startBlock));
/** Ponder refuses to follow what a contract names from a block before that contract's first. */
const followFrom = (first: number) =>
  ({ chain, startBlock: Math.max(deployment.startBlock, first) }) as const;

// biome-ignore lint/style/noDefaultExport: Ponder reads the default export
export default createConfig({
  database: { kind: "postgres", connectionString: indexSettings.databaseUrl },
  ordering: "multichain",
  chains: {
    scored: {
      id: deployment.chainId,
      rpc: Array.from({ length: RPC_BUCKETS }, () => indexSettings.rpcUrl),
      pollingInterval: indexSettings.pollingIntervalMs,
      ...(indexSettings.logsBlocks === null ? {} : { ethGetLogsBlockRange: indexSettings.logsBlocks }),
    },
  },
  contracts: {
    IdentityRegistry: { chain, abi: identityRegistryAbi, ...registry, includeTransactionReceipts: true },
    SanctionsList: {
      chain,
      abi: sanctionsListAbi,
      address: deployment.sanctionsList?.address ?? NOBODY,
      startBlock: deployment.sanctionsList?.startBlock ?? deployment.startBlock,
    },
    Escrow: {
      chain,
      abi: jobEscrowEvents,
      address: addressesOf(deployment.escrows),
      startBlock: firstOf(deployment.escrows),
    },
    VerdictEvaluator: {
      chain,
      abi: verdictEvaluatorEvents,
      address: evaluator?.address ?? NOBODY,
      startBlock: evaluator?.startBlock ?? deployment.startBlock,
    },
    AssuranceAccounts: {
      chain,
      abi: assuranceEvents,
      address: assurance?.address ?? NOBODY,
      startBlock: assurance?.startBlock ?? deployment.startBlock,
    },
    Oracle: { chain, abi: agentHealthOracleAbi, ...deployment.oracle, includeTransactionReceipts: true },
  },
  accounts: {
    RegisteredOwner: {
      ...followFrom(registry.startBlock),
      address: factory({
        address: registry.address,
        event: parseAbiItem(
          "event Registered(uint256 indexed agentId, string agentURI, address indexed owner)",
        ),
        parameter: "owner",
        startBlock: registry.startBlock,
      }),
    },
    AgentWallet: {
      ...followFrom(registry.startBlock),
      address: factory({
        address: registry.address,
        event: parseAbiItem(
          "event MetadataSet(uint256 indexed agentId, string indexed indexedMetadataKey, string metadataKey, bytes metadataValue)",
        ),
        location: AGENT_WALLET_LOCATION,
        startBlock: registry.startBlock,
      }),
    },
    RequestedWallet: {
      ...followFrom(deployment.oracle.startBlock),
      address: factory({
        address: deployment.oracle.address,
        event: parseAbiItem(
          "event ScoreRequested(address indexed wallet, address indexed requester, uint256 fee)",
        ),
        parameter: "wallet",
        startBlock: deployment.oracle.startBlock,
      }),
    },
    StaticWallet: {
      ...followFrom(deployment.startBlock),
      address: deployment.staticWallets.length === 0 ? NOBODY : deployment.staticWallets,
    },
  },
  blocks: { Tick: { chain, startBlock: deployment.startBlock, interval: 1 } },
});
