import { isAddressEqual, type PublicClient } from "viem";
import {
  deployAssuranceAccounts,
  deployEvaluator,
  deployOracle,
  oracleFault,
} from "../../service/chain/deploy.ts";
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
 * `ahs deploy`: deploys the oracle, the evaluator of verdicts beside it, or accounts for bonds beside that, on the chain of the
 * RPC URL and writes the deployment file that all commands read.
 */
export async function run({ config, args, out }: Invocation): Promise<void> {
  const wanted = parseDeployOptions(args);
  const { out: file } = wanted.options;
  requireNewFile(file);
  const payer = await payerOf(config);
  const { deployment, words } = await deployWanted(payer, wanted, config);
  writeNewDeployment(file, deployment);
  for (const line of words) out(line);
  out(`written to ${file}`);
}

function deployWanted(payer: Payer, wanted: ReturnType<typeof parseDeployOptions>, config: Config) {
  switch (wanted.kind) {
    case "oracle":
      return withOracle(payer, wanted.options);
    case "evaluator":
      return withEvaluator(payer, wanted.options, config.deploymentFile);
    case "bonds":
      return withBonds(payer, config.deploymentFile);
  }
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
    identityRegistry,
    sanctionsList,
    oracle: { address: oracle.address, startBlock },
    verdictEvaluator: null,
    assuranceAccounts: null,
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

/** The deployment beside whose contracts others are deployed. */
function baseOf({ chainId, rpcUrl }: Payer, deploymentFile: string | null): Deployment {
  if (deploymentFile === null) throw new Error("missing settings: AHS_DEPLOYMENT (or --deployment)");
  const base = loadDeployment(deploymentFile);
  if (base.chainId === chainId) return base;
  throw new Error(`${deploymentFile} is of chain ${base.chainId}, and ${rpcUrl} of chain ${chainId}`);
}

async function withEvaluator(payer: Payer, wanted: EvaluatorOptions, deploymentFile: string | null) {
  const base = baseOf(payer, deploymentFile);
  const { account, chainId, rpcUrl, publicClient } = payer;
  const owner = wanted.owner ?? account.address;
  const { signers, gate } = wanted;
  // A hook reads the oracle's record, and nothing about a hook can be changed.
  const fault = gate === null ? null : await oracleFault(publicClient, { chainId, ...base.oracle });
  if (fault !== null) throw new Error(`${fault}; deploy a new oracle first`);
  const { verdictEvaluator, escrows, hooks, assuranceAccounts } = await deployEvaluator({
    walletClient: openWallet(rpcUrl, account),
    publicClient,
    oracle: base.oracle.address,
    usdc: base.usdc,
    owner,
    signers,
    gate,
    escrows: wanted.escrows,
  });
  const words = [
    `evaluator ${verdictEvaluator.address} on chain ${chainId} from block ${verdictEvaluator.startBlock}`,
    ...(assuranceAccounts === null ? [] : [bondWords(assuranceAccounts)]),
    ...hooks.map((hook, i) => `hook ${hook} of escrow ${escrows[i]?.address}: its admin has to allow it`),
    ...(isAddressEqual(owner, account.address)
      ? []
      : [`${owner} becomes the owner by calling acceptOwnership()`]),
  ];
  const deployment: Deployment = { ...base, verdictEvaluator, assuranceAccounts, escrows: [...escrows] };
  return { deployment, words };
}

async function withBonds(payer: Payer, deploymentFile: string | null) {
  const base = baseOf(payer, deploymentFile);
  const { account, rpcUrl, publicClient } = payer;
  const { usdc, verdictEvaluator } = base;
  if (usdc === null || verdictEvaluator === null) {
    throw new Error(
      "bonds need usdc and verdictEvaluator in the deployment: ahs deploy with --escrow makes both contracts",
    );
  }
  if (base.assuranceAccounts !== null) {
    throw new Error(
      `the deployment has accounts for bonds at ${base.assuranceAccounts.address}: those in them would no longer be shown`,
    );
  }
  const assuranceAccounts = await deployAssuranceAccounts(
    { walletClient: openWallet(rpcUrl, account), publicClient },
    { usdc, evaluator: verdictEvaluator.address },
  );
  const deployment: Deployment = { ...base, assuranceAccounts };
  return { deployment, words: [bondWords(assuranceAccounts)] };
}

function bondWords({ address, startBlock }: NonNullable<Deployment["assuranceAccounts"]>): string {
  return `accounts for bonds ${address} from block ${startBlock}`;
}
