import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { Server } from "node:http";
import { serve } from "@hono/node-server";
import { collectDefaultMetrics, Registry } from "prom-client";
import { getAddress } from "viem";
import { createApiKeyAccess } from "../../service/api/access/api-key-access.ts";
import type { Attestation } from "../../service/api/ahs-record-schema.ts";
import { createApp } from "../../service/api/create-app.ts";
import { createEpochLists } from "../../service/api/epoch-lists.ts";
import { loadDeployment } from "../../service/chain/deployments.ts";
import { defaultPublishPolicy } from "../../service/publish/policy.ts";
import { attestScore } from "../../service/record/attest-score.ts";
import { scoreNow } from "../../service/record/score-now.ts";
import { AHS_2026_0 } from "../../service/score/policy.ts";
import { apiKeyFinder } from "../../service/store/api-keys.ts";
import type { Database } from "../../service/store/database.ts";
import { readEpoch, readEpochRoot, readInputFile } from "../../service/store/discovery-files.ts";
import { createKeyDebits } from "../../service/store/key-debits.ts";
import { createScoreReader, type StoredScore } from "../../service/store/scores.ts";
import { createInterestRecorder } from "../../service/store/wallet-interest.ts";
import { accountFromConfig } from "../account-from-config.ts";
import type { Invocation } from "../ahs.ts";
import { type Config, requireIndexSettings } from "../config.ts";
import { createLogger, openMigratedDatabase, shutdownSignal } from "../process.ts";

const DRAIN_MS = 10_000;

/** `ahs serve`: the HTTP API until it is told to stop; requests under way are answered first. */
export async function serveApi({ config }: Invocation): Promise<void> {
  requireIndexSettings(config);
  const logger = createLogger(config, "serve");
  const signal = shutdownSignal();
  const db = await openMigratedDatabase(config, "ahs-serve", logger);
  const app = createApp(portsOf(config, db, logger));
  const server = serve({ fetch: app.fetch, hostname: config.host, port: config.port }) as Server;
  await once(server, "listening");
  logger.info({ host: config.host, port: config.port }, "serving");
  if (!signal.aborted) await once(signal, "abort");
  await drain(server);
  await db.$client.end();
}

async function drain(server: Server): Promise<void> {
  const closed = once(server, "close");
  server.close();
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  await closed;
  clearTimeout(timer);
}

function portsOf(config: Config, db: Database, logger: ReturnType<typeof createLogger>) {
  const { deploymentFile } = requireIndexSettings(config);
  const { chainId, oracle } = loadDeployment(deploymentFile);
  const signer = accountFromConfig(config, chainId, "SIGNER_PRIVATE_KEY");
  const now = () => new Date();
  const clock = { now, monotonicMs: () => performance.now() };
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const scoring = { db, chainId, policy: AHS_2026_0, publishPolicy: defaultPublishPolicy, now };
  return {
    access: createApiKeyAccess({
      keys: { find: apiKeyFinder(db), ...createKeyDebits({ db, now, randomUuid: randomUUID }) },
      clock,
      logger,
    }),
    clock,
    logger,
    randomId: randomUUID,
    registry,
    allowedOrigins: "*" as const,
    scores: createScoreReader(db, chainId),
    scoreNow: (address: `0x${string}`) => scoreNow(scoring, address),
    attest: async (row: StoredScore) =>
      renderAttestation(await attestScore(row, { chainId, address: oracle.address }, signer)),
    oracle: getAddress(oracle.address),
    recordInterest: createInterestRecorder(db, chainId, now),
    maxIndexAgeSeconds: config.maxIndexAgeSeconds,
    inputFile: (hash: string) => readInputFile(db, hash),
    epochList: createEpochLists({
      root: (number) => readEpochRoot(db, chainId, number),
      stored: (number) => readEpoch(db, chainId, number),
    }),
  };
}

/** JSON has no 64-bit integers: those of the message travel as decimal strings. */
function renderAttestation({
  typedData,
  message,
  signer,
  signature,
}: Awaited<ReturnType<typeof attestScore>>): Attestation {
  return {
    typed_data: {
      domain: typedData.domain,
      types: { Score: typedData.types.Score.map((field) => ({ ...field })) },
      primaryType: typedData.primaryType,
      message: {
        ...message,
        asOf: message.asOf.toString(),
        asOfTime: message.asOfTime.toString(),
        validUntil: message.validUntil.toString(),
      },
    },
    signer,
    signature,
  };
}
