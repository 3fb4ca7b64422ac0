import { randomUUID } from "node:crypto";
import { readApiKey } from "../../service/access/api-keys.ts";
import { clientAddress } from "../../service/access/client-address.ts";
import type { AccessParts } from "../../service/access/create-access.ts";
import { countedKeys, createByteBudgets, createIpLimit } from "../../service/access/rate-limits.ts";
import { readVerdictDeliveries } from "../../service/alerts/webhook-log.ts";
import type { VerificationPorts } from "../../service/api/create-verification-app.ts";
import { createHealthCheck } from "../../service/api/verification/get-verification-health.ts";
import type { OutputPorts } from "../../service/api/verification/post-outputs.ts";
import type { RetryPorts } from "../../service/api/verification/post-retry.ts";
import { SPECS_PER_MINUTE, type SpecPorts } from "../../service/api/verification/post-specs.ts";
import type { Deployment } from "../../service/chain/deployments.ts";
import type { IndexHead } from "../../service/scores/scores.ts";
import { createIntake } from "../../service/verification/intake.ts";
import { acceptEvidence } from "../../service/verification/verdicts/accept-evidence.ts";
import { openReceiptKeys, publishedKeys } from "../../service/verification/verdicts/receipt.ts";
import { recordReview } from "../../service/verification/verdicts/review.ts";
import { readVerdictQueue } from "../../service/verification/verdicts/verdict-queue.ts";
import {
  readStoredEvidence,
  readStoredTexts,
  readVerdict,
} from "../../service/verification/verdicts/verdict-view.ts";
import type { Config } from "../config.ts";
import { modelProbeFromConfig } from "../panel-from-config.ts";
import { openChainClient } from "../process.ts";
import { type ServerParts, trustedProxiesOf } from "./access.ts";

/** The check itself gives up after two seconds. */
const HEALTH_RPC = { timeoutMs: 2_000, retries: 0 } as const;

type Parts = Pick<ServerParts, "db" | "logger" | "clock"> & {
  readonly chainId: number;
  /** The newest block of the index. */
  readonly head: () => Promise<IndexHead | null>;
  readonly keys: AccessParts["keys"];
  readonly gate: Pick<AccessParts, "limiter">;
};

/** Reads verdicts, takes evidence and reviews, and reports the health of verification. */
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

/** The caller waits for these. */
const CALLER_RPC = { timeoutMs: 3_000, retries: 1 } as const;
/** About 100 bytes each. */
const MAX_ADDRESSES = 100_000;

/** Ports that register specifications, accept outputs and retry verdicts. */
export function intakePorts(
  config: Config,
  parts: Pick<Parts, "db" | "logger" | "clock"> & { readonly deployment: Deployment },
): Pick<SpecPorts, "specs"> &
  Pick<OutputPorts, "outputs"> &
  Pick<RetryPorts, "retryVerdict" | "isOfJob" | "panelBudget"> {
  const { db, clock } = parts;
  const { panel, rpcUrl } = config;
  const trustedProxies = trustedProxiesOf(config);
  const client = rpcUrl === null ? null : openChainClient(rpcUrl, CALLER_RPC);
  const { specs, ...intake } = createIntake({ ...parts, panel, client });
  return {
    ...intake,
    specs: {
      ...specs,
      limit: createIpLimit({
        perMinute: SPECS_PER_MINUTE,
        trustedProxies,
        monotonicMs: clock.monotonicMs,
        maxAddresses: MAX_ADDRESSES,
      }),
      addressOf: (source) => clientAddress(source, trustedProxies),
      budgets: createByteBudgets({ db, now: clock.now }),
    },
  };
}
