import type { Address } from "viem";
import type { Deployment } from "../../service/chain/deployments.ts";
import { createChainReader } from "../../service/enrich/chain-reader.ts";
import { publishRoot } from "../../service/publish/publish-root.ts";
import { type ScoringRunContext, scoreAllWallets } from "../../service/record/run-scoring.ts";
import type { ScanReport } from "../../service/scan/report.ts";
import { type ScanSteps, scanOnce } from "../../service/scan/scan-once.ts";
import { readEpochFigures } from "../../service/store/scan-figures.ts";
import type { ScanAttempt } from "../../service/store/scan-runs.ts";
import { type Config, publicUrl } from "../config.ts";

const RPC = { timeoutMs: 20_000, retries: 3, retryMs: 250 };

export type ScanContext = {
  readonly config: Config;
  readonly deployment: Deployment;
  readonly rpcUrl: string;
  readonly scoring: ScoringRunContext;
  /** The oracle's publisher, whose transactions a worker sends. */
  readonly publisher: Address;
};

/** Makes one scan with the scoring, the root and the node of this process. */
export function scanWith(
  context: ScanContext,
): (attempt: ScanAttempt, signal: AbortSignal) => Promise<ScanReport> {
  const { config, deployment, rpcUrl, scoring } = context;
  const { db, logger, now } = scoring;
  const deps = {
    ...{ db, deployment, logger, now },
    steps: stepsOf(context),
    openReader: (signal: AbortSignal) =>
      createChainReader({ ...RPC, url: rpcUrl, signal, onRequest: () => undefined }),
    mostWaiting: config.enrolment.perDay,
    monotonicMs: () => performance.now(),
  };
  return (attempt, signal) => scanOnce(deps, attempt, signal);
}

function stepsOf({ config, deployment, scoring, publisher }: ScanContext): ScanSteps {
  const { db, chainId, now } = scoring;
  return {
    scoreAll: () => scoreAllWallets(scoring),
    publishRoot: async () => {
      const outcome = await publishRoot(db, {
        ...{ chainId, oracle: deployment.oracle.address, sender: publisher, now: now() },
        uriOf: (epoch) => `${publicUrl(config)}/epochs/${epoch}`,
      });
      switch (outcome.kind) {
        case "queued":
        case "exists":
          return readEpochFigures(db, { chainId, epoch: outcome.epoch });
        case "no_scores":
          return null;
        case "no_index":
          throw new Error("no root to publish: there is no index");
      }
    },
  };
}
