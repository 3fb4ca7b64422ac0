import type { Address, PublicClient } from "viem";
import { judgeSchemes } from "../../service/access/checks.ts";
import { SCHEMES } from "../../service/access/schemes/schemes.ts";
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

/** A call of an address without code succeeds, and moves no money. */
async function checkSchemes(client: PublicClient, { payments }: Config): Promise<readonly Verdict[]> {
  const { schemes, facilitatorAddress } = payments;
  if (schemes === null || facilitatorAddress === null) return [notConfigured()];
  const called = SCHEMES.filter(({ name }) => schemes.includes(name)).flatMap(({ name: scheme, contract }) =>
    contract === null ? [] : [{ scheme, contract }],
  );
  const withCode = await probeCode(
    client,
    called.map(({ contract }) => contract),
  );
  return judgeSchemes(called.map(({ scheme, contract }) => ({ scheme, hasCode: withCode.has(contract) })));
}
