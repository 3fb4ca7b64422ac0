import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { LocalAccount } from "viem/accounts";
import { createApiKeyAccess } from "../../service/access/api-key-access.ts";
import { apiKeyFinder } from "../../service/access/api-keys.ts";
import { createAccess } from "../../service/access/create-access.ts";
import { createKeyDebits } from "../../service/access/key-debits.ts";
import type { ServerLife } from "../../service/api/kit/server-life.ts";
import { loadDeployment } from "../../service/chain/deployments.ts";
import type { Database } from "../../service/db/database.ts";
import type { HistoryReader } from "../../service/ingest/history/history-reader.ts";
import { AHS_2026_1 } from "../../service/model/score/policy.ts";
import { defaultPublishPolicy } from "../../service/oracle/publish-policy.ts";
import { createScoreReader } from "../../service/scores/scores.ts";
import { type Config, requireIndexSettings } from "../config.ts";
import { accountPages } from "./account-pages.ts";
import { alertPorts } from "./alerts.ts";
import { discoveryPorts } from "./discovery.ts";
import { callGate, requestGate } from "./gate.ts";
import { keyPorts } from "./keys.ts";
import { mapPorts } from "./map.ts";
import { pagePorts } from "./pages.ts";
import { paymentsFromConfig } from "./payments.ts";
import { recoverPorts } from "./recover.ts";
import { createReportReadings } from "./report-readings.ts";
import { reportPorts } from "./reports.ts";
import { riskPorts } from "./risk.ts";
import { scorePorts } from "./scores.ts";
import { serverMetrics } from "./server-metrics.ts";
import { signInAudience, signInFromConfig } from "./sign-in.ts";
import { verdictPorts } from "./verification.ts";
import { intakePorts } from "./verification-intake.ts";

type Parts = {
  readonly db: Database;
  readonly logger: Logger;
  /** Null where no history source is configured. */
  readonly history: HistoryReader | null;
  readonly life: ServerLife;
  /** Null where no scores are served. */
  readonly signer: LocalAccount | null;
};

/** What every endpoint and page asks for, but the keys of receipts. */
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
