import {
  AUTH_CAPTURE_ESCROW_V1_0_ADDRESS,
  BATCH_SETTLEMENT_ADDRESS,
  x402ExactPermit2ProxyAddress,
  x402UptoPermit2ProxyAddress,
} from "@x402/evm";
import type { Address, PublicClient } from "viem";
import { judgeSchemes } from "../../service/access/checks.ts";
import { contractChecks, probeCode } from "../../service/chain/contract-checks.ts";
import { loadDeployment } from "../../service/chain/deployments.ts";
import { nodeChecks } from "../../service/chain/node-checks.ts";
import { notConfigured, type Verdict } from "../../service/check.ts";
import { historyChecks } from "../../service/ingest/checks.ts";
import { oracleChecks } from "../../service/oracle/checks.ts";
import { defaultPublishPolicy } from "../../service/oracle/publish-policy.ts";
import { keyChecks } from "../../service/sender/checks.ts";
import { bondChecks } from "../../service/verification/checks.ts";
import type { Config } from "../config.ts";
import type { FurtherScheme } from "../environment.ts";
import { historySourceFromConfig } from "../from-config.ts";
import { ROLES } from "../keys/key-variables.ts";
import { type Accounts, openAccounts } from "../keys/open-accounts.ts";
import { machineDate, openChainClient } from "../process.ts";
import type { AdvisedCheck } from "./run-checks.ts";

/** Shorter than a check's own deadline, so that a silent node differs from a slow one. */
const PROBE = { timeoutMs: 10_000, retries: 0 } as const;
const SIGNER = { timeoutMs: 3_000, retries: 0 } as const;
const ADVICE = "see that the node at RPC_URL answers; docs/operate.md lists what it must support";

/** Gas of a batch of publications. */
const BATCH_GAS = BigInt(defaultPublishPolicy.batchSize) * defaultPublishPolicy.expectedGas.first;

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
): readonly AdvisedCheck[] {
  const client = openChainClient(rpcUrl, PROBE);
  const deployment = loadDeployment(deploymentFile);
  const { history, enrolment, payments, publicUrl } = config;
  const source = historySourceFromConfig(config, deployment.chainId);
  const addressOf = (role: keyof Accounts): Address | null =>
    accounts()[role]?.address ?? (role === "facilitator" ? payments.facilitatorAddress : null);
  const publishing = { gasOnce: BATCH_GAS, gasDaily: config.dailyGas ?? defaultPublishPolicy.dailyGas };
  const needsOtterscan = history.source === "otterscan" && history.url === null;
  const checks = [
    ...nodeChecks(client, { deployment, needsOtterscan, now: machineDate }),
    ...contractChecks(client, { deployment, now: machineDate }),
    { name: "payment contracts", run: () => checkSchemes(client, config) },
    ...oracleChecks(client, {
      deployment,
      hasPublicUrl: publicUrl !== null,
      maxFeeWei: enrolment.maxFeeWei,
    }),
    ...bondChecks(client, deployment),
    ...keyChecks(client, { deployment, addressOf, publishing }),
    ...historyChecks(client, { source, timeoutMs: PROBE.timeoutMs }),
  ];
  return checks.map((check) => ({ ...check, advice: ADVICE }));
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
