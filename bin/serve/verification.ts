import { randomUUID } from "node:crypto";
import { readVerdictDeliveries } from "../../service/alerts/webhook-log.ts";
import type { Services } from "../../service/api/services.ts";
import { createHealthCheck } from "../../service/api/verification/check-health.ts";
import type { Deployment } from "../../service/chain/deployments.ts";
import { cachedReader } from "../../service/db/cached.ts";
import type { Database } from "../../service/db/database.ts";
import { readAppealFigures } from "../../service/verification/escrow/appeal-rows.ts";
import { createIntake } from "../../service/verification/intake.ts";
import { acceptEvidence } from "../../service/verification/verdicts/accept-evidence.ts";
import {
  noteAppeal,
  offerAppeal,
  openAppeal,
  withdrawAppeal,
} from "../../service/verification/verdicts/appeals.ts";
import { requestErasure } from "../../service/verification/verdicts/erase-texts.ts";
import { recordReview } from "../../service/verification/verdicts/review.ts";
import { readVerdictQueue } from "../../service/verification/verdicts/verdict-queue.sql.ts";
import {
  readStoredEvidence,
  readStoredTexts,
  readVerdict,
} from "../../service/verification/verdicts/verdict-view.ts";
import { appealsOf } from "../appeal-settings.ts";
import type { Config } from "../config.ts";
import { modelProbeFromConfig, panelSizes } from "../panel-from-config.ts";
import { openChainClient } from "../process.ts";

/** A caller is waiting for the binding of a specification. */
const INTAKE_RPC = { timeoutMs: 3_000, retries: 1 } as const;
/** Public figures are cached for this long. */
const FIGURES_MS = 30_000;
/** The check itself gives up after two seconds. */
const HEALTH_RPC = { timeoutMs: 2_000, retries: 0 } as const;

type Parts = Pick<Services, "clock" | "logger"> &
  Pick<Services["scores"], "head"> & { readonly db: Database; readonly deployment: Deployment };

/** Specifications, outputs, verdicts and their health. */
export function verificationServices(
  config: Config,
  {
    specs: intakeLimits,
    head,
    ...parts
  }: Parts & { readonly specs: Pick<Services["specs"], "limit" | "addressOf" | "budgets" | "chargedUnits"> },
) {
  const { db, deployment, logger, clock } = parts;
  const { panel, rpcUrl, maxIndexAgeSeconds } = config;
  const appeals = appealsOf(config.appeals);
  const { now } = clock;
  const client = rpcUrl === null ? null : openChainClient(rpcUrl, INTAKE_RPC);
  const { specs, ...intake } = createIntake({ ...parts, panel: panel && panelSizes(panel), client });
  return {
    ...intake,
    specs: { ...specs, ...intakeLimits },
    verdicts: {
      find: (id) => readVerdict(db, id),
      evidence: (id, run) => readStoredEvidence(db, id, run),
      texts: (id) => readStoredTexts(db, id),
    },
    verdictDeliveries: (id, page) => readVerdictDeliveries(db, id, page),
    acceptEvidence: (offer) => acceptEvidence({ db, now, randomUuid: randomUUID }, offer),
    appeals: {
      terms:
        panel === null || appeals === null
          ? null
          : { windowSeconds: appeals.windowSeconds, model: appeals.panel.model },
      offer: (request) => offerAppeal(db, request),
      note: (purchase) => noteAppeal(db, purchase),
      open: (verdictId) => openAppeal({ db, now }, verdictId),
      withdraw: (verdictId) => withdrawAppeal({ db, now, logger }, verdictId),
      figures: cachedReader(() => readAppealFigures(db, { chainId: deployment.chainId, now: now() }), {
        milliseconds: FIGURES_MS,
        monotonicMs: clock.monotonicMs,
      }),
    },
    eraseTexts: (request) => requestErasure(db, request),
    recordReview: (review) => recordReview({ db, chainId: deployment.chainId, now }, review),
    verificationHealth: createHealthCheck({
      sources: {
        queue: () => readVerdictQueue(db, now()),
        head,
        node: rpcUrl === null ? null : newestBlockAt(rpcUrl),
        model: panel === null ? null : modelProbeFromConfig(panel),
      },
      maxIndexAgeSeconds,
      clock,
      logger,
    }),
  } satisfies Partial<Services>;
}

function newestBlockAt(rpcUrl: string): () => Promise<bigint> {
  const client = openChainClient(rpcUrl, HEALTH_RPC);
  return () => client.getBlockNumber({ cacheTime: 0 });
}
