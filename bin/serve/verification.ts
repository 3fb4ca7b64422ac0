import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import { countedKeys } from "../../service/api/access/call-limiter.ts";
import type { AccessParts } from "../../service/api/access/create-access.ts";
import type { VerificationPorts } from "../../service/api/create-verification-app.ts";
import { createHealthCheck } from "../../service/api/verification/health-check.ts";
import { readApiKey } from "../../service/store/api-keys.ts";
import type { Database } from "../../service/store/database.ts";
import type { IndexHead } from "../../service/store/scores.ts";
import { readVerdictQueue } from "../../service/store/verdict-queue.ts";
import { readStoredEvidence, readStoredTexts } from "../../service/store/verdict-views.ts";
import { readVerdictDeliveries } from "../../service/store/webhook-log.ts";
import { acceptEvidence } from "../../service/verdicts/accept-evidence.ts";
import { openReceiptKeys, publishedKeys } from "../../service/verdicts/receipt-keys.ts";
import { recordReview } from "../../service/verdicts/record-review.ts";
import { readVerdict } from "../../service/verdicts/verdict-view.ts";
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
