import { renderDashboard } from "./dashboard-view.ts";
import { answerPublicPage, type Page, type PageHandler } from "./page.ts";

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
