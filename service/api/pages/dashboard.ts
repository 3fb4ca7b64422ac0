import type { Address } from "viem";
import type { ScanNight } from "../../registries/nightly/scan-nights.ts";
import type { Ecosystem } from "../../scores/ecosystem.ts";
import type { GradeChange } from "../../scores/grade-changes.ts";
import type { ScoreDistribution } from "../../scores/score-distribution.ts";
import { renderDashboard } from "./dashboard-view.ts";
import { answerPublicPage, type Page, type PageHandler } from "./page.ts";

/** The chain that a deployment scores, and the contract that holds its scores. */
export type PageChain = { readonly chainId: number; readonly name: string; readonly oracle: Address };

/** What the dashboard shows; each remembers for a while what it read. */
export type DashboardPorts = {
  readonly chain: PageChain;
  readonly ecosystem: () => Promise<Ecosystem>;
  readonly distribution: () => Promise<ScoreDistribution>;
  readonly gradeChanges: () => Promise<readonly GradeChange[]>;
  readonly nights: () => Promise<readonly ScanNight[]>;
};

/** GET /: all scores of the chain at a glance. */
export const dashboardPage: Page = { path: "/", needs: "/ahs/{address}", get: respond };

async function respond(...[context, { ports, clock }]: Parameters<PageHandler>): Promise<Response> {
  const [ecosystem, distribution, changes, nights] = await Promise.all([
    ports.ecosystem(),
    ports.distribution(),
    ports.gradeChanges(),
    ports.nights(),
  ]);
  const page = renderDashboard({
    chain: ports.chain,
    ecosystem,
    distribution,
    changes,
    nights,
    now: clock.now(),
  });
  return answerPublicPage(context, page);
}
