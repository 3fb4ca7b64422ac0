import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import { readApiKey } from "../../service/access/api-keys.ts";
import type { AccessParts } from "../../service/access/create-access.ts";
import { countedKeys } from "../../service/access/rate-limits.ts";
import { readVerdictDeliveries } from "../../service/alerts/webhook-log.ts";
import type { VerificationPorts } from "../../service/api/create-verification-app.ts";
import { createHealthCheck } from "../../service/api/verification/health-check.ts";
import type { Database } from "../../service/db/database.ts";
import type { IndexHead } from "../../service/scores/scores.ts";
import { acceptEvidence } from "../../service/verification/verdicts/accept-evidence.ts";
import { openReceiptKeys, publishedKeys } from "../../service/verification/verdicts/receipt-keys.ts";
import { recordReview } from "../../service/verification/verdicts/record-review.ts";
import { readVerdictQueue } from "../../service/verification/verdicts/verdict-queue.ts";
import { readVerdict } from "../../service/verification/verdicts/verdict-view.ts";
import { readStoredEvidence, readStoredTexts } from "../../service/verification/verdicts/verdict-views.ts";
import type { Config } from "../config.ts";
import { modelProbeFromConfig } from "../panel-from-config.ts";
import { openChainClient } from "../process.ts";

/** The check itself gives up after two seconds. */
const HEALTH_RPC = { timeoutMs: 2_000, retries: 0 } as const;

type Parts = {
  readonly db: Database;
  readonly chainId: number;
  readonly logger: Logger;
  readonly clock: { now(): Date; monotonicMs(): number };
  /** The newest block of the index. */
  readonly head: () => Promise<IndexHead | null>;
  readonly keys: AccessParts["keys"];
  readonly gate: Pick<AccessParts, "limiter">;
};

/** What reads verdicts, takes evidence and reviews of them, and tells whether verification works. */
export function verdictPorts(
  config: Pick<Config, "maxIndexAgeSeconds" | "panel" | "rpcUrl">,
  { db, chainId, logger, clock, head, keys, gate }: Parts,
): Pick<
  VerificationPorts,
  "verdicts" | "verdictDeliveries" | "acceptEvidence" | "reviewers" | "recordReview" | "verificationHealth"
> {
  const { now } = clock;
  return {
    verdicts: {
      find: (id) => readVerdict(db, id),
      evidence: (id, run) => readStoredEvidence(db, id, run),
      texts: (id) => readStoredTexts(db, id),
    },
    verdictDeliveries: (id, page) => readVerdictDeliveries(db, id, page),
    acceptEvidence: (offer) => acceptEvidence({ db, now, randomUuid: randomUUID }, offer),
    reviewers: {
      enter: countedKeys(keys, gate.limiter).identify,
      find: (keyId) => readApiKey(db, keyId),
    },
    recordReview: (review) => recordReview({ db, chainId, now }, review),
    verificationHealth: createHealthCheck({
      sources: {
        queue: () => readVerdictQueue(db, now()),
        head,
        node: config.rpcUrl === null ? null : newestBlockAt(config.rpcUrl),
        model: config.panel === null ? null : modelProbeFromConfig(config.panel),
      },
      maxIndexAgeSeconds: config.maxIndexAgeSeconds,
      clock,
      logger,
    }),
  };
}

function newestBlockAt(rpcUrl: string): () => Promise<bigint> {
  const client = openChainClient(rpcUrl, HEALTH_RPC);
  return () => client.getBlockNumber({ cacheTime: 0 });
}

/** The keys that sign receipts, and the public ones of all that are configured. */
export async function receiptPorts({
  receiptKeys: { current, previous },
}: Pick<Config, "receiptKeys">): Promise<Pick<VerificationPorts, "receiptKeys" | "publicKeys">> {
  if (current === null) return { receiptKeys: null, publicKeys: { keys: await publishedKeys(previous) } };
  const keys = await openReceiptKeys(current, previous);
  return { receiptKeys: keys, publicKeys: { keys: keys.published } };
}
