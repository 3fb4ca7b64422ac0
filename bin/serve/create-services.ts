import { randomBytes, randomUUID } from "node:crypto";
import { getConnInfo } from "@hono/node-server/conninfo";
import type { Logger } from "pino";
import { type Address, getAddress } from "viem";
import type { LocalAccount } from "viem/accounts";
import { ownerOf, ownerText, type PayingCaller } from "../../service/access/access.ts";
import { createApiKeyAccess } from "../../service/access/api-key-access.ts";
import { apiKeyFinder, readApiKey } from "../../service/access/api-keys.ts";
import { readChargedUnits } from "../../service/access/charged-units.ts";
import {
  clientAddress,
  readTrustedProxies,
  type TrustedProxies,
} from "../../service/access/client-address.ts";
import { createAccess } from "../../service/access/create-access.ts";
import { createIdempotentAnswers, createRepeatStore } from "../../service/access/idempotent-answers.ts";
import { createKeyDebits, keepDebit } from "../../service/access/key-debits.ts";
import { createKeyServices } from "../../service/access/key-services.ts";
import { readOwed } from "../../service/access/payments/payments-due.ts";
import {
  createByteBudgets,
  createCallLimiter,
  createIpLimit,
  createRateBuckets,
} from "../../service/access/rate-limits.ts";
import {
  createContractSignatures,
  createOwnerAccess,
  createSignIn,
  takeSignInNonce,
} from "../../service/access/sign-in.ts";
import { createSpendingLimits, createSpendingSums } from "../../service/access/spending-limits.ts";
import { hasThresholds } from "../../service/alerts/alert-subscriptions.ts";
import { createSubscribe, createSubscriptions } from "../../service/alerts/subscriptions.ts";
import type { ServedParts } from "../../service/api/create-interface.ts";
import type { ServerLife } from "../../service/api/kit/server-life.ts";
import { createEpochLists } from "../../service/api/routes/get-epochs.ts";
import type { Services } from "../../service/api/services.ts";
import { SPECS_PER_MINUTE } from "../../service/api/verification/post-specs.ts";
import { type Deployment, loadDeployment } from "../../service/chain/deployments.ts";
import type { Database } from "../../service/db/database.ts";
import type { DatabaseClock } from "../../service/db/database-clock.ts";
import { fromIndex } from "../../service/db/index-snapshot.ts";
import { createReads } from "../../service/db/read-replica.ts";
import { createSenderCheck } from "../../service/ingest/history/has-sent.ts";
import type { HistoryReader } from "../../service/ingest/history/history-reader.ts";
import { AHS_2026_2 } from "../../service/model/score/policy.ts";
import { requestEnrolments } from "../../service/oracle/enrolments.ts";
import { readEpoch, readEpochRoot } from "../../service/oracle/epochs.ts";
import { readFeedbackDocument } from "../../service/oracle/feedback-rows.ts";
import { defaultPublishPolicy } from "../../service/oracle/publish-policy.ts";
import { readValidationDocument } from "../../service/oracle/validation-rows.ts";
import { readAgentNames } from "../../service/registries/documents/agent-names.ts";
import { createUrlVisitor } from "../../service/registries/probes/probe-endpoint.ts";
import { createInfrastructureReader } from "../../service/registries/probes/probes-of-wallet.ts";
import { createAgentFinder } from "../../service/registries/readers/find-agent.ts";
import { createComparison } from "../../service/reports/comparison.ts";
import { askingFirst, createSanctionsContract } from "../../service/sanctions/ask-contract.ts";
import { createPromisedAmounts } from "../../service/scores/backing/promised-amounts.ts";
import { readSampleAgent, readSampleWallet } from "../../service/scores/ecosystem.ts";
import { createLeaderboardReader } from "../../service/scores/leaderboard.ts";
import { createRenewedCaches } from "../../service/scores/read/contact-graph.ts";
import { createPolicyReader, writePolicy } from "../../service/scores/routing-policies.ts";
import { type OnDemandContext, scoreNow, scoreOnDemand } from "../../service/scores/score-on-demand.ts";
import { createScoreReader, readInputFile } from "../../service/scores/scores.ts";
import { createDetailReader } from "../../service/scores/wallet-details.ts";
import { createInterestRecorder } from "../../service/scores/wallet-reads.ts";
import { openReceiptKeys, publishedKeys } from "../../service/verification/verdicts/receipt.ts";
import { type Config, publicUrl, requireIndexSettings } from "../config.ts";
import { guardFromConfig } from "../from-config.ts";
import { serverMetrics } from "../metrics.ts";
import { openChainClient } from "../process.ts";
import { attestWith } from "./attest.ts";
import { createPages } from "./create-pages.ts";
import { paymentsFromConfig } from "./payments.ts";
import { reportServices } from "./reports.ts";
import { verificationServices } from "./verification.ts";

/** Same as the default rate of a key. */
const PAYER_RATE_PER_MINUTE = 600;
/** Calls by one manage token. */
const TOKEN_RATE_PER_MINUTE = 60;
/** At about 100 bytes each. The load balancer handles a flood from more networks. */
const MAX_ADDRESSES = 100_000;
/**
 * Longer than the wait for any source. Payments are held 60 s before and after their settlement. Debits and repeats live 120 s, which
 * leaves 20 s for settling before and after the work.
 */
const REQUEST_DEADLINE_MS = 45_000;
/** Payments that a list of what is owed names at most. */
const MAX_OWED = 100;
/** URLs named by callers that one process visits at once. */
const MAX_VISITS = 16;
/** A caller is waiting. */
const CALLER_RPC = { timeoutMs: 3_000, retries: 0 } as const;

/** Builds everything that the endpoints and pages of a server use. Throws if a required setting is missing. */
export async function createServices(
  config: Config,
  {
    db,
    clock,
    logger,
    life,
    history,
    signer,
    replica,
    signal,
  }: {
    readonly db: Database;
    readonly clock: DatabaseClock;
    /** Answers are read from it while it is fresh; null where none is configured. */
    readonly replica: Database | null;
    /** Ends the watch of the replica. */
    readonly signal: AbortSignal;
    readonly logger: Logger;
    readonly life: ServerLife;
    /** Null where no history source is configured. */
    readonly history: HistoryReader | null;
    /** Null where no scores are served. */
    readonly signer: LocalAccount | null;
  },
): Promise<ServedParts<Services>> {
  const deployment = loadDeployment(requireIndexSettings(config).deploymentFile);
  const { chainId, oracle } = deployment;
  const { now } = clock;
  const trustedProxies = trustedProxiesOf(config);
  const { registry, sanctionsSources } = serverMetrics({ db, deployment, logger, clock });
  const reads = openReads({ ...config.replica, db, replica, registry, logger, ...clock }, signal);
  const shared = { db, deployment, logger, clock };
  const receipts = await receiptServices(config);
  const callers = callerServices(config, { ...shared, registry, ...receipts });
  const scores = scoreReader({ db, reads }, chainId);
  const context = {
    db,
    chainId,
    chain: deployment,
    policy: AHS_2026_2,
    publishPolicy: defaultPublishPolicy,
    now,
    contacts: createRenewedCaches(clock.monotonicMs),
  };
  const visitor = createUrlVisitor({
    guard: guardFromConfig(config, chainId),
    monotonicMs: clock.monotonicMs,
    maxAtOnce: MAX_VISITS,
  });
  const backing = createPromisedAmounts({ db, chainId, now });
  const services: Services = {
    chainId,
    chainName: deployment.name,
    clock,
    logger,
    life,
    registry,
    scores,
    sanctionsSources,
    ...callers,
    clockAheadSeconds: clock.aheadSeconds,
    randomId: randomUUID,
    metricsPage: config.metricsPort === null ? "loopback" : "elsewhere",
    allowedOrigins: "*",
    maxIndexAgeSeconds: config.maxIndexAgeSeconds,
    deadlineMs: REQUEST_DEADLINE_MS,
    ipLimit: ipLimit(config.ipRatePerMinute, { trustedProxies, clock }),
    socketAddress: (request) => getConnInfo(request).remote.address ?? null,
    oracle: getAddress(oracle.address),
    policy: context.policy,
    backing,
    scoreNow: (address) => scoreNow(context, address),
    scoreOnDemand:
      history === null
        ? null
        : onDemand({ ...context, history, logger }, { deployment, rpcUrl: config.rpcUrl }),
    hasSent: config.rpcUrl === null ? null : createSenderCheck(openChainClient(config.rpcUrl, CALLER_RPC)),
    enrol: (wallets, { caller, debitId }) =>
      db.transaction(async (tx) => {
        await keepDebit(tx, debitId);
        const requestedBy = ownerText(ownerOf(caller));
        await requestEnrolments(tx, { chainId, wallets, requestedBy, now: now() });
      }),
    attest: attestWith(db, signer, { chainId, address: oracle.address }),
    infrastructure: { ...createInfrastructureReader(reads, deployment), ...visitor },
    refuseUrl: visitor.refusal,
    agents: createLeaderboardReader(reads, deployment, clock),
    findAgent: createAgentFinder(reads, deployment),
    compare: createComparison({
      snapshot: scores.snapshot,
      backing: backing.read,
      details: createDetailReader(reads, chainId),
      agentNames: async (wallets) =>
        (await fromIndex(readAgentNames(reads, deployment, wallets))) ?? new Map(),
      policy: context.policy,
    }),
    recordInterest: createInterestRecorder(db, chainId, now),
    evidence: async (kind, hash) => {
      const read = kind === "feedback" ? readFeedbackDocument : readValidationDocument;
      return (await read(reads, hash)) ?? read(db, hash);
    },
    inputFile: async (hash) => (await readInputFile(reads, hash)) ?? readInputFile(db, hash),
    epochList: createEpochLists({
      root: (number) => readEpochRoot(reads, chainId, number),
      stored: (number) => readEpoch(reads, chainId, number),
    }),
    ...reportServices(config, { context: { ...context, db: reads }, primary: db, deployment, clock, logger }),
    ...verificationServices(config, {
      ...shared,
      specs: {
        limit: ipLimit(SPECS_PER_MINUTE, { trustedProxies, clock }),
        addressOf: (source) => clientAddress(source, trustedProxies),
        budgets: createByteBudgets({ db, now: clock.now }),
        chargedUnits: (keyId, since) => readChargedUnits(db, { kind: "key", keyId }, since),
      },
      head: () => scores.head(),
    }),
    ...receipts,
    discovery: {
      origin: publicUrl(config),
      paymentTerms: callers.paymentTerms,
      // The oracle is an account that every deployment has: what is asked about it is answered, or refused, like any other.
      sampleWallet: async () => (await readSampleWallet(reads, chainId)) ?? oracle.address,
      sampleAgent: async () => ({
        registry: deployment.identityRegistry.address,
        agentId: (await readSampleAgent(reads, chainId)) ?? 1n,
      }),
      evaluation: evaluationOf(deployment),
      registration: registrationOf(config, deployment),
      contracts: contractsOf(deployment),
      securityContact: config.securityContact,
    },
  };
  return { ...services, pages: createPages(config, { db, reads, deployment, services, trustedProxies }) };
}

/** The database that answers are read from. */
function openReads(
  {
    db,
    replica,
    ...options
  }: { readonly db: Database; readonly replica: Database | null } & Omit<
    Parameters<typeof createReads>[0],
    "primary" | "replica"
  >,
  signal: AbortSignal,
): Database {
  if (replica === null) return db;
  const reads = createReads({ ...options, primary: db, replica });
  // It never rejects.
  void reads.watch(signal);
  return reads.db;
}

/** Readiness asks the primary. A wallet without a score may have one there since a moment ago: its caller has seen it. */
function scoreReader(
  { db, reads }: { readonly db: Database; readonly reads: Database },
  chainId: number,
): Services["scores"] {
  const own = createScoreReader(db, chainId);
  if (reads === db) return own;
  const read = createScoreReader(reads, chainId);
  return {
    ...read,
    head: own.head,
    async snapshot(address) {
      const snapshot = await read.snapshot(address);
      return snapshot.score === null ? own.snapshot(address) : snapshot;
    },
  };
}

/** The trusted proxies of the configuration; throws if it is no list of addresses. */
export function trustedProxiesOf({ trustedProxies }: Pick<Config, "trustedProxies">): TrustedProxies {
  const proxies = readTrustedProxies(trustedProxies);
  if (proxies === null) throw new Error(`expected a list of addresses, got ${trustedProxies.join(",")}`);
  return proxies;
}

type Shared = Pick<Services, "clock" | "logger"> & { readonly db: Database; readonly deployment: Deployment };

function ipLimit(
  perMinute: number,
  { trustedProxies, clock }: { readonly trustedProxies: TrustedProxies } & Pick<Shared, "clock">,
) {
  return createIpLimit({
    perMinute,
    trustedProxies,
    monotonicMs: clock.monotonicMs,
    maxAddresses: MAX_ADDRESSES,
  });
}

/** Limits and stored answers of authenticated callers. */
export function callGate({ db, logger, clock: { now } }: Pick<Shared, "db" | "logger" | "clock">) {
  return {
    limiter: createCallLimiter(createRateBuckets({ db, now })),
    repeats: createRepeatStore(createIdempotentAnswers({ db, now }), logger),
    spending: createSpendingLimits({ sums: createSpendingSums({ db, now }), now, logger }),
    payerRatePerMinute: PAYER_RATE_PER_MINUTE,
  };
}

/** Keys, payments, sign-in, routing policies and subscriptions. */
function callerServices(
  config: Config,
  parts: Shared & Pick<Services, "registry"> & Awaited<ReturnType<typeof receiptServices>>,
) {
  const { db, deployment, logger, clock } = parts;
  const { chainId } = deployment;
  const { now } = clock;
  const entropy = { randomBytes, randomUuid: randomUUID };
  const gate = callGate(parts);
  const debits = createKeyDebits({ db, now, randomUuid: randomUUID });
  const keys = createApiKeyAccess({ keys: { find: apiKeyFinder(db), ...debits }, clock, logger });
  const audience = { origin: new URL(publicUrl(config)).origin, chainId };
  const signIn = createSignIn({
    ...audience,
    clock,
    takeNonce: (use) => takeSignInNonce(db, use),
    contractSignatures:
      config.rpcUrl === null ? null : createContractSignatures(openChainClient(config.rpcUrl, CALLER_RPC)),
  });
  const signing = parts.receiptKeys?.signing ?? null;
  const payments = paymentsFromConfig(config, { ...parts, signIn, signing });
  const subscriptions = { db, chainId, now, ...entropy };
  return {
    paymentTerms: payments?.accepts ?? null,
    access: createAccess({ keys, payments: payments?.access ?? null, ...gate }),
    owners: createOwnerAccess({ ...gate, keys, signIn, audience }),
    repeats: gate.repeats,
    keys: createKeyServices({ db, keys, limiter: gate.limiter, entropy }),
    owed: (payers) => readOwed(db, { chainId, payers, now: now(), limit: MAX_OWED }),
    policies: {
      of: createPolicyReader(db),
      write: (write) => writePolicy(db, write),
      async ownWallets(owner) {
        if (owner.kind === "wallet") return [owner.address];
        const key = await readApiKey(db, owner.keyId);
        return key === null || key.boughtBy === null ? [] : [key.boughtBy];
      },
    },
    subscribe: createSubscribe(subscriptions),
    hasThresholds: ({ webhookUrl, ...place }) =>
      hasThresholds(db, { ...place, chainId, url: new URL(webhookUrl).href }),
    subscriptions: createSubscriptions(subscriptions, async (id) => {
      await gate.limiter.take({ kind: "subscription", id }, TOKEN_RATE_PER_MINUTE);
    }),
  } satisfies Partial<Services> & { readonly paymentTerms: Services["discovery"]["paymentTerms"] };
}

/** With a node, the sanctions contract is asked about new wallets first. */
function onDemand(
  context: OnDemandContext & Pick<Shared, "logger">,
  { deployment, rpcUrl }: { readonly deployment: Deployment; readonly rpcUrl: string | null },
) {
  const score = (address: Address, caller: PayingCaller) =>
    scoreOnDemand(context, address, ownerText(ownerOf(caller)));
  if (rpcUrl === null || deployment.sanctionsList === null) return score;
  const client = openChainClient(rpcUrl, CALLER_RPC);
  const contract = createSanctionsContract(client, deployment.sanctionsList.address);
  return askingFirst({ ...context, contract }, score);
}

/** The keys that sign receipts, and the public ones of all that are configured. */
async function receiptServices({ receiptKeys: { current, previous } }: Pick<Config, "receiptKeys">) {
  if (current === null) return { receiptKeys: null, publicKeys: { keys: await publishedKeys(previous) } };
  const receiptKeys = await openReceiptKeys(current, previous);
  return { receiptKeys, publicKeys: { keys: receiptKeys.published } };
}

function registrationOf(
  { agentId }: Pick<Config, "agentId">,
  { chainId, identityRegistry }: Deployment,
): Services["discovery"]["registration"] {
  if (agentId === null) return null;
  return { agentId, agentRegistry: `eip155:${chainId}:${getAddress(identityRegistry.address)}` };
}

function contractsOf(deployment: Deployment): Services["discovery"]["contracts"] {
  const {
    oracle,
    identityRegistry,
    reputationRegistry,
    validationRegistry,
    verdictEvaluator,
    assuranceAccounts,
    sanctionsList,
    usdc,
  } = deployment;
  const shown = (contract: { readonly address: Address } | null) =>
    contract === null ? null : getAddress(contract.address);
  return {
    oracle: shown(oracle),
    identity_registry: shown(identityRegistry),
    reputation_registry: reputationRegistry === null ? null : getAddress(reputationRegistry),
    validation_registry: shown(validationRegistry),
    verdict_evaluator: shown(verdictEvaluator),
    assurance_accounts: shown(assuranceAccounts),
    sanctions_list: shown(sanctionsList),
    usdc: usdc === null ? null : getAddress(usdc),
  };
}

function evaluationOf({
  chainId,
  verdictEvaluator,
  escrows,
}: Deployment): Services["discovery"]["evaluation"] {
  if (verdictEvaluator === null) return null;
  return {
    chainId,
    evaluator: verdictEvaluator.address,
    escrows: escrows.map(({ address, generation }) => ({ address, generation })),
  };
}
