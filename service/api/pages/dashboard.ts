import { html } from "hono/html";
import type { Address } from "viem";
import type { ScanNight } from "../../registries/nightly/service-records.ts";
import type { GradeChange } from "../../scores/ecosystem.sql.ts";
import type { Ecosystem, ScoreDistribution } from "../../scores/ecosystem.ts";
import type { ListQuery } from "../../scores/leaderboard.ts";
import type { SettledVerdict } from "../../verification/escrow/settled-verdicts.ts";
import { getAhsRoute } from "../routes/get-ahs-route.ts";
import { getAlertsSubscribe } from "../routes/get-alerts-subscribe.ts";
import { getRisk } from "../routes/get-risk.ts";
import { toEip55 } from "../schemas/values.ts";
import { postOutputs } from "../verification/post-outputs.ts";
import { renderDistribution, renderEmptyScale, renderTrend } from "./charts.ts";
import type { PageContent } from "./frame.ts";
import { answerPublicPage, type Page, type PageHandler } from "./page.ts";
import type { PagePorts } from "./page-ports.ts";
import {
  ageWords,
  copyable,
  countWords,
  dollars,
  explorerLink,
  gradeMark,
  priceUsd,
  renderSearch,
  shortHex,
  spanWords,
  timeTag,
  walletLink,
} from "./page-words.ts";
import type { Fragment } from "./prose.ts";
import { SOLD_REPORTS } from "./reports/sold-reports.ts";

/** GET /: overview of all scores of the chain. */
export const dashboardPage: Page = { path: "/", needs: "/ahs/{address}", get: respond };

async function respond(...[context, { ports, clock, served }]: Parameters<PageHandler>): Promise<Response> {
  const [ecosystem, distribution, changes, nights, verdicts, [sample]] = await Promise.all([
    ports.ecosystem(),
    ports.distribution(),
    ports.gradeChanges(),
    ports.nights(),
    ports.settledVerdicts(),
    ports.leaderboard.list(BEST),
  ]);
  const page = renderDashboard({
    chain: ports.chain,
    ecosystem,
    distribution,
    nights,
    verdicts,
    served,
    changes: changes.slice(0, CHANGES),
    sample: sample?.wallet ?? null,
    now: clock.now(),
  });
  return answerPublicPage(context, page);
}

/** The wallet that the explanation shows as an example. */
const BEST: ListQuery = {
  scope: { kind: "scored", from: 0, to: 100 },
  confidence: null,
  order: "score",
  isRising: false,
  offset: 0,
  limit: 1,
};
const CHANGES = 8;

type DashboardView = {
  readonly chain: PagePorts["chain"];
  readonly ecosystem: Ecosystem;
  readonly distribution: ScoreDistribution;
  readonly changes: readonly GradeChange[];
  readonly nights: readonly ScanNight[];
  readonly verdicts: readonly SettledVerdict[];
  /** A scored wallet; null before the first score. */
  readonly sample: Address | null;
  readonly served: ReadonlySet<string>;
  readonly now: Date;
};

const DESCRIPTION =
  "Agent Health scores the wallets of autonomous agents by their on-chain behaviour, and says whether a payment to one should settle, wait in escrow or be rejected.";

function renderDashboard(view: DashboardView): PageContent {
  return {
    title: "know an agent before you pay it",
    path: "/",
    description: DESCRIPTION,
    refreshSeconds: 60,
    body: html`<div class="hero">
<h1>Know an agent before you pay it</h1>
<p class="lead">Agent Health scores the wallets of autonomous agents from 0 to 100 by their on-chain behaviour. One call tells whether a payment should settle at once, wait in escrow or be rejected.</p>
<p class="actions"><a class="button" href="/account">Get a key</a>${view.sample === null ? "" : html`<a class="button plain" href="/wallet/${toEip55(view.sample)}">See a scored wallet</a>`}<a class="button plain" href="/docs">Read the API</a></p>
${renderSearch("")}
</div>
${renderStats(view)}
<section aria-labelledby="how"><h2 id="how">How it works</h2>${renderSteps(view)}</section>
<section class="open" aria-labelledby="scores"><h2 id="scores">All scores and their default routing</h2>${renderScores(view)}</section>
<section class="panel" aria-labelledby="trend"><h2 id="trend">Nightly trend</h2>${renderTrend(view.nights)}</section>
<section class="panel" aria-labelledby="changes"><h2 id="changes">Recent changes of grade</h2>${renderChanges(view)}</section>
${view.verdicts.length === 0 ? "" : html`<section class="panel" aria-labelledby="verdicts"><h2 id="verdicts">Recent verdicts</h2>${renderVerdicts(view)}</section>`}
<div class="grid">
<section class="panel" aria-labelledby="prices"><h2 id="prices">Prices</h2>${renderPrices(view)}</section>
<section class="panel" aria-labelledby="chain"><h2 id="chain">On chain</h2>${renderChain(view)}</section>
</div>`,
  };
}

function renderSteps({ sample, served }: DashboardView): Fragment {
  const wallet = sample === null ? html`a wallet` : html`<a href="/wallet/${toEip55(sample)}">a wallet</a>`;
  return html`<ol class="how">
<li><b>Observe.</b> The index reads every transaction of registered agents (<abbr title="standard for a registry of agents">ERC-8004</abbr>): successes, failures, fees, approvals, counterparties.</li>
<li><b>Score.</b> Open rules turn them into a score with a grade. Look at ${wallet}: its score, its backing and its record on chain. Anyone can recompute it.</li>
<li><b>Decide.</b> Ask <code>GET /ahs/route/{address}?amount_usd=25</code> before a payment. It answers <code>instant_settle</code>, <code>escrow</code> or <code>reject</code>.</li>
${served.has(postOutputs.path) ? html`<li><b>Verify.</b> Register what you order. A panel of six model roles compares the delivered text with it, and code decides <code>ALLOW</code>, <code>HOLD</code> or <code>REJECT</code>. An <abbr title="standard for escrowed jobs">ERC-8183</abbr> escrow pays or refunds by the verdict.</li>` : ""}
</ol>`;
}

function renderVerdicts({ verdicts, chain, now }: DashboardView): Fragment {
  return html`<table class="stack">
<thead><tr><th scope="col">Decision</th><th scope="col">Job</th><th scope="col">Provider</th><th scope="col">When</th><th scope="col">Transaction</th></tr></thead>
<tbody>${verdicts.map(
    ({ decision, score, jobId, provider, at, transactionHash, verdictId }) => html`
<tr><td>${verdictId === null ? html`<b class="decision-${decision}">${decision}</b>` : html`<a href="/verdict/${verdictId}"><b class="decision-${decision}">${decision}</b></a>`}${score === null ? "" : html` <span class="quiet">${score} of 100</span>`}</td><td data-name="Job">${String(jobId)}</td><td data-name="Provider">${provider === null ? "–" : walletLink(provider)}</td><td data-name="When"><span title="${at.toISOString()}">${ageWords(at, now)}</span></td><td data-name="Transaction">${renderTransaction(chain, transactionHash)}</td></tr>`,
  )}</tbody></table>`;
}

/** A short hash, as a link where the chain has an explorer. */
function renderTransaction({ explorer }: PagePorts["chain"], hash: string): Fragment {
  const short = html`<code title="${hash}">${shortHex(hash)}</code>`;
  return explorer === null ? short : html`<a href="${explorer}/tx/${hash}" rel="noopener">${short}</a>`;
}

function renderPrices({ served }: DashboardView): Fragment {
  const prices = [
    { name: "Trust check before a payment", endpoint: getRisk },
    { name: "Routing of a payment", endpoint: getAhsRoute },
    ...SOLD_REPORTS.map(({ title, endpoint }) => ({ name: title, endpoint })),
    { name: "Alerts about a wallet for 30 days", endpoint: getAlertsSubscribe },
    { name: "Verdict on a delivered output", endpoint: postOutputs },
  ].filter(({ endpoint }) => served.has(endpoint.path));
  return html`<dl class="facts prices">${prices.map(({ name, endpoint }) => html`<dt>${name}</dt><dd class="number">${dollars(priceUsd(endpoint))}</dd>`)}</dl>
<p class="quiet small">Pay per call with an API key or with USDC by <abbr title="HTTP 402 payments">x402</abbr>. A refused request costs nothing.</p>`;
}

function renderStats({ ecosystem, now }: DashboardView): Fragment {
  const { scored, insufficient, sanctioned, agents, head } = ecosystem;
  const lag = head === null ? null : Math.max(0, Math.floor(now.getTime() / 1000) - head.timestamp);
  return html`<dl class="stats">
<div><dt>wallets scored</dt><dd>${countWords(scored)}</dd></div>
<div><dt>without enough history</dt><dd>${countWords(insufficient)}</dd></div>
<div><dt>sanctioned</dt><dd>${countWords(sanctioned)}</dd></div>
<div><dt>agents registered</dt><dd>${agents === null ? "–" : countWords(agents)}</dd></div>
<div><dt>index lag</dt><dd>${lag === null ? "–" : spanWords(lag)}</dd></div>
</dl>`;
}

function renderScores({ distribution, ecosystem }: DashboardView): Fragment {
  if (distribution.length === 0)
    return html`${renderEmptyScale()}<p class="quiet">No wallet has a score yet.${ecosystem.insufficient > 0 ? " The wallets in the index have too little history, which is not a bad score." : " Scores appear once the index holds final blocks with transactions of agents."}</p>`;
  return renderDistribution(distribution);
}

function renderChanges({ changes, chain, now }: DashboardView): Fragment {
  if (changes.length === 0) return html`<p class="quiet">No grade changed recently.</p>`;
  return html`<div class="scroll"><table class="stack">
<thead><tr><th scope="col">Wallet</th><th scope="col">Grade</th><th scope="col">When</th><th scope="col">Transaction</th></tr></thead>
<tbody>${changes.map(
    ({ wallet, from, to, at, transactionHash }) => html`
<tr><td>${walletLink(wallet)}</td><td><span class="move">${gradeMark(from)} <span aria-hidden="true">→</span><span class="hidden"> to </span> ${gradeMark(to)}</span></td><td data-name="When"><span title="${at.toISOString()}">${ageWords(at, now)}</span></td><td data-name="Transaction">${renderTransaction(chain, transactionHash)}</td></tr>`,
  )}</tbody></table></div><p class="quiet small"><a href="/feed.xml">Subscribe to the feed</a></p>`;
}

function renderChain({ chain, ecosystem: { head, newestScore, newestRoot } }: DashboardView): Fragment {
  return html`<dl class="facts">
<dt>Chain</dt><dd>${chain.name} (${chain.chainId})</dd>
<dt>Oracle contract</dt><dd>${copyable(toEip55(chain.oracle), "the contract's address")}${explorerLink(chain, "address", toEip55(chain.oracle))}</dd>
<dt>Newest indexed block</dt><dd>${head === null ? "The index holds no block yet." : html`${countWords(head.blockNumber)} of ${timeTag(new Date(head.timestamp * 1000))}`}</dd>
<dt>Newest score</dt><dd>${newestScore === null ? "No score is stored yet." : html`as of block ${countWords(newestScore.asOfBlock)}, ${timeTag(newestScore.asOfTime)}`}</dd>
<dt>Newest Merkle root</dt><dd>${newestRoot === null ? "Not published yet; a root is published every night." : html`<a href="/epochs/${newestRoot.epoch}">epoch ${newestRoot.epoch}</a>, published ${timeTag(newestRoot.publishedAt)}`}</dd>
</dl>`;
}
