import { html } from "hono/html";
import { type Address, encodeFunctionData } from "viem";
import { agentHealthOracleAbi } from "../../chain/abi/agent-health-oracle.ts";
import { gradeOf } from "../../chain/oracle-codec.ts";
import type { SellerProfile } from "../../model/backing/seller-profile.ts";
import { AHS_2026_2 } from "../../model/score/policy.ts";
import { gradeLabel, type RoutingAction } from "../../model/score/record.ts";
import { defaultAction } from "../../model/score/route.ts";
import type { AgentCard } from "../../registries/documents/agent-cards.ts";
import { rankOf } from "../../reports/report-card.ts";
import type { AvailableBacking } from "../../scores/backing/available-backing.ts";
import {
  type CurrentScore,
  isStale,
  type PublishedScore,
  type ScoreReference,
} from "../../scores/stored-score.ts";
import { MOST_CALLS, type WalletActivity, WEEKS } from "../../scores/wallet-activity.ts";
import { getAhsHistory } from "../routes/get-ahs-history.ts";
import { IDENTITY_REGISTRY } from "../schemas/agents.ts";
import { toEip55 } from "../schemas/values.ts";
import { percent, RULER_HEIGHT, renderRuler, renderSparkline } from "./charts.ts";
import type { PageContent } from "./frame.ts";
import { answerPublicPage, type Page, type PageHandler, type PageRuntime, redirectTo } from "./page.ts";
import {
  ageWords,
  copyable,
  countWords,
  dollars,
  explorerLink,
  gradeMark,
  levelWords,
  percentWords,
  priceUsd,
  routeWords,
  strangeText,
  timeTag,
  usdAmount,
} from "./page-words.ts";
import type { Fragment } from "./prose.ts";
import { SOLD_REPORTS } from "./reports/sold-reports.ts";
import { reasonOf } from "./score-reason.ts";
import {
  addressOf,
  HISTORY_TAB,
  readHead,
  renderWalletHead,
  shownName,
  type WalletHead,
  walletName,
} from "./wallet-head.ts";

type WalletView = WalletHead & {
  readonly published: PublishedScore | null;
  /** Null while it is unknown. */
  readonly backing: AvailableBacking | null;
  /** Null if the wallet was never scored. */
  readonly reference: ScoreReference | null;
  readonly activity: WalletActivity;
  /** Null without a score, and for a sanctioned wallet. */
  readonly rank: number | null;
  /** Wallets with a score. */
  readonly scored: number;
  /** The newest published Merkle epoch; null before the first. */
  readonly epoch: number | null;
  readonly origin: string;
  readonly now: Date;
};

/** GET /wallet/{address}: the public data of a wallet. */
export const walletPage: Page = { path: "/wallet/{address}", needs: "/ahs/{address}", get: show };

async function show(...[context, runtime]: Parameters<PageHandler>): Promise<Response> {
  const address = addressOf(context);
  const name = toEip55(address);
  if (context.req.param("address") !== name) return redirectTo(context, `/wallet/${name}`, { status: 308 });
  return answerPublicPage(context, renderWallet(await readView(address, runtime)));
}

async function readView(address: Address, runtime: PageRuntime): Promise<WalletView> {
  const { ports, origin, clock } = runtime;
  const { wallets } = ports;
  const now = clock.now();
  const [head, published, backing, activity, distribution, ecosystem] = await Promise.all([
    readHead(address, runtime),
    wallets.published(address),
    wallets.backing(address),
    wallets.activity(address, now),
    ports.distribution(),
    ports.ecosystem(),
  ]);
  const { score } = head.snapshot;
  return {
    ...head,
    published,
    backing,
    activity,
    reference: score === null ? null : await wallets.reference(score.scoreId),
    rank: head.snapshot.sanctions.length > 0 ? null : rankOf(score?.ahsScore ?? null, distribution),
    scored: distribution.reduce((sum, one) => sum + one.wallets, 0),
    epoch: ecosystem.newestRoot?.epoch ?? null,
    origin,
    now,
  };
}

/** Pixels above the ruler, for the needle. */
const NEEDLE_HEIGHT = 20;

function renderWallet(view: WalletView): PageContent {
  const address = toEip55(view.address);
  const { score } = view.snapshot;
  const name = walletName(view);
  return {
    title: score === null ? name : `${name}: ${readingWords(view, score)}`,
    path: `/wallet/${address}`,
    ...(score === null
      ? {}
      : {
          description: `${readingWords(view, score)}. ${reasonOf(view) ?? "Agent Health Score"} Wallet ${address}.`,
          image: `/og/${address}.png`,
        }),
    body: html`${renderWalletHead(view, null)}
<div class="grid">
<section class="panel" aria-labelledby="score"><h2 id="score">Score</h2>
${score === null ? renderNeverScored(view) : renderScore(score, view)}</section>
<section class="panel" aria-labelledby="backing"><h2 id="backing">Backing</h2>
${renderBacking(view)}</section>
</div>
<p class="quiet">The score predicts failures; it is not a fraud score. The safe amount is how much money to have at stake with the wallet at once, each day anew: no failed delivery lowers it.</p>
<div class="grid">
<section class="panel" aria-labelledby="activity"><h2 id="activity">Activity</h2>${renderActivity(view)}</section>
${view.agents.cards.map(renderAgent)}
</div>
<section class="panel" aria-labelledby="reports"><h2 id="reports">Reports</h2>${renderReports(view)}</section>
<section class="panel" aria-labelledby="published"><h2 id="published">On-chain record</h2>${renderPublished(view)}</section>
<details class="panel verify"><summary>Verify it yourself</summary>${renderVerification(view)}</details>`,
  };
}

/** "Score 84, grade B"; a sanctioned wallet has score 0. */
function readingWords({ snapshot }: WalletHead, { ahsScore, grade }: CurrentScore): string {
  if (snapshot.sanctions.length > 0) return "Sanctioned";
  return ahsScore === null ? "Not enough history" : `Score ${ahsScore}, grade ${grade}`;
}

function renderActivity({ activity, now }: WalletView): Fragment {
  const { first, last, calls, weeks } = activity;
  if (first === null || last === null)
    return html`<p class="quiet">No outgoing transaction of this wallet is known.</p>`;
  const count = calls < MOST_CALLS ? countWords(calls) : `${countWords(MOST_CALLS)} or more`;
  return html`<dl class="facts">
<dt>Last active</dt><dd>${timeTag(last)} <span class="quiet whole">(${ageWords(last, now)})</span></dd>
<dt>First seen</dt><dd>${timeTag(first)}</dd>
<dt>Transactions</dt><dd>${count} <span class="quiet">outgoing</span></dd>
</dl>
${renderSparkline(weeks, `Outgoing transactions by week, the last ${WEEKS} weeks: ${weeks.join(", ")}`)}
<p class="quiet small">Outgoing transactions by week, over ${WEEKS} weeks</p>`;
}

const MAX_DESCRIPTION = 400;
const MAX_ENDPOINT = 80;

/** The agent's own words, as text: no link or picture of it is loaded. */
function renderAgent(card: AgentCard): Fragment {
  const { agentId, registry, description, services, registeredAt, registeredBlock, state } = card;
  const id = `agent-${registry?.address ?? "followed"}-${agentId}`;
  return html`<section class="panel" aria-labelledby="${id}"><h2 id="${id}"><bdi>${shownName(card) ?? "Unnamed agent"}</bdi> <span class="quiet">#${String(agentId)}</span></h2>
${description === null ? "" : html`<p class="strange"><bdi>${strangeText(description, MAX_DESCRIPTION)}</bdi></p>`}
<dl class="facts">
<dt>Registry</dt><dd>${registry?.name ?? IDENTITY_REGISTRY}</dd>
<dt>Registered</dt><dd>${registeredAt === null ? `in block ${countWords(registeredBlock)}` : timeTag(registeredAt)}</dd>
${registry === null ? renderDeclared(services, state) : ""}
</dl>
<p class="quiet small">From the agent's own registration; not verified.</p></section>`;
}

function renderDeclared(services: AgentCard["services"], state: AgentCard["state"]): Fragment {
  return html`<dt>Services</dt><dd>${services.length === 0 ? html`<span class="quiet">none declared</span>` : html`<ul class="plain-list">${services.map(({ name, endpoint }) => html`<li><b><bdi>${strangeText(name, 30)}</bdi></b> <code class="strange">${strangeText(endpoint, MAX_ENDPOINT)}</code></li>`)}</ul>`}</dd>
${state === "current" ? "" : html`<dt>Document</dt><dd>${state === null ? "not read yet" : DOCUMENT_STATES[state]}</dd>`}`;
}

const DOCUMENT_STATES = {
  unreachable: "cannot be reached now",
  refused: "at an address that is not allowed",
  malformed: "not a registration document",
} as const;

function renderReports({ address, served }: WalletView): Fragment {
  const sold = SOLD_REPORTS.filter(({ endpoint }) => served.has(endpoint.path));
  return html`<ul class="reports">${sold.map(
    ({ slug, title, about, endpoint }) =>
      html`<li><a href="/wallet/${toEip55(address)}/${slug}"><b>${title}</b> <span class="price">${dollars(priceUsd(endpoint))}</span></a><span class="quiet small">${about}</span></li>`,
  )}</ul>`;
}

function renderScore(score: CurrentScore, view: WalletView): Fragment {
  const { ahsScore, grade } = score;
  const reason = reasonOf(view);
  return html`${ahsScore === null || grade === null ? renderInsufficient() : renderReading(ahsScore, score)}
${reason === null ? "" : html`<p class="reason">${reason}</p>`}
<dl class="facts">
<dt>Payments by default</dt><dd><b>${routeWords(actionOf(view))}</b></dd>
<dt>Confidence</dt><dd>${levelWords(score.confidenceLevel)} <span class="quiet">(${percentWords(score.confidenceMicros / 1_000_000)})</span></dd>
${view.rank === null ? "" : html`<dt>Rank</dt><dd>${countWords(view.rank)} of ${countWords(view.scored)}</dd>`}
<dt>Sanctions</dt><dd>${view.snapshot.sanctions.length === 0 ? "Not on a sanctions list" : "Listed"}</dd>
<dt>As of</dt><dd>block ${countWords(score.asOfBlock)}${explorerLink(view.chain, "block", String(score.asOfBlock))}, ${timeTag(score.asOfTime)} <span class="quiet whole">(${ageWords(score.asOfTime, view.now)})</span>${isStale(score.asOfTime, view.now) ? html` <span class="chip warn">Older than a day</span>` : ""}</dd>
${view.reference === null ? "" : html`<dt>Model</dt><dd>${view.reference.modelVersion}${renderOtherModel(view.reference)}</dd>`}
</dl>
${view.served.has(getAhsHistory.path) ? html`<p><a href="/wallet/${toEip55(view.address)}/${HISTORY_TAB}">How the score changed over time</a></p>` : ""}`;
}

function renderOtherModel({ modelVersion }: ScoreReference): Fragment | string {
  const { version } = AHS_2026_2;
  return modelVersion === version
    ? ""
    : html` <span class="chip warn">Another model version than ${version}</span>`;
}

/** The effect of the backing on payments by default: only an instant settlement depends on it. */
function renderBackedPayments(action: RoutingAction, isKnown: boolean): string {
  switch (action) {
    case "instant_settle":
      return isKnown
        ? "By default a payment settles at once up to the available amount, and waits in escrow above it."
        : "Until it is, a payment with a given amount waits in escrow.";
    case "escrow":
      return "By default every payment to this wallet waits in escrow. The available amount limits only what a routing policy settles at once.";
    case "reject":
      return "By default every payment to this wallet is rejected, whatever its backing.";
  }
}

function renderBacking(view: WalletView): Fragment {
  const { backing, now } = view;
  const payments = renderBackedPayments(actionOf(view), backing !== null);
  if (backing === null)
    return html`<p class="reading"><b>Not known</b></p>
<p>The backing of this wallet is not computed yet, which does not mean zero. ${payments}</p>`;
  const { safeMicroUsd, availableMicroUsd, outstandingMicroUsd, costBasisMicroUsd, bondMicroUsd } = backing;
  const { asOfBlock, asOfTime } = backing;
  return html`<p class="reading"><span class="reading-number">${usdAmount(safeMicroUsd)}</span> <b>USD</b> <span class="quiet">safe amount</span></p>
<p>${payments}</p>
<dl class="facts">
<dt>Available</dt><dd><b>${usdAmount(availableMicroUsd)} USD</b></dd>
<dt>Outstanding</dt><dd>${usdAmount(outstandingMicroUsd)} USD <span class="quiet">promised to payers or received within a day</span></dd>
<dt>Cost basis</dt><dd>${usdAmount(costBasisMicroUsd)} USD <span class="quiet">spent in 180 days on costs that do not return, its payers' share included</span></dd>
${bondMicroUsd === 0n ? "" : html`<dt>Bond</dt><dd>${usdAmount(bondMicroUsd)} USD <span class="quiet">in USDC, for clients of jobs that it is committed to; no part of the safe amount</span></dd>`}
<dt>As of</dt><dd>block ${countWords(asOfBlock)}, ${timeTag(asOfTime)} <span class="quiet whole">(${ageWords(asOfTime, now)})</span></dd>
</dl>${renderSeller(backing)}`;
}

function renderSeller({ sellerProfile: profile }: AvailableBacking): Fragment | string {
  if (profile === null) return "";
  const { jobs } = profile;
  return html`<dl class="facts">
<dt>Paid by</dt><dd>${countWords(profile.payers)} independent ${profile.payers === 1 ? "payer" : "payers"}, ${countWords(profile.returningPayers)} of them in two weeks or more</dd>
<dt>Revenue</dt><dd>${usdAmount(BigInt(profile.revenueMicroUsd))} USD in 180 days <span class="quiet">in ${countWords(profile.weeks)} ${profile.weeks === 1 ? "week" : "weeks"}, ${percent(profile.refundedShare)} paid back</span></dd>
<dt>Jobs</dt><dd>${countWords(jobs.completed)} completed, ${countWords(jobs.rejected)} rejected, ${countWords(jobs.expired)} expired</dd>
${renderFeedback(profile.feedback ?? null)}</dl>`;
}

/** Tags are third parties' words. */
function renderFeedback(feedback: SellerProfile["feedback"]): Fragment | string {
  if (feedback === null) return "";
  const medians = feedback.tags.map(
    ({ tag, median, payers }) =>
      html`, ${tag === "" ? "no tag" : html`<q>${strangeText(tag, 32)}</q>`}: ${countWords(median)} <span class="quiet">(median of ${countWords(payers)})</span>`,
  );
  if (feedback.payers === 0)
    return html`<dt>Feedback</dt><dd>none by its payers</dd>
`;
  return html`<dt>Feedback</dt><dd>of ${countWords(feedback.payers)} ${feedback.payers === 1 ? "payer" : "payers"}${medians}</dd>
`;
}

function renderReading(ahsScore: number, { grade }: CurrentScore): Fragment {
  return html`<p class="reading"><span class="reading-number">${ahsScore}</span> <span class="quiet">of 100</span> ${gradeMark(grade)} <b>${gradeLabel(grade)}</b></p>
<svg class="chart" width="100%" height="${NEEDLE_HEIGHT + RULER_HEIGHT}" role="img" aria-label="${ahsScore} on a scale of 0 to 100, grade ${grade}">
${renderRuler(NEEDLE_HEIGHT)}
<line class="needle" x1="${percent(ahsScore / 100)}" x2="${percent(ahsScore / 100)}" y1="8" y2="25"/><circle class="needle-head" cx="${percent(ahsScore / 100)}" cy="8" r="6"/>
</svg>`;
}

function renderInsufficient(): Fragment {
  return html`<p class="reading">${gradeMark(null)} <b>Not enough history</b></p>
<p>A score needs enough calls over enough days, and recent ones. By default payments to this wallet wait in escrow until then.</p>`;
}

function renderNeverScored({ snapshot: { followed } }: WalletView): Fragment {
  return html`<p class="reading">${gradeMark(null)} <b>Never scored</b></p>
<p>${followed ? "The index follows this wallet; its first score is not computed yet." : "The index does not follow this wallet."} That is not a bad score. By default payments to it wait in escrow.</p>
${followed ? "" : html`<p>The index follows a wallet once an agent registers it in the ERC-8004 registry, or an account calls <code>requestScore</code> of the oracle contract for it. If the service has a source of history, buying the score follows the wallet as well.</p>`}`;
}

function actionOf({ snapshot: { sanctions, score } }: WalletView) {
  return defaultAction({ sanctioned: sanctions.length > 0, score });
}

/** A day, an acceptable age of a record for integrators. */
const MAX_AGE_SECONDS = 86_400n;

function renderPublished({ published, chain, snapshot }: WalletView): Fragment {
  const oracle = html`<dt>Contract</dt><dd>${copyable(toEip55(chain.oracle), "the contract's address")}${explorerLink(chain, "address", toEip55(chain.oracle))}</dd>`;
  if (published === null) {
    const why =
      snapshot.score?.ahsScore == null
        ? "A wallet without a score is published only if an earlier record exists."
        : "Its score will be in the next nightly Merkle root.";
    return html`<p>The contract holds no record of this wallet. <span class="quiet">${why}</span></p><dl class="facts">${oracle}</dl>`;
  }
  const { ahsScore, safeMicroUsd, asOfBlock, transactionHash, publishedAt } = published;
  const isOther = snapshot.score !== null && snapshot.score.ahsScore !== ahsScore;
  return html`<dl class="facts">
<dt>Score</dt><dd>${ahsScore === null ? html`${gradeMark(null)} Not enough history` : html`${gradeMark(gradeOf(ahsScore))} <b>${ahsScore}</b>`}</dd>
<dt>Safe amount</dt><dd>${safeMicroUsd === null ? html`None <span class="quiet">the record is of a model without safe amounts</span>` : html`${usdAmount(safeMicroUsd)} USD <span class="quiet">when it was published, rounded down</span>`}</dd>
<dt>As of</dt><dd>block ${countWords(asOfBlock)}</dd>
<dt>Published</dt><dd>${timeTag(publishedAt)}</dd>
<dt>Transaction</dt><dd>${copyable(transactionHash, "the transaction's hash")}${explorerLink(chain, "tx", transactionHash)}</dd>
${oracle}
</dl>
${isOther ? html`<p class="quiet small">The score above is newer. A record is replaced when the grade or a flag changes, when the score moves by 3 points, when the safe amount falls below half or rises above four times, and by age when the wallet is asked for.</p>` : ""}`;
}

/** How to verify record and score without this service; every text can be copied. */
function renderVerification(view: WalletView): Fragment {
  const { address, chain, reference } = view;
  const wallet = toEip55(address);
  return html`<p>With the URL of any node of chain ${chain.chainId} in <code>RPC_URL</code>:</p>
<ol class="steps">
<li>Read the record from the contract, <code>scoreOf(${wallet})</code>:
${renderCopy(ethCall(view, encodeFunctionData({ abi: agentHealthOracleAbi, functionName: "scoreOf", args: [address] })))}</li>
<li>Ask the contract how to route a payment, <code>routeOf(${wallet}, ${MAX_AGE_SECONDS})</code>. The first word is 1 for settle, 2 for escrow, 3 for reject, and 0 for a record older than a day:
${renderCopy(ethCall(view, encodeFunctionData({ abi: agentHealthOracleAbi, functionName: "routeOf", args: [address, MAX_AGE_SECONDS] })))}</li>
${reference === null ? "" : renderSteps(view, reference)}
</ol>`;
}

/** The steps for a scored wallet. A wallet scored before the newest night is in that night's list. */
function renderSteps({ address, epoch, origin }: WalletView, { inputsHash }: ScoreReference): Fragment {
  return html`<li>Fetch the input file of the newest score; its name is the keccak256 of its bytes:
${renderCopy(`curl -s ${origin}/inputs/${inputsHash}`)}</li>
<li>Recompute the score from a node and those files, with the source code of this service. The command buys the record with your key; <code class="whole">--record FILE</code> reads one that you have:
${renderCopy(`AHS_API_KEY=… npm run ahs -- verify-score ${toEip55(address)} --service ${origin} --rpc-url "$RPC_URL" --deployment FILE`)}</li>
${
  epoch === null
    ? html`<li class="quiet">After the first nightly Merkle root, its list proves every wallet's record to the contract's <code>verify</code>.</li>`
    : html`<li>Prove the record of the newest night, if the wallet had a score then: pass its <code>record</code> and <code>proof</code> from the list to <code>verify(wallet, record, proof)</code> of the contract:
${renderCopy(`curl -s ${origin}/epochs/${epoch}`)}</li>`
}`;
}

function ethCall({ chain }: WalletView, data: string): string {
  const call = {
    jsonrpc: "2.0",
    id: 1,
    method: "eth_call",
    params: [{ to: toEip55(chain.oracle), data }, "latest"],
  };
  return `curl -s "$RPC_URL" -H 'content-type: application/json' -d '${JSON.stringify(call)}'`;
}

function renderCopy(text: string): Fragment {
  return html`<div class="copyable"><pre data-copy="the command" tabindex="0"><code>${text}</code></pre></div>`;
}
