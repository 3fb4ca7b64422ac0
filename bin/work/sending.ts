import { type Address, isAddressEqual } from "viem";
import type { LocalAccount } from "viem/accounts";
import { createPaymentGauge, createPaymentMetrics } from "../../service/access/payments/metrics.ts";
import { createPaymentChain } from "../../service/access/payments/payment-chain.ts";
import { runReconciliation } from "../../service/access/payments/run-reconciliation.ts";
import { SCHEMES } from "../../service/access/schemes/schemes.ts";
import { agentHealthOracleAbi } from "../../service/chain/abi/agent-health-oracle.ts";
import { oracleFault } from "../../service/chain/deploy.ts";
import { addressesIn } from "../../service/chain/deployments.ts";
import { LOCAL_CHAIN_ID } from "../../service/chain/networks.ts";
import { createChainReader } from "../../service/chain/node/chain-reader.ts";
import { whileLeader } from "../../service/db/leader-lock.ts";
import { createGuardedFetch } from "../../service/net/guarded-fetch.ts";
import { createEnrolmentMetrics, runEnrolments } from "../../service/oracle/enrolment-round.ts";
import { ENROL_PURPOSE } from "../../service/oracle/enrolments.ts";
import { createFeedbackMetrics, runFeedback } from "../../service/oracle/feedback-round.ts";
import { FEEDBACK_LIMITS } from "../../service/oracle/plan-feedback.ts";
import { PUBLISH_PURPOSE } from "../../service/oracle/publish-intents.ts";
import type { PublishPolicy } from "../../service/oracle/publish-policy.ts";
import { ROOT_PURPOSE } from "../../service/oracle/publish-root.ts";
import { createPublishMetrics, runPublisher } from "../../service/oracle/publisher.ts";
import { createValidationMetrics, runValidations } from "../../service/oracle/validation-round.ts";
import { allowedCalls, type SendingRole } from "../../service/sender/allowed-calls.ts";
import { type HandOverContext, handOverPass, readFormerSenders } from "../../service/sender/hand-over.ts";
import type { createSenderMetrics } from "../../service/sender/send-metrics.ts";
import type { SenderContext } from "../../service/sender/send-pass.ts";
import { gasBudgets, senderPolicy } from "../../service/sender/send-policy.ts";
import { createSenderRpc } from "../../service/sender/send-rpc.ts";
import { runSender, tryOpenSenderSession } from "../../service/sender/sender-loop.ts";
import { readDecision } from "../../service/verification/verdicts/read-decision.ts";
import { publicUrl, requireChainSettings } from "../config.ts";
import { guardFromConfig, settlementSpendingFromConfig } from "../from-config.ts";
import type { Accounts } from "../keys/open-accounts.ts";
import { openChainClient } from "../process.ts";
import { doAll, repeat, type WorkerParts } from "./upkeep.ts";

export type SendingParts = WorkerParts & {
  readonly accounts: Accounts;
  /** All senders share these metrics, since a name can be registered once. */
  readonly senderMetrics: ReturnType<typeof createSenderMetrics>;
  /** Returns why a call waits for lower fees, or null. Without it no call waits. */
  readonly tooDear?: SenderContext["tooDear"];
};

const SENDING_ROLES: readonly SendingRole[] = ["publisher", "facilitator", "relayer"];
const SENDER_RPC = { timeoutMs: 10_000, retries: 2 } as const;

/** Sends the queued calls of an account until the signal fires; calls that its roles do not allow are refused. */
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

const HAND_OVER_PAUSE_MS = 2_000;
const HAND_OVER_SESSION = { retryMs: 1_000, statementTimeoutMs: 10_000 } as const;

/** The purposes that the key of each role sends. Only the holder of the role may send the exclusive ones. */
const DUTIES = [
  {
    role: "publisher",
    purposes: [PUBLISH_PURPOSE, ROOT_PURPOSE, ENROL_PURPOSE],
    exclusive: [PUBLISH_PURPOSE, ROOT_PURPOSE],
  },
  { role: "relayer", purposes: ["settle", "hold"], exclusive: [] },
  { role: "facilitator", purposes: ["x402"], exclusive: [] },
] as const;

/**
 * Takes over the queues of replaced keys until the signal fires. Signed transactions are followed to their end, the others go to
 * the new key. A key for which a process still sends is left alone.
 */
async function handOverFormerKeys(parts: SendingParts, signal: AbortSignal): Promise<void> {
  const { logger } = parts;
  await repeat({ logger, pauseMs: HAND_OVER_PAUSE_MS, what: "taking over from former keys" }, signal, () =>
    doAll(
      DUTIES.flatMap((duty) => {
        const account = parts.accounts[duty.role];
        return account === undefined ? [] : [() => takeOver(parts, { ...duty, to: account.address })];
      }),
    ),
  );
}

async function takeOver(
  parts: SendingParts,
  duty: Pick<HandOverContext, "purposes" | "exclusive" | "to">,
): Promise<void> {
  const { chainId } = parts.deployment;
  const of = { chainId, purposes: duty.purposes, present: duty.to };
  const former = await readFormerSenders(parts.db, of);
  await doAll(former.map((from) => () => takeOverFrom(parts, duty, from)));
}

async function takeOverFrom(
  { config, deployment, senderMetrics, logger, now }: SendingParts,
  duty: Parameters<typeof takeOver>[1],
  from: Address,
): Promise<void> {
  const { rpcUrl, databaseUrl } = requireChainSettings(config);
  const { chainId } = deployment;
  const oracle = { rpcUrl, address: deployment.oracle.address };
  const session = await tryOpenSenderSession({ databaseUrl, chainId, sender: from, ...HAND_OVER_SESSION });
  if (session === null) return;
  try {
    await handOverPass({
      ...duty,
      chainId,
      from,
      rpc: createSenderRpc({ url: rpcUrl, ...SENDER_RPC }),
      db: session.db,
      policy: senderPolicy(deployment),
      metrics: senderMetrics,
      logger,
      now,
      holdsRole: async () =>
        duty.exclusive.length === 0 || isAddressEqual(await readPublisher(oracle, null), duty.to),
      hasLostRole: async (finalBlock) => !isAddressEqual(await readPublisher(oracle, finalBlock), from),
    });
  } finally {
    await session.release();
  }
}

/** Reads the oracle's publisher at a block, or at the newest block if it is null. */
function readPublisher(
  { rpcUrl, address }: { rpcUrl: string; address: Address },
  block: number | null,
): Promise<Address> {
  return openChainClient(rpcUrl).readContract({
    address,
    abi: agentHealthOracleAbi,
    functionName: "publisher",
    ...(block === null ? {} : { blockNumber: BigInt(block) }),
  });
}

const PUBLISH_PAUSE_MS = 1_000;
const ENROL_PAUSE_MS = 1_000;
/** A refused request is retried after a minute, after further failures up to six hours later. */
const ENROLMENT_PACE = { retryMs: { first: 60_000, longest: 21_600_000 }, batch: 10 } as const;

/** Publishes scores, requests wallets to be followed, and sends both with the publisher's key, until the signal fires. */
export async function runPublishing(
  parts: SendingParts & { publisher: LocalAccount; policy: PublishPolicy },
  signal: AbortSignal,
): Promise<void> {
  const { config, deployment, db, registry, publisher, policy, logger, now } = parts;
  const { rpcUrl } = requireChainSettings(config);
  const { chainId, oracle, finalityBlocks } = deployment;
  await requireOwnOracle(parts);
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
    leaveFeedback(parts, signal),
    answerValidations(parts, signal),
    sendForRole(parts, publisher, signal),
    handOverFormerKeys(parts, signal),
  ]);
}

const FEEDBACK_PAUSE_MS = 5_000;

/** Leaves feedback if the deployment names a reputation registry. On a public chain it needs PUBLIC_URL, which documents name for ever. */
async function leaveFeedback(parts: Parameters<typeof runPublishing>[0], signal: AbortSignal): Promise<void> {
  const { config, deployment, db, registry: metrics, publisher, logger, now } = parts;
  const { chainId, identityRegistry, reputationRegistry } = deployment;
  if (reputationRegistry === null) return;
  if (config.publicUrl === null && chainId !== LOCAL_CHAIN_ID) {
    logger.warn(
      "no feedback is left: PUBLIC_URL is not set, and feedback names the public address of its document",
    );
    return;
  }
  const deps = {
    chainId,
    db,
    logger,
    now,
    pollMs: FEEDBACK_PAUSE_MS,
    registry: reputationRegistry,
    client: publisher.address,
    identityRegistry: identityRegistry.address,
    origin: publicUrl(config),
    node: openChainClient(requireChainSettings(config).rpcUrl),
    policy: { ...FEEDBACK_LIMITS, dailyWei: config.feedbackDailyWei },
    metrics: createFeedbackMetrics(metrics),
  };
  await runFeedback(deps, signal);
}

const VALIDATION_PAUSE_MS = 5_000;
const VALIDATION_RPC = { timeoutMs: 20_000, retries: 3, retryMs: 250 } as const;

/** Answers validation requests if the deployment names their registry; like feedback, it needs PUBLIC_URL on a public chain. */
async function answerValidations(
  parts: Parameters<typeof runPublishing>[0],
  signal: AbortSignal,
): Promise<void> {
  const { config, deployment, db, registry: metrics, publisher, logger, now } = parts;
  const { chainId, finalityBlocks, identityRegistry, validationRegistry } = deployment;
  if (validationRegistry === null) return;
  if (config.publicUrl === null && chainId !== LOCAL_CHAIN_ID) {
    logger.warn(
      "no validation is answered: PUBLIC_URL is not set, and answers name the public address of their document",
    );
    return;
  }
  const { rpcUrl: url } = requireChainSettings(config);
  const deps = {
    chainId,
    db,
    logger,
    now,
    finalityBlocks,
    pollMs: VALIDATION_PAUSE_MS,
    registry: validationRegistry.address,
    startBlock: validationRegistry.startBlock,
    identityRegistry: identityRegistry.address,
    validator: publisher.address,
    origin: publicUrl(config),
    fetch: createGuardedFetch(guardFromConfig(config, chainId)),
    readDecision: (asked: Parameters<typeof readDecision>[1]) => readDecision(db, asked),
    perDay: config.validationsPerDay,
    publicFunders: [...addressesIn(deployment.accounts.publicFunders)],
    metrics: createValidationMetrics(metrics),
  };
  await whileLeader({ db, name: "ahs-validations", chainId, logger, signal }, (led) =>
    runValidations(
      {
        ...deps,
        node: createChainReader({ ...VALIDATION_RPC, url, signal: led, onRequest: () => undefined }),
      },
      led,
    ),
  );
}

/** Throws where the oracle would misread what is published. While the node gives no answer, publishing begins all the same. */
async function requireOwnOracle({
  config,
  deployment,
  logger,
}: Pick<SendingParts, "config" | "deployment" | "logger">): Promise<void> {
  const { chainId, oracle } = deployment;
  const client = openChainClient(requireChainSettings(config).rpcUrl);
  const asked = oracleFault(client, { chainId, address: oracle.address });
  const fault = await asked.catch((error: unknown) => {
    logger.warn({ err: error }, "the version of the oracle is not known: the node does not answer");
    return null;
  });
  if (fault !== null) throw new Error(`${fault}; deploy a new one with "ahs deploy"`);
}

function readRequestFee(rpcUrl: string, oracle: Address): Promise<bigint> {
  const contract = { address: oracle, abi: agentHealthOracleAbi } as const;
  return openChainClient(rpcUrl).readContract({ ...contract, functionName: "requestFee" });
}

/**
 * Sends settlements if this process has the facilitator's key, and compares payments with the chain. The comparison also runs
 * where payments are switched off, since earlier ones may be open.
 */
export async function runPayments(parts: SendingParts, signal: AbortSignal): Promise<void> {
  await Promise.all([sendForFacilitator(parts, signal), reconcile(parts, signal)]);
}

async function sendForFacilitator(parts: SendingParts, signal: AbortSignal): Promise<void> {
  const { facilitator } = parts.accounts;
  if (facilitator !== undefined) await sendForRole(parts, facilitator, signal);
}

async function reconcile(parts: SendingParts, signal: AbortSignal): Promise<void> {
  const { config, deployment, db, registry, logger, now } = parts;
  const { chainId, finalityBlocks } = deployment;
  const held = createPaymentGauge(registry);
  const client = openChainClient(requireChainSettings(config).rpcUrl);
  const deps = {
    db,
    chainId,
    client,
    schemes: SCHEMES,
    chain: createPaymentChain(client, { finalityBlocks, schemes: SCHEMES }),
    ownSender: config.payments.facilitatorUrl === null,
    spending: settlementSpendingFromConfig(config, deployment, { client, db, now }),
    metrics: createPaymentMetrics(registry),
    logger,
    now,
  };
  await whileLeader({ db, name: "ahs-payments", chainId, logger, metrics: { held }, signal }, (led) =>
    runReconciliation(deps, held, led),
  );
}
