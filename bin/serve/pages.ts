import type { Address } from "viem";
import { type PurchaseQuery, readKeptPurchase } from "../../service/access/idempotent-answers.ts";
import { type LoadedAssets, loadPageAssets } from "../../service/api/pages/assets.ts";
import type {
  DashboardPorts,
  LeaderboardPorts,
  PagePorts,
  WalletPagePorts,
} from "../../service/api/pages/page-ports.ts";
import type { Deployment } from "../../service/chain/deployments.ts";
import type { Database } from "../../service/db/database.ts";
import { readAgentNames } from "../../service/registries/documents/agent-names.ts";
import { createNightReader } from "../../service/registries/nightly/service-records.ts";
import { readSanctionsFlags } from "../../service/sanctions/sanctions.ts";
import {
  createDistributionReader,
  createEcosystemReader,
  createGradeChangeReader,
} from "../../service/scores/ecosystem.ts";
import { createLeaderboardReader } from "../../service/scores/leaderboard.ts";
import { readScoreReference, type ScoreReader } from "../../service/scores/scores.ts";

type PublicPagePorts = DashboardPorts & LeaderboardPorts & WalletPagePorts;

type PublicPages = {
  readonly db: Database;
  readonly deployment: Deployment;
  readonly scores: ScoreReader;
  readonly monotonicMs: () => number;
};

/** What the pages for people show: those of all scores and of single wallets beside the others. */
export function pagePorts(
  pages: PublicPages,
  others: Omit<PagePorts, keyof PublicPagePorts | keyof LoadedAssets>,
): { readonly pages: PagePorts } {
  return { pages: { ...others, ...publicPages(pages), ...loadPageAssets() } };
}

function publicPages({ db, deployment, scores, monotonicMs }: PublicPages): PublicPagePorts {
  const { chainId, name, oracle } = deployment;
  const reading = { chainId, monotonicMs };
  return {
    chain: { chainId, name, oracle: oracle.address },
    ecosystem: createEcosystemReader(db, reading),
    distribution: createDistributionReader(db, reading),
    gradeChanges: createGradeChangeReader(db, reading),
    nights: createNightReader(db, reading),
    leaderboard: createLeaderboardReader(db, chainId),
    agentNames: (wallets: readonly Address[]) => readAgentNames(db, chainId, wallets),
    sanctionedAmong: async (wallets: readonly Address[]) => {
      const flags = await readSanctionsFlags(db, { schema: `chain_${chainId}`, chainId }, wallets);
      return new Set(flags.keys());
    },
    wallets: { ...scores, reference: (scoreId: number) => readScoreReference(db, scoreId) },
    keptPurchase: (query: PurchaseQuery) => readKeptPurchase(db, query),
  };
}
