import type { Logger } from "pino";
import type { GetRiskPremiumPorts } from "../../service/api/routes/get-risk-premium.ts";
import { riskFactsReader } from "../../service/api/schemas/risk.ts";
import type { Deployment } from "../../service/chain/deployments.ts";
import type { Database } from "../../service/db/database.ts";
import { remembered } from "../../service/db/remembered.ts";
import type { Policy } from "../../service/model/score/policy-shape.ts";
import { createLabelReader, createLabelStore } from "../../service/reports/labels/label-reader.ts";
import {
  createBreakingSource,
  createNansenSource,
  type LabelSource,
} from "../../service/reports/labels/label-source.ts";
import { type RiskKey, riskFactsLoader } from "../../service/reports/risk/risk-facts.ts";
import type { Config } from "../config.ts";

/** A score never changes once stored; whom a wallet dealt with, and how those fare, is a minute old at most. */
const FACTS_MS = 60_000;
/** At some kilobytes each. */
const MAX_FACTS = 10_000;
/** A caller waits meanwhile. */
const LABELS_DEADLINE_MS = 3_000;
/** After five failures the provider is down; half a minute is long enough not to be asked for nothing. */
const LABELS_BREAKER = { failures: 5, pauseMs: 30_000 } as const;

type RiskParts = {
  readonly db: Database;
  readonly deployment: Deployment;
  readonly clock: { now(): Date; monotonicMs(): number };
  readonly logger: Logger;
  readonly readWallet: GetRiskPremiumPorts["readWallet"];
  readonly policy: Policy;
};

/** What risk answers read; the premium one asks third parties for labels where the configuration names one. */
export function riskPorts(
  { labels }: Pick<Config, "labels">,
  { db, deployment, clock, logger, readWallet, policy }: RiskParts,
): Pick<GetRiskPremiumPorts, "riskFacts" | "chainId" | "readLabels"> {
  const { chainId, accounts } = deployment;
  const load = riskFactsLoader(db, { chainId, mixers: accounts.mixers });
  return {
    chainId,
    riskFacts: remembered(riskFactsReader({ load, readWallet, policy }), {
      keyOf: ({ address, scoreId }: RiskKey) => `${address} ${scoreId}`,
      milliseconds: FACTS_MS,
      entries: MAX_FACTS,
      monotonicMs: clock.monotonicMs,
    }),
    readLabels: createLabelReader({
      sources: sourcesOf(labels),
      kept: createLabelStore(db),
      now: clock.now,
      logger,
    }),
  };
}

function sourcesOf({ url, apiKey }: Config["labels"]): readonly LabelSource[] {
  if (url === null) return [];
  const nansen = createNansenSource({ url, apiKey, deadlineMs: LABELS_DEADLINE_MS });
  return [createBreakingSource(nansen, LABELS_BREAKER)];
}
