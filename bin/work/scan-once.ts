import type { Address } from "viem";
import type { Deployment } from "../../service/chain/deployments.ts";
import { LOCAL_CHAIN_ID } from "../../service/chain/networks.ts";
import { createChainReader } from "../../service/chain/node/chain-reader.ts";
import type { RootReport, ScanReport } from "../../service/db/tables/scan.ts";
import { publishRoot } from "../../service/oracle/publish-root.ts";
import { readEpochFigures } from "../../service/registries/nightly/finish-scan.ts";
import { type ScanSteps, scanOnce } from "../../service/registries/nightly/scan-once.ts";
import { nightOf, nightStart, type ScanAttempt } from "../../service/registries/nightly/scan-runs.ts";
import { type ScoringRunContext, scoreAllWallets } from "../../service/scores/run-scoring.ts";
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

function stepsOf(context: ScanContext): ScanSteps {
  return {
    scoreAll: (signal) => scoreAllWallets(context.scoring, signal),
    publishRoot: () => publishNightRoot(context),
  };
}

/** What the root of a night needs. */
export type RootContext = {
  readonly config: Pick<Config, "publicUrl" | "host" | "port">;
  readonly deployment: Pick<Deployment, "oracle">;
  readonly scoring: Pick<ScoringRunContext, "db" | "chainId" | "now">;
  readonly publisher: Address;
};

/**
 * Queues the root of the present night, unless it was. On a public chain there is none without PUBLIC_URL, since it would name
 * an address of this machine for ever. Throws where there is no index.
 */
export async function publishNightRoot(context: RootContext): Promise<RootReport> {
  const { config, deployment, scoring, publisher } = context;
  const { db, chainId, now } = scoring;
  if (config.publicUrl === null && chainId !== LOCAL_CHAIN_ID) {
    return { root: null, noRoot: "PUBLIC_URL is not set, where everybody is to find a root's leaves" };
  }
  const at = now();
  const day = nightOf(at);
  const outcome = await publishRoot(db, {
    ...{ chainId, oracle: deployment.oracle.address, sender: publisher, now: at },
    night: { day, startedAt: nightStart(day) },
    uriOf: (epoch) => `${publicUrl(config)}/epochs/${epoch}`,
  });
  switch (outcome.kind) {
    case "queued":
    case "exists": {
      const root = await readEpochFigures(db, { chainId, epoch: outcome.epoch });
      return { root, noRoot: root === null ? "the chain was cleared meanwhile" : null };
    }
    case "no_scores":
      return { root: null, noRoot: "there is no score to publish" };
    case "no_index":
      throw new Error("no root to publish: there is no index");
  }
}
