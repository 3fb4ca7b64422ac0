import { randomBytes, randomUUID } from "node:crypto";
import type { LocalAccount } from "viem/accounts";
import { createApiKeyAccess } from "../../service/access/api-key-access.ts";
import { apiKeyFinder } from "../../service/access/api-keys.ts";
import { createAccess } from "../../service/access/create-access.ts";
import { createKeyDebits } from "../../service/access/key-debits.ts";
import type { CallLimiter } from "../../service/access/rate-limits.ts";
import { hasThresholds, readSubscription } from "../../service/alerts/alert-subscriptions.ts";
import {
  createSubscribe,
  end,
  replay,
  requestTest,
  rotate,
  type SubscriptionDeps,
} from "../../service/alerts/subscriptions.ts";
import { readDeliveries } from "../../service/alerts/webhook-log.ts";
import type { DiscoveryPorts, JobEvaluation, PaymentTerms } from "../../service/api/kit/discovery.ts";
import type { ServerLife } from "../../service/api/kit/server-life.ts";
import type { SubscribePorts, SubscriptionPorts } from "../../service/api/schemas/alert-subscription.ts";
import { type Deployment, loadDeployment } from "../../service/chain/deployments.ts";
import type { Database } from "../../service/db/database.ts";
import type { HistoryReader } from "../../service/ingest/history/history-reader.ts";
import { AHS_2026_1 } from "../../service/model/score/policy.ts";
import { defaultPublishPolicy } from "../../service/oracle/publish-policy.ts";
import { readSampleWallet } from "../../service/scores/ecosystem.ts";
import { createScoreReader } from "../../service/scores/scores.ts";
import { type Config, publicUrl, requireIndexSettings } from "../config.ts";
import { serverMetrics } from "../metrics.ts";
import type { ServerParts } from "./access.ts";
import {
  callGate,
  keyPorts,
  paymentsFromConfig,
  requestGate,
  signInAudience,
  signInFromConfig,
} from "./access.ts";
import { accountPages, pagePorts } from "./pages.ts";
import { createReportReadings, mapPorts, recoverPorts, reportPorts, riskPorts } from "./reports.ts";
import { scorePorts } from "./scores.ts";
import { intakePorts, verdictPorts } from "./verification.ts";

type Parts = Pick<ServerParts, "db" | "logger"> & {
  /** Null where no history source is configured. */
  readonly history: HistoryReader | null;
  readonly life: ServerLife;
  /** Null where no scores are served. */
  readonly signer: LocalAccount | null;
};

/** Ports of every endpoint and page, except the keys of receipts. */
export function apiPorts(config: Config, { db, logger, history, life, signer }: Parts) {
  const deployment = loadDeployment(requireIndexSettings(config).deploymentFile);
  const { chainId } = deployment;
  const now = () => new Date();
  const monotonicMs = () => performance.now();
  const clock = { now, monotonicMs };
  const { registry, sanctionsSources } = serverMetrics({ db, deployment, logger, clock });
  const policies = { policy: AHS_2026_1, publishPolicy: defaultPublishPolicy };
  const scoring = { db, chainId, chain: deployment, ...policies, now };
  const debits = createKeyDebits({ db, now, randomUuid: randomUUID });
  const keyAccess = createApiKeyAccess({ keys: { find: apiKeyFinder(db), ...debits }, clock, logger });
  const signIn = signInFromConfig(config, { db, chainId, clock });
  const payments = paymentsFromConfig(config, { db, deployment, registry, logger, clock, signIn });
  const scores = createScoreReader(db, chainId);
  const gate = callGate({ db, logger, clock });
  const readings = createReportReadings(monotonicMs);
  const reports = reportPorts(scoring, readings);
  const requests = requestGate(config, clock, life);
  const head = () => scores.head();
  const verdicts = verdictPorts(config, { db, chainId, logger, clock, head, keys: keyAccess, gate });
  const ofPages = { db, chainId, clock, logger, scores, sanctionsSources };
  return {
    access: createAccess({ keys: keyAccess, payments: payments?.access ?? null, ...gate }),
    ...{ clock, logger, registry, scores, sanctionsSources, randomId: randomUUID },
    metricsPage: config.metricsPort === null ? ("loopback" as const) : ("elsewhere" as const),
    allowedOrigins: "*" as const,
    maxIndexAgeSeconds: config.maxIndexAgeSeconds,
    ...requests,
    ...scorePorts(config, { ...scoring, history, logger, signer, monotonicMs }),
    ...intakePorts(config, { db, deployment, logger, clock }),
    ...verdicts,
    ...keyPorts({ db, keyAccess, gate, signIn, audience: signInAudience(config, chainId) }),
    ...reports,
    ...mapPorts({ db, deployment, policy: scoring.policy, readings, monotonicMs }),
    ...alertPorts(scoring, gate.limiter),
    ...recoverPorts({ db, deployment, rpcUrl: config.rpcUrl, monotonicMs }),
    ...riskPorts(config, { ...scoring, deployment, clock, logger, readWallet: reports.readWallet }),
    ...pagePorts(
      { ...ofPages, deployment, monotonicMs },
      accountPages(config, { ...ofPages, ...requests, ...verdicts, sellsKeys: payments !== null }),
    ),
    ...discoveryPorts(config, { db, deployment, paymentTerms: payments?.accepts ?? null }),
  };
}

/** Calls by one manage token. */
const TOKEN_RATE_PER_MINUTE = 60;

/** Sells and manages subscriptions. */
function alertPorts(
  chain: Pick<SubscriptionDeps, "db" | "chainId" | "now">,
  limiter: CallLimiter,
): Pick<SubscribePorts, "subscribe" | "hasThresholds"> & Pick<SubscriptionPorts, "subscriptions"> {
  const deps = { ...chain, randomBytes, randomUuid: randomUUID };
  const { db, chainId } = chain;
  return {
    subscribe: createSubscribe(deps),
    hasThresholds: ({ webhookUrl, ...place }) =>
      hasThresholds(db, { ...place, chainId, url: new URL(webhookUrl).href }),
    subscriptions: {
      async count(id) {
        await limiter.take({ kind: "subscription", id }, TOKEN_RATE_PER_MINUTE);
      },
      find: (id) => readSubscription(db, { chainId, id }),
      end: (id) => end(deps, id),
      test: (subscription) => requestTest(deps, subscription),
      rotate: (subscription, tokens) => rotate(deps, subscription, tokens),
      deliveries: (id, page) => readDeliveries(db, id, page),
      replay: (subscription, deliveryId) => replay(deps, subscription, deliveryId),
    },
  };
}

/** Contents of the well-known files: the origin, the terms of payment and a sample wallet. */
function discoveryPorts(
  config: Config,
  {
    db,
    deployment,
    paymentTerms,
  }: {
    readonly db: Database;
    readonly deployment: Deployment;
    readonly paymentTerms: PaymentTerms | null;
  },
): Pick<DiscoveryPorts, "discovery"> {
  return {
    discovery: {
      origin: publicUrl(config),
      paymentTerms,
      // The oracle is an account that every deployment has: what is asked about it is answered, or refused, like any other.
      sampleWallet: async () => (await readSampleWallet(db, deployment.chainId)) ?? deployment.oracle.address,
      evaluation: evaluationOf(deployment),
      securityContact: config.securityContact,
    },
  };
}

function evaluationOf({ chainId, verdictEvaluator, escrows }: Deployment): JobEvaluation | null {
  if (verdictEvaluator === null) return null;
  return {
    chainId,
    evaluator: verdictEvaluator.address,
    escrows: escrows.map(({ address, generation }) => ({ address, generation })),
  };
}
