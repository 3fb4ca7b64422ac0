import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Database } from "../../service/db/database.ts";
import { runPanel } from "../../service/verification/panel/run-panel.ts";
import { createVerdictMetrics } from "../../service/verification/verdicts/metrics.ts";
import { runVerdicts } from "../../service/verification/verdicts/run-verdicts.ts";
import { tokensPerDecision } from "../../service/verification/verdicts/token-budget.ts";
import type { Config } from "../config.ts";
import { panelFromConfig } from "../panel-from-config.ts";

export type PanelWork = {
  readonly config: Config;
  readonly chainId: number;
  readonly registry: Registry;
  readonly db: Database;
  readonly logger: Logger;
  readonly now: () => Date;
};

/** A worker that dies keeps its runs from others for as long; one that lives says so three times in it. */
const LEASE = { leaseMs: 15_000, renewMs: 4_000 };
const PACE = { pollMs: 1_000, gaugesMs: 5_000 };

/**
 * Runs verdicts until the signal fires, in as many processes as there are; returns at once where no model is configured. Throws
 * where the models' base URL or key cannot be used safely.
 */
export async function runPanelWork(work: PanelWork, signal: AbortSignal): Promise<void> {
  const { config, registry, logger } = work;
  if (config.panel === null) {
    logger.info("outputs are not verified here: PANEL_BASE_URL and PANEL_MODEL are not set");
    return;
  }
  const { atOnce, tokensPerDay } = config.panel;
  const panel = panelFromConfig(config.panel, registry);
  const deps = {
    ...work,
    atOnce,
    tokensPerDay,
    tokensPerDecision: tokensPerDecision(config.panel),
    runPanel: (panelCase, run) => runPanel(panelCase, { ...panel, ...run }),
    metrics: createVerdictMetrics(registry),
    monotonicMs: () => performance.now(),
    random: Math.random,
    lease: LEASE,
    pace: PACE,
  } satisfies Parameters<typeof runVerdicts>[0];
  await runVerdicts(deps, signal);
}
