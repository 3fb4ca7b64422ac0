import { html } from "hono/html";
import type { ScanNight } from "../../registries/nightly/service-records.ts";
import type { Ecosystem, GradeChange, ScoreDistribution } from "../../scores/ecosystem.ts";

import { toEip55 } from "../schemas/values.ts";
import { renderDistribution, renderEmptyScale, renderTrend } from "./charts.ts";
import type { PageContent } from "./frame.ts";
import { answerPublicPage, type Page, type PageHandler } from "./page.ts";
import type { PagePorts } from "./page-ports.ts";
import {
  ageWords,
  countWords,
  gradeMark,
  renderSearch,
  shortHex,
  spanWords,
  timeTag,
  walletLink,
} from "./page-words.ts";
import type { Fragment } from "./prose.ts";

/** GET /: overview of all scores of the chain. */
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

type DashboardView = {
  readonly chain: PagePorts["chain"];
  readonly ecosystem: Ecosystem;
  readonly distribution: ScoreDistribution;
  readonly changes: readonly GradeChange[];
  readonly nights: readonly ScanNight[];
  readonly now: Date;
};

const DESCRIPTION =
  "Scores the wallets of autonomous agents by what they did on chain, and says whether a payment to one should settle, wait in escrow or be rejected.";

function renderDashboard(view: DashboardView): PageContent {
  return {
    title: "scores of agents' wallets, measured on chain",
    path: "/",
    description: DESCRIPTION,
    body: html`<div class="hero">
<h1>Know an agent by its wallet</h1>
<p class="lead">Agent Health scores the wallets of autonomous agents from 0 to 100 by what they did on chain, and says of each whether a payment should settle at once, wait in escrow or be rejected.</p>
${renderSearch("")}
</div>
${renderStats(view)}
<section class="open" aria-labelledby="scores"><h2 id="scores">All scores, and where payments go by default</h2>${renderScores(view)}</section>
<section class="panel" aria-labelledby="trend"><h2 id="trend">Night by night</h2>${renderTrend(view.nights)}</section>
<section class="panel" aria-labelledby="changes"><h2 id="changes">Newest changes of grade</h2>${renderChanges(view)}</section>
<div class="grid">
<section class="panel" aria-labelledby="chain"><h2 id="chain">On chain</h2>${renderChain(view)}</section>
<section class="panel" aria-labelledby="next"><h2 id="next">Ask before you pay</h2>${renderNext()}</section>
</div>`,
  };
}

function renderStats({ ecosystem, now }: DashboardView): Fragment {
  const { scored, insufficient, sanctioned, agents, head } = ecosystem;
  const lag = head === null ? null : Math.max(0, Math.floor(now.getTime() / 1000) - head.timestamp);
  return html`<dl class="stats">
<div><dt>wallets scored</dt><dd>${countWords(scored)}</dd></div>
<div><dt>without enough history</dt><dd>${countWords(insufficient)}</dd></div>
<div><dt>sanctioned</dt><dd>${countWords(sanctioned)}</dd></div>
<div><dt>agents registered</dt><dd>${agents === null ? "–" : countWords(agents)}</dd></div>
<div><dt>index behind the clock</dt><dd>${lag === null ? "–" : spanWords(lag)}</dd></div>
</dl>`;
}

function renderScores({ distribution, ecosystem }: DashboardView): Fragment {
  if (distribution.length === 0)
    return html`${renderEmptyScale()}<p class="quiet">No wallet has a score yet.${ecosystem.insufficient > 0 ? " The wallets examined so far have too little history, which is no bad score." : " The first ones come once the index holds final blocks with calls of agents."}</p>`;
  return renderDistribution(distribution);
}

function renderChanges({ changes, now }: DashboardView): Fragment {
  if (changes.length === 0) return html`<p class="quiet">No grade changed among the newest publications.</p>`;
  return html`<div class="scroll"><table class="stack">
<thead><tr><th scope="col">Wallet</th><th scope="col">Grade</th><th scope="col">When</th><th scope="col">Transaction</th></tr></thead>
<tbody>${changes.map(
    ({ wallet, from, to, at, transactionHash }) => html`
<tr><td>${walletLink(wallet)}</td><td><span class="move">${gradeMark(from)} <span aria-hidden="true">→</span><span class="hidden"> to </span> ${gradeMark(to)}</span></td><td data-name="When"><time datetime="${at.toISOString()}" title="${at.toISOString()}">${ageWords(at, now)}</time></td><td data-name="Transaction"><code title="${transactionHash}">${shortHex(transactionHash)}</code></td></tr>`,
  )}</tbody></table></div>`;
}

function renderChain({ chain, ecosystem: { head, newestScore, newestRoot } }: DashboardView): Fragment {
  return html`<dl class="facts">
<dt>Chain</dt><dd>${chain.name} (${chain.chainId})</dd>
<dt>Oracle contract</dt><dd class="mono">${toEip55(chain.oracle)}</dd>
<dt>Newest indexed block</dt><dd>${head === null ? "The index holds no block yet." : html`${countWords(head.blockNumber)} of ${timeTag(new Date(head.timestamp * 1000))}`}</dd>
<dt>Newest score</dt><dd>${newestScore === null ? "None is stored yet." : html`as of block ${countWords(newestScore.asOfBlock)}, ${timeTag(newestScore.asOfTime)}`}</dd>
<dt>Newest Merkle root</dt><dd>${newestRoot === null ? "None is published yet; the first comes with the first night." : html`<a href="/epochs/${newestRoot.epoch}">epoch ${newestRoot.epoch}</a>, published ${timeTag(newestRoot.publishedAt)}`}</dd>
</dl>`;
}

function renderNext(): Fragment {
  return html`<p>One call before a payment answers <code>instant_settle</code>, <code>escrow</code> or <code>reject</code>:</p>
<pre tabindex="0"><code>GET /ahs/route/{address}?amount_usd=25</code></pre>
<p class="actions"><a class="button" href="/account">Get a key</a><a class="button plain" href="/docs">Read the API</a></p>`;
}
