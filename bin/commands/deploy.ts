import { isAddressEqual, type PublicClient } from "viem";
import { deployEvaluator, deployOracle, oracleFault } from "../../service/chain/deploy.ts";
import {
  type Deployment,
  loadDeployment,
  requireNewFile,
  writeNewDeployment,
} from "../../service/chain/deployments.ts";
import { findFirstBlock, LOCAL_CHAIN_ID, type Network } from "../../service/chain/networks.ts";
import type { Config, Invocation } from "../config.ts";
import {
  type EvaluatorOptions,
  type OracleOptions,
  parseDeployOptions,
  requestFeeOf,
  resolveNetwork,
} from "../deploy-options.ts";
import { accountFromConfig } from "../keys/open-accounts.ts";
import { openChainClient, openWallet } from "../process.ts";

/**
 * `ahs deploy`: deploys the oracle, or the evaluator of verdicts beside it, on the chain of the RPC URL and writes the
 * deployment file that all commands read.
 */
export async function run({ config, args, out }: Invocation): Promise<void> {
  const wanted = parseDeployOptions(args);
  const { out: file } = wanted.options;
  requireNewFile(file);
  const payer = await payerOf(config);
  const { deployment, words } =
    wanted.kind === "oracle"
      ? await withOracle(payer, wanted.options)
      : await withEvaluator(payer, wanted.options, config.deploymentFile);
  writeNewDeployment(file, deployment);
  for (const line of words) out(line);
  out(`written to ${file}`);
}

async function payerOf(config: Config) {
  const { rpcUrl } = config;
  if (rpcUrl === null) throw new Error("missing settings: RPC_URL (or --rpc-url)");
  const publicClient = openChainClient(rpcUrl);
  const chainId = await publicClient.getChainId();
  const account = await accountFromConfig(config, chainId, "publisher");
  return { account, chainId, rpcUrl, publicClient };
}

type Payer = Awaited<ReturnType<typeof payerOf>>;

async function withOracle(payer: Payer, wanted: OracleOptions) {
  const { account, chainId, rpcUrl, publicClient } = payer;
  const network = resolveNetwork(wanted, chainId);
  const requestFee = requestFeeOf(wanted, chainId === LOCAL_CHAIN_ID);
  const identityRegistry = await withFirstBlock(publicClient, network.identityRegistry);
  const sanctionsList =
    network.sanctionsList === null ? null : await withFirstBlock(publicClient, network.sanctionsList);
  const oracle = await deployOracle({
    walletClient: openWallet(rpcUrl, account),
    publicClient,
    owner: wanted.owner ?? account.address,
    publisher: wanted.publisher ?? account.address,
    signers: wanted.signer ?? [account.address],
    identityRegistry: identityRegistry.address,
    requestFee,
  });
  const { startBlock } = oracle;
  const deployment: Deployment = {
    ...network,
    startBlock,
    ...{ identityRegistry, sanctionsList },
    oracle: { address: oracle.address, startBlock },
    verdictEvaluator: null,
    escrows: [],
  };
  const words = [
    `oracle ${oracle.address} on chain ${chainId} from block ${startBlock}`,
    `a request to follow a wallet costs ${requestFee} wei`,
    `identity registry ${identityRegistry.address} from block ${identityRegistry.startBlock}`,
    sanctionsList === null
      ? 'no sanctions contract: nothing is scored before "ahs sanctions import"'
      : `sanctions contract ${sanctionsList.address} from block ${sanctionsList.startBlock}`,
  ];
  return { deployment, words };
}

async function withFirstBlock(client: PublicClient, { address, startBlock }: Network["identityRegistry"]) {
  if (startBlock === null) return { address, startBlock: await findFirstBlock(client, address) };
  const code = await client.getCode({ address });
  if (code === undefined || code === "0x") throw new Error(`there is no contract at ${address}`);
  return { address, startBlock };
}

async function withEvaluator(payer: Payer, wanted: EvaluatorOptions, deploymentFile: string | null) {
  if (deploymentFile === null) throw new Error("missing settings: AHS_DEPLOYMENT (or --deployment)");
  const base = loadDeployment(deploymentFile);
  const { account, chainId, rpcUrl, publicClient } = payer;
  if (base.chainId !== chainId) {
    throw new Error(`${deploymentFile} is of chain ${base.chainId}, and ${rpcUrl} of chain ${chainId}`);
  }
  const owner = wanted.owner ?? account.address;
  const { signers, gate } = wanted;
  // A hook reads the oracle's record, and nothing about a hook can be changed.
  const fault = gate === null ? null : await oracleFault(publicClient, { chainId, ...base.oracle });
  if (fault !== null) throw new Error(`${fault}; deploy a new oracle first`);
  const { verdictEvaluator, escrows, hooks } = await deployEvaluator({
    walletClient: openWallet(rpcUrl, account),
    publicClient,
    oracle: base.oracle.address,
    ...{ owner, signers, gate, escrows: wanted.escrows },
  });
  const words = [
    `evaluator ${verdictEvaluator.address} on chain ${chainId} from block ${verdictEvaluator.startBlock}`,
    ...hooks.map((hook, i) => `hook ${hook} of escrow ${escrows[i]?.address}: its admin has to allow it`),
    ...(isAddressEqual(owner, account.address)
      ? []
      : [`${owner} becomes the owner by calling acceptOwnership()`]),
  ];
  return { deployment: { ...base, verdictEvaluator, escrows: [...escrows] }, words };
}
