import type { Logger } from "pino";
import type { LocalAccount } from "viem/accounts";
import type { Deployment } from "../../service/chain/deployments.ts";
import type { SenderMetrics } from "../../service/chain/send-metrics.ts";
import { senderPolicy } from "../../service/chain/send-policy.ts";
import { createSenderRpc } from "../../service/chain/send-rpc.ts";
import { runSender } from "../../service/chain/sender-loop.ts";
import { type Config, requireChainSettings } from "../config.ts";

/** What every sender of a worker needs beside its key. */
export type SendingParts = {
  readonly config: Config;
  readonly deployment: Deployment;
  /** Shared by all senders: names in a registry are unique. */
  readonly senderMetrics: SenderMetrics;
  readonly logger: Logger;
  readonly now: () => Date;
};

const SENDER_RPC = { timeoutMs: 10_000, retries: 2 };

/** Sends what is queued for an account until the signal fires. */
export async function sendForRole(
  { config, deployment, senderMetrics, logger, now }: SendingParts,
  account: LocalAccount,
  signal: AbortSignal,
): Promise<void> {
  const { rpcUrl, databaseUrl } = requireChainSettings(config);
  await runSender(
    {
      chainId: deployment.chainId,
      account,
      rpc: createSenderRpc({ url: rpcUrl, ...SENDER_RPC }),
      policy: senderPolicy(deployment),
      metrics: senderMetrics,
      logger,
      now,
      databaseUrl,
    },
    signal,
  );
}
