import type { Logger } from "pino";
import { isAddressEqual } from "viem";
import type { LocalAccount } from "viem/accounts";
import type { Deployment } from "../../service/chain/deployments.ts";
import { allowedCalls, type SendingRole } from "../../service/sender/allowed-calls.ts";
import type { SenderMetrics } from "../../service/sender/send-metrics.ts";
import type { SenderContext } from "../../service/sender/send-pass.ts";
import { gasBudgets, senderPolicy } from "../../service/sender/send-policy.ts";
import { createSenderRpc } from "../../service/sender/send-rpc.ts";
import { runSender } from "../../service/sender/sender-loop.ts";
import { type Config, requireChainSettings } from "../config.ts";
import type { Accounts } from "../keys/open-accounts.ts";

/** What every sender of a worker needs beside its key. */
export type SendingParts = {
  readonly config: Config;
  readonly deployment: Deployment;
  readonly accounts: Accounts;
  /** Shared by all senders: names in a registry are unique. */
  readonly senderMetrics: SenderMetrics;
  readonly logger: Logger;
  readonly now: () => Date;
  /** Calls that wait for lower fees; no others do. */
  readonly tooDear?: SenderContext["tooDear"];
};

const SENDING_ROLES: readonly SendingRole[] = ["publisher", "facilitator", "relayer"];
const SENDER_RPC = { timeoutMs: 10_000, retries: 2 };

/** Sends what is queued for an account until the signal fires, as far as the roles that it has here ask for such calls. */
export async function sendForRole(
  { config, deployment, accounts, senderMetrics, logger, now, tooDear }: SendingParts,
  account: LocalAccount,
  signal: AbortSignal,
): Promise<void> {
  const { rpcUrl, databaseUrl } = requireChainSettings(config);
  const roles = SENDING_ROLES.filter((role) => {
    const other = accounts[role];
    return other !== undefined && isAddressEqual(other.address, account.address);
  });
  await runSender(
    {
      chainId: deployment.chainId,
      account,
      refuses: allowedCalls(roles, { ...deployment, maxRequestFeeWei: config.enrolment.maxFeeWei }),
      rpc: createSenderRpc({ url: rpcUrl, ...SENDER_RPC }),
      policy: senderPolicy(deployment, gasBudgets(config.spending.dailyGas)),
      ...(tooDear === undefined ? {} : { tooDear }),
      metrics: senderMetrics,
      logger,
      now,
      databaseUrl,
    },
    signal,
  );
}
