import type { Registry } from "prom-client";
import type { Address } from "viem";
import type { LocalAccount } from "viem/accounts";
import { agentHealthOracleAbi } from "../../service/chain/abi/agent-health-oracle.ts";
import type { Database } from "../../service/db/database.ts";
import { createEnrolmentMetrics, runEnrolments } from "../../service/oracle/enrolment-round.ts";
import type { PublishPolicy } from "../../service/oracle/publish-policy.ts";
import { createPublishMetrics, runPublisher } from "../../service/oracle/publisher.ts";
import { requireChainSettings } from "../config.ts";
import { openChainClient } from "../process.ts";
import { handOverFormerKeys } from "./hand-over.ts";
import { type SendingParts, sendForRole } from "./send-for-role.ts";

const PUBLISH_PAUSE_MS = 1_000;
const ENROL_PAUSE_MS = 1_000;
/** Requests go out a few at a time, and a refused one is tried again after a minute, later after up to six hours. */
const ENROLMENT_PACE = { retryMs: { first: 60_000, longest: 21_600_000 }, batch: 10 } as const;

type Parts = SendingParts & {
  readonly db: Database;
  readonly registry: Registry;
  readonly publisher: LocalAccount;
  readonly policy: PublishPolicy;
};

/** Publishes scores, asks for wallets to be followed, and sends both with the publisher's key, until the signal fires. */
export async function runPublishing(parts: Parts, signal: AbortSignal): Promise<void> {
  const { config, deployment, db, registry, publisher, policy, logger, now } = parts;
  const { rpcUrl } = requireChainSettings(config);
  const { chainId, oracle, finalityBlocks } = deployment;
  const common = { chainId, oracle: oracle.address, sender: publisher.address, db, logger, now };
  const publishing = { ...common, policy, metrics: createPublishMetrics(registry), pollMs: PUBLISH_PAUSE_MS };
  const enrolling = {
    ...common,
    finalityBlocks,
    readFee: () => readRequestFee(rpcUrl, oracle.address),
    policy: { ...config.enrolment, ...ENROLMENT_PACE },
    metrics: createEnrolmentMetrics(registry),
    pollMs: ENROL_PAUSE_MS,
  };
  await Promise.all([
    runPublisher(publishing, signal),
    runEnrolments(enrolling, signal),
    sendForRole(parts, publisher, signal),
    handOverFormerKeys(parts, signal),
  ]);
}

function readRequestFee(rpcUrl: string, oracle: Address): Promise<bigint> {
  const contract = { address: oracle, abi: agentHealthOracleAbi } as const;
  return openChainClient(rpcUrl).readContract({ ...contract, functionName: "requestFee" });
}
