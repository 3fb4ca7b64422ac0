import {
  AUTH_CAPTURE_ESCROW_V1_0_ADDRESS,
  BATCH_SETTLEMENT_ADDRESS,
  x402ExactPermit2ProxyAddress,
  x402UptoPermit2ProxyAddress,
} from "@x402/evm";
import type { Address, PublicClient } from "viem";
import { oracleFault } from "../../service/chain/deploy.ts";
import { type Deployment, loadDeployment } from "../../service/chain/deployments.ts";
import { describeEscrow } from "../../service/chain/describe-escrow.ts";
import { LOCAL_CHAIN_ID } from "../../service/chain/networks.ts";
import { defaultPublishPolicy } from "../../service/oracle/publish-policy.ts";
import type { Config } from "../config.ts";
import type { FurtherScheme } from "../environment.ts";
import { historySourceFromConfig } from "../from-config.ts";
import { ROLES, type Role } from "../keys/key-variables.ts";
import { type Accounts, openAccounts } from "../keys/open-accounts.ts";
import { machineDate, openChainClient } from "../process.ts";
import {
  judgeBalance,
  judgeBonds,
  judgeChainId,
  judgeContracts,
  judgeFeedback,
  judgeFeeds,
  judgeHead,
  judgeMethods,
  judgeOracle,
  judgeRequestFee,
  judgeRole,
  judgeSchemes,
} from "./judge-chain.ts";
import {
  probeBonds,
  probeCode,
  probeFeedback,
  probeFeeds,
  probeHead,
  probeMethods,
  probeNewest,
  probeRequestFee,
  probeRoles,
} from "./probe-chain.ts";
import { type Check, fault, fine, notConfigured, type Verdict } from "./run-checks.ts";

/** Shorter than a check's own deadline, so that a silent node differs from a slow one. */
const PROBE = { timeoutMs: 10_000, retries: 0 } as const;
const SIGNER = { timeoutMs: 3_000, retries: 0 } as const;

/** Gas of one transaction of a role, and of a day's work: a batch of publications; a settlement or verdict, and a thousand. */
const BATCH_GAS = BigInt(defaultPublishPolicy.batchSize) * defaultPublishPolicy.expectedGas.first;
const CALL_GAS = 200_000n;
const DAILY_CALLS = 1_000n;

/** Checks of a deployment's node. */
export function chainChecks(
  config: Config,
  {
    rpcUrl,
    deploymentFile,
    accounts,
  }: {
    rpcUrl: string;
    deploymentFile: string;
    accounts: OpenedAccounts;
  },
): readonly Check[] {
  const client = openChainClient(rpcUrl, PROBE);
  const deployment = loadDeployment(deploymentFile);
  const { chainId } = deployment;
  const isLocal = chainId === LOCAL_CHAIN_ID;
  const advice = "see that the node at RPC_URL answers; docs/operate.md lists what it must support";
  const check = (name: string, run: Check["run"]): Check => ({ name, advice, run });
  return [
    check("chain", async () => judgeChainId(await client.getChainId(), chainId)),
    check("node", async () => {
      const head = await probeHead(client, machineDate());
      return judgeHead({ ...head, finalityBlocks: deployment.finalityBlocks, isLocal });
    }),
    check("node methods", async () => {
      const needsOtterscan = config.history.source === "otterscan" && config.history.url === null;
      const answers = await probeMethods(client, deployment.startBlock);
      // The local chain is loaded from a file, which has no state of old blocks.
      return judgeMethods({ ...answers, ...(isLocal ? { archive: null } : {}), needsOtterscan });
    }),
    check("contracts", () => checkContracts(client, deployment)),
    check("payment contracts", () => checkSchemes(client, config)),
    check("oracle", async () =>
      judgeOracle(await oracleFault(client, { chainId, address: deployment.oracle.address })),
    ),
    check("feedback", async () =>
      judgeFeedback(await probeFeedback(client, deployment), config.publicUrl !== null || isLocal),
    ),
    check("bonds", async () => judgeBonds(await probeBonds(client, deployment))),
    check("request fee", async () => {
      const maxFeeWei = config.enrolment.maxFeeWei;
      return isLocal
        ? fine("requests of a local chain")
        : judgeRequestFee({ feeWei: await probeRequestFee(client, deployment), maxFeeWei });
    }),
    check("price feeds", async () =>
      isLocal
        ? fine("feeds of a local chain")
        : judgeFeeds(await probeFeeds(client, deployment, machineDate())),
    ),
    check("keys", async () => checkKeys(client, accounts(), deployment)),
    check("balances", async () => checkBalances(client, config, accounts())),
    check("history", () => checkHistory(client, config, deployment)),
  ];
}

/** The accounts of all keys that are set here; throws why they cannot be opened. */
export type OpenedAccounts = () => Accounts;

/** Opens them before any check begins to wait: a keystore takes a second, and the thread with it. Never throws. */
export async function openEarly(config: Config, chainId: number): Promise<OpenedAccounts> {
  try {
    const accounts = await openAccounts(
      config,
      { required: [], optional: ROLES },
      { chainId, patience: SIGNER },
    );
    return () => accounts;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

async function checkContracts(client: PublicClient, deployment: Deployment): Promise<readonly Verdict[]> {
  const listed = listContracts(deployment);
  const withCode = await probeCode(
    client,
    listed.map(({ address }) => address),
  );
  const escrows = await Promise.all(
    deployment.escrows.map(async (escrow) => {
      const facts = { what: "escrow", address: escrow.address, isEssential: true };
      const [found] = await Promise.allSettled([describeEscrow(client, escrow)]);
      if (found.status === "rejected") return { ...facts, hasCode: false, isKnownCode: false };
      const isKnownCode =
        found.value.codeHash === escrow.codeHash &&
        found.value.implementation?.codeHash === escrow.implementation?.codeHash;
      return { ...facts, hasCode: true, isKnownCode };
    }),
  );
  const contracts = listed.map((one) => ({ ...one, hasCode: withCode.has(one.address), isKnownCode: true }));
  return judgeContracts([...contracts, ...escrows]);
}

/** The contract that each scheme of payment calls, at the same address of every chain. */
const SCHEME_CONTRACTS: Readonly<Record<FurtherScheme, Address>> = {
  "exact-permit2": x402ExactPermit2ProxyAddress,
  upto: x402UptoPermit2ProxyAddress,
  "auth-capture": AUTH_CAPTURE_ESCROW_V1_0_ADDRESS,
  "batch-settlement": BATCH_SETTLEMENT_ADDRESS,
};

/** A call of an address without code succeeds, and moves no money. */
async function checkSchemes(client: PublicClient, { payments }: Config): Promise<readonly Verdict[]> {
  const { schemes, facilitatorAddress } = payments;
  if (schemes === null || facilitatorAddress === null) return [notConfigured()];
  const withCode = await probeCode(
    client,
    schemes.map((scheme) => SCHEME_CONTRACTS[scheme]),
  );
  return judgeSchemes(schemes.map((scheme) => ({ scheme, hasCode: withCode.has(SCHEME_CONTRACTS[scheme]) })));
}

async function checkKeys(
  client: PublicClient,
  accounts: Accounts,
  deployment: Deployment,
): Promise<readonly Verdict[]> {
  const { publisher, signers, verdictSigners } = await probeRoles(client, deployment);
  const addressOf = (role: Role): Address | null => accounts[role]?.address ?? null;
  return [
    judgeRole({ role: "publisher", configured: addressOf("publisher"), onChain: [publisher] }),
    judgeRole({ role: "signer", configured: addressOf("signer"), onChain: signers }),
    ...(verdictSigners === null
      ? []
      : [
          judgeRole({
            role: "verdict signer",
            configured: addressOf("verdictSigner"),
            onChain: verdictSigners,
          }),
        ]),
  ];
}

async function checkBalances(
  client: PublicClient,
  config: Config,
  accounts: Accounts,
): Promise<readonly Verdict[]> {
  const gasPrice = await client.getGasPrice();
  const facilitator = accounts.facilitator?.address ?? config.payments.facilitatorAddress;
  const calls = { gasOnce: CALL_GAS, gasDaily: CALL_GAS * DAILY_CALLS };
  const publishing = { gasOnce: BATCH_GAS, gasDaily: config.dailyGas ?? defaultPublishPolicy.dailyGas };
  const senders = [
    { role: "publisher", address: accounts.publisher?.address ?? null, ...publishing },
    { role: "facilitator", address: facilitator, ...calls },
    { role: "relayer", address: accounts.relayer?.address ?? null, ...calls },
  ];
  const purses = await Promise.all(
    senders.flatMap(({ address, ...sender }) =>
      address === null
        ? []
        : [client.getBalance({ address }).then((wei) => ({ ...sender, address, wei, gasPrice }))],
    ),
  );
  return purses.length === 0 ? [notConfigured("sending keys")] : purses.map(judgeBalance);
}

async function checkHistory(client: PublicClient, config: Config, { chainId }: Deployment): Promise<Verdict> {
  const source = historySourceFromConfig(config, chainId);
  if (source === null) return notConfigured();
  const failure = await source.checkReach(await probeNewest(client), AbortSignal.timeout(PROBE.timeoutMs));
  return failure === null || failure.reason === "behind"
    ? fine(`${source.name} answers`)
    : fault(`${source.name}: ${failure.reason}, ${failure.detail}`, "see HISTORY_URL and HISTORY_API_KEY");
}

type ListedContract = {
  readonly what: string;
  readonly address: Address;
  readonly isEssential: boolean;
};

/** Every contract address of a deployment once, with its first name. */
function listContracts(deployment: Deployment): readonly ListedContract[] {
  const { identityRegistry, sanctionsList, oracle, verdictEvaluator, registries, market, accounts } =
    deployment;
  const { reputationRegistry, validationRegistry, assuranceAccounts } = deployment;
  const essential = (what: string, contract: { readonly address: Address } | null): ListedContract[] =>
    contract === null ? [] : [{ what, address: contract.address, isEssential: true }];
  const other = (what: string, address: Address | null): ListedContract[] =>
    address === null ? [] : [{ what, address, isEssential: false }];
  const all = [
    ...essential("identity registry", identityRegistry),
    ...essential("sanctions list", sanctionsList),
    ...essential("oracle", oracle),
    ...essential("verdict evaluator", verdictEvaluator),
    ...essential("assurance accounts", assuranceAccounts),
    ...(deployment.usdc === null ? [] : essential("USDC", { address: deployment.usdc })),
    ...registries.flatMap(({ name, address }) => other(`registry ${name}`, address)),
    ...other("reputation registry", reputationRegistry),
    ...other("validation registry", validationRegistry?.address ?? null),
    ...other("wrapped coin", market.wrappedNative),
    ...other(`feed of ${market.native.symbol}`, market.native.feed),
    ...market.tokens.flatMap(({ symbol, address, feed }) => [
      ...other(`token ${symbol}`, address),
      ...other(`feed of ${symbol}`, feed),
    ]),
    ...accounts.entryPoints.flatMap((address) => other("entry point", address)),
  ];
  return all.filter(({ address }, index) => all.findIndex((one) => one.address === address) === index);
}
