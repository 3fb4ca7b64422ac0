import { html } from "hono/html";
import { type Address, encodeFunctionData } from "viem";
import { Problem } from "../../access/problems.ts";
import { agentHealthOracleAbi } from "../../chain/abi/agent-health-oracle.ts";
import { gradeOf } from "../../chain/oracle-codec.ts";
import { AHS_2026_2 } from "../../model/score/policy.ts";
import { gradeLabel } from "../../model/score/record.ts";
import { defaultAction } from "../../model/score/route.ts";
import type { RegisteredAgent } from "../../registries/documents/agent-names.ts";
import type { AvailableBacking } from "../../scores/backing/promised-amounts.ts";
import { type CurrentScore, isStale, type ScoreReference, type WalletSnapshot } from "../../scores/scores.ts";
import type { ApiContext } from "../kit/api-env.ts";
import { addressSchema, toEip55 } from "../schemas/values.ts";
import { signedInKey } from "./account-cookie.ts";
import { buyReport, readReport } from "./buy-report.ts";
import { percent, RULER_HEIGHT, renderRuler } from "./charts.ts";
import type { PageContent } from "./frame.ts";
import { rankOf } from "./leaderboard.ts";
import {
  answerPrivatePage,
  answerPublicPage,
  type Page,
  type PageHandler,
  type PageRuntime,
  redirectTo,
} from "./page.ts";
import {
  agentName,
  ageWords,
  chainWords,
  countWords,
  gradeMark,
  levelWords,
  routeWords,
  timeTag,
} from "./page-words.ts";
import type { Fragment } from "./prose.ts";
import { renderPaidPart, type WalletPaidPart, type WalletView } from "./wallet-paid.ts";

const LOCKED = { kind: "locked" } as const;

/** GET and POST /wallet/{address}: the public data of a wallet, and the report that a signed-in visitor buys. */
export const walletPage: Page = {
  path: "/wallet/{address}",
  needs: "/ahs/{address}",
  get: show,
  post: sell,
};

async function show(...[context, runtime]: Parameters<PageHandler>): Promise<Response> {
  const address = addressOf(context);
  const name = toEip55(address);
  if (context.req.param("address") !== name) return redirectTo(context, `/wallet/${name}`, { status: 308 });
  const key = signedInKey(context, runtime);
  const view = await readView(address, runtime);
  if (key === null) return answerPublicPage(context, renderWallet(view, LOCKED));
  return answerPrivatePage(context, renderWallet(view, await readReport(context, runtime, { address, key })));
}

async function sell(...[context, runtime]: Parameters<PageHandler>): Promise<Response> {
  const address = addressOf(context);
  const key = signedInKey(context, runtime);
  const part: WalletPaidPart = key === null ? LOCKED : await buyReport(context, runtime, { address, key });
  // Read after the purchase, which may create the wallet's first score.
  const view = await readView(address, runtime);
  const status = "status" in part ? part.status : part.kind === "locked" ? 401 : 200;
  return answerPrivatePage(context, renderWallet(view, part), { status });
}

function addressOf(context: ApiContext): Address {
  const parsed = addressSchema.safeParse(context.req.param("address"));
  if (parsed.success) return parsed.data;
  throw new Problem(
    "not-found",
    "This is no wallet address: 0x and 40 hexadecimal digits, and in mixed case only with the checksum of EIP-55.",
  );
}

async function readView(address: Address, { ports, origin, clock }: PageRuntime): Promise<WalletView> {
  const { wallets } = ports;
  const [snapshot, published, backing, names, distribution, ecosystem] = await Promise.all([
    wallets.standing(address),
    wallets.published(address),
    wallets.backing(address),
    ports.agentNames([address]),
    ports.distribution(),
    ports.ecosystem(),
  ]);
  const { score } = snapshot;
  return {
    address,
    chain: ports.chain,
    snapshot,
    published,
    backing,
    reference: score === null ? null : await wallets.reference(score.scoreId),
    agents: names.get(address) ?? [],
    rank: rankOf(score?.ahsScore ?? null, distribution),
    scored: distribution.reduce((sum, one) => sum + one.wallets, 0),
    epoch: ecosystem.newestRoot?.epoch ?? null,
    origin,
    now: clock.now(),
  };
}

/** Pixels above the ruler, for the needle. */
const NEEDLE_HEIGHT = 20;

function renderWallet(view: WalletView, part: WalletPaidPart): PageContent {
  const address = toEip55(view.address);
  const { score, sanctions, threats } = view.snapshot;
  const isKnown = score !== null && part.kind === "locked";
  return {
    title: `Wallet ${address.slice(0, 8)}`,
    path: `/wallet/${address}`,
    script: "wallet-page.js",
    ...(isKnown ? { description: `Agent Health Score of the wallet ${address}.` } : {}),
    body: html`<p class="eyebrow">Wallet on ${chainWords(view.chain.name)}</p>
<h1 class="address mono">${address}</h1>
${renderAgents(view.agents)}
${sanctions.length === 0 ? "" : renderSanctions(view.snapshot)}
${threats.length === 0 ? "" : renderThreats(view.snapshot)}
<div class="grid">
<section class="panel" aria-labelledby="score"><h2 id="score">Health</h2>
${score === null ? renderNeverScored(view) : renderScore(score, view)}</section>
<section class="panel" aria-labelledby="backing"><h2 id="backing">Backing</h2>
${renderBacking(view)}</section>
</div>
<p class="quiet">The health score predicts failures; it is no fraud score. The safe amount says how much money a settlement may put at stake.</p>
${renderPaidPart(part, { address, known: knownOf(score) })}
<section class="panel" aria-labelledby="published"><h2 id="published">In the oracle contract</h2>${renderPublished(view)}</section>
<section class="panel" aria-labelledby="verify"><h2 id="verify">Check it yourself</h2>${renderVerification(view)}</section>`,
  };
}

function knownOf(score: CurrentScore | null) {
  if (score === null) return "never";
  return score.ahsScore === null ? "unscored" : "scored";
}

function renderAgents(agents: readonly RegisteredAgent[]): Fragment | string {
  if (agents.length === 0) return "";
  return html`<p class="lead">The wallet of ${agents.map((agent, index) => html`${index === 0 ? "" : ", "}${agentName(agent)}`)} <span class="small">(names are the agents' own, unchecked)</span></p>`;
}

function renderSanctions({ sanctions }: WalletSnapshot): Fragment {
  return html`<div class="notice alarm"><p><b>This wallet is sanctioned.</b> Payments to it are rejected whatever its score, and no allowlist changes that.</p>
<ul class="plain">${sanctions.map(
    ({ source, reference, detected_at }) =>
      html`<li><b>${SOURCES[source]}</b>, listed as <code>${reference}</code>, seen ${timeTag(new Date(detected_at))}</li>`,
  )}</ul></div>`;
}

function renderThreats({ threats }: WalletSnapshot): Fragment {
  return html`<div class="notice warn"><p><b>This wallet is on a list of threats.</b> The score does not count it, and by default payments are decided without it; a routing policy can hold or reject them by <code>threat_action</code>.</p>
<ul class="plain">${threats.map(
    ({ list, kind, source, listed_at }) =>
      html`<li><b>${kind}</b> by <code>${list}</code> of ${source}, seen ${timeTag(new Date(listed_at))}</li>`,
  )}</ul></div>`;
}

const SOURCES = { "chainalysis-oracle": "Sanctions list contract", "ofac-sdn": "OFAC SDN list" } as const;

function renderScore(score: CurrentScore, view: WalletView): Fragment {
  const { ahsScore, grade } = score;
  return html`${ahsScore === null || grade === null ? renderInsufficient() : renderReading(ahsScore, score)}
<dl class="facts">
<dt>Payments by default</dt><dd><b>${routeWords(actionOf(view))}</b></dd>
<dt>Confidence</dt><dd>${levelWords(score.confidenceLevel)} <span class="quiet">(${(score.confidenceMicros / 1_000_000).toFixed(2)})</span></dd>
${view.rank === null ? "" : html`<dt>Rank</dt><dd>${countWords(view.rank)} of ${countWords(view.scored)}</dd>`}
<dt>Sanctions</dt><dd>${view.snapshot.sanctions.length === 0 ? "On none of the lists that are read" : "Listed"}</dd>
<dt>As of</dt><dd>block ${countWords(score.asOfBlock)}, ${timeTag(score.asOfTime)} <span class="quiet whole">(${ageWords(score.asOfTime, view.now)})</span>${isStale(score.asOfTime, view.now) ? html` <span class="chip warn">Older than a day</span>` : ""}</dd>
${view.reference === null ? "" : html`<dt>Model</dt><dd>${view.reference.modelVersion}${renderOtherModel(view.reference)}</dd>`}
</dl>`;
}

function renderOtherModel({ modelVersion }: ScoreReference): Fragment | string {
  const { version } = AHS_2026_2;
  return modelVersion === version
    ? ""
    : html` <span class="chip warn">Another model version than ${version}</span>`;
}

function renderBacking({ backing, now }: WalletView): Fragment {
  if (backing === null)
    return html`<p class="reading"><b>Not known</b></p>
<p>No backing was computed for this wallet yet. That is not zero and says nothing against it. A payment whose amount is given waits in escrow until then.</p>`;
  const { safeMicroUsd, availableMicroUsd, outstandingMicroUsd, costBasisMicroUsd, asOfBlock, asOfTime } =
    backing;
  return html`<p class="reading"><span class="reading-number">${amount(safeMicroUsd)}</span> <b>USD</b> <span class="quiet">safe amount</span></p>
<p>By default a payment of a given amount settles at once up to what is available, and above that waits in escrow.</p>
<dl class="facts">
<dt>Available</dt><dd><b>${amount(availableMicroUsd)} USD</b></dd>
<dt>Outstanding</dt><dd>${amount(outstandingMicroUsd)} USD <span class="quiet">promised to payers, or received on chain, within a day</span></dd>
<dt>Cost basis</dt><dd>${amount(costBasisMicroUsd)} USD <span class="quiet">of costs in 180 days that do not come back to it, its payers' share included</span></dd>
<dt>As of</dt><dd>block ${countWords(asOfBlock)}, ${timeTag(asOfTime)} <span class="quiet whole">(${ageWords(asOfTime, now)})</span></dd>
</dl>${renderSeller(backing)}`;
}

function renderSeller({ sellerProfile: profile }: AvailableBacking): Fragment | string {
  if (profile === null) return "";
  const { jobs } = profile;
  return html`<dl class="facts">
<dt>Paid by</dt><dd>${countWords(profile.payers)} independent ${profile.payers === 1 ? "payer" : "payers"}, ${countWords(profile.returningPayers)} of them in two weeks or more</dd>
<dt>Revenue</dt><dd>${amount(BigInt(profile.revenueMicroUsd))} USD in 180 days <span class="quiet">in ${countWords(profile.weeks)} ${profile.weeks === 1 ? "week" : "weeks"}, ${percent(profile.refundedShare)} paid back</span></dd>
<dt>Jobs</dt><dd>${countWords(jobs.completed)} completed, ${countWords(jobs.rejected)} rejected, ${countWords(jobs.expired)} expired</dd>
</dl>`;
}

/** US dollars of millionths, rounded down to cents: no page shows more than there is. */
function amount(microUsd: bigint): string {
  const cents = (microUsd / 10_000n) % 100n;
  return `${(microUsd / 1_000_000n).toLocaleString("en-GB")}.${String(cents).padStart(2, "0")}`;
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
<p>This wallet was examined and has done too little on chain to be scored. That is not a bad score and says nothing against it. By default payments to it wait in escrow, and it is scored as soon as there is enough to go by.</p>`;
}

function renderNeverScored({ snapshot: { followed } }: WalletView): Fragment {
  return html`<p class="reading">${gradeMark(null)} <b>Never scored</b></p>
<p>${followed ? "The index follows this wallet, and its first score is still to come." : "The index does not follow this wallet, so nothing is known of it."} That is not a bad score and says nothing against it. By default payments to it wait in escrow.</p>
${followed ? "" : html`<p>It is followed from then on when an agent registers it in the ERC-8004 registry, when an account calls <code>requestScore</code> of the oracle contract for it, or, where this service has a source of history, when a caller pays for its score.</p>`}`;
}

function actionOf({ snapshot: { sanctions, score } }: WalletView) {
  return defaultAction({ sanctioned: sanctions.length > 0, score });
}

/** A day, an acceptable age of a record for integrators. */
const MAX_AGE_SECONDS = 86_400n;

function renderPublished({ published, chain, snapshot }: WalletView): Fragment {
  const oracle = html`<dt>Contract</dt><dd class="mono">${toEip55(chain.oracle)}</dd>`;
  if (published === null) {
    const why =
      snapshot.score?.ahsScore == null
        ? "Wallets without a score are published only over an earlier record."
        : "Its score is in the next nightly Merkle root at the latest.";
    return html`<p>The contract holds no record of this wallet. <span class="quiet">${why}</span></p><dl class="facts">${oracle}</dl>`;
  }
  const { ahsScore, safeMicroUsd, asOfBlock, transactionHash, publishedAt } = published;
  const isOther = snapshot.score !== null && snapshot.score.ahsScore !== ahsScore;
  return html`<dl class="facts">
<dt>Score</dt><dd>${ahsScore === null ? html`${gradeMark(null)} Not enough history` : html`${gradeMark(gradeOf(ahsScore))} <b>${ahsScore}</b>`}</dd>
<dt>Safe amount</dt><dd>${safeMicroUsd === null ? html`None <span class="quiet">the record is of a model without safe amounts</span>` : html`${amount(safeMicroUsd)} USD <span class="quiet">when it was published, rounded down</span>`}</dd>
<dt>As of</dt><dd>block ${countWords(asOfBlock)}</dd>
<dt>Published</dt><dd>${timeTag(publishedAt)}</dd>
<dt>Transaction</dt><dd class="mono">${transactionHash}</dd>
${oracle}
</dl>
${isOther ? html`<p class="quiet small">The score above is newer. A record is replaced when the grade or a flag changes, when the score moves by 3 points, when the safe amount falls below half or rises above four times, and by age when the wallet is asked for.</p>` : ""}`;
}

/** How to verify record and score without this service; every text can be copied. */
function renderVerification(view: WalletView): Fragment {
  const { address, chain, reference } = view;
  const wallet = toEip55(address);
  return html`<p>Nothing here has to be believed. With the URL of any node of chain ${chain.chainId} in <code>RPC_URL</code>:</p>
<ol class="steps">
<li>Read the record from the contract, <code>scoreOf(${wallet})</code>:
${renderCopy(ethCall(view, encodeFunctionData({ abi: agentHealthOracleAbi, functionName: "scoreOf", args: [address] })))}</li>
<li>Ask the contract what to do with a payment, <code>routeOf(${wallet}, ${MAX_AGE_SECONDS})</code>; the first word answers 1 settle, 2 escrow, 3 reject, or 0 for a record older than a day:
${renderCopy(ethCall(view, encodeFunctionData({ abi: agentHealthOracleAbi, functionName: "routeOf", args: [address, MAX_AGE_SECONDS] })))}</li>
${reference === null ? "" : renderSteps(view, reference)}
</ol>`;
}

/** The steps for a scored wallet. A wallet scored before the newest night is in that night's list. */
function renderSteps({ address, epoch, origin }: WalletView, { inputsHash }: ScoreReference): Fragment {
  return html`<li>Fetch the file that the newest score commits to; the keccak256 of its bytes is its name:
${renderCopy(`curl -s ${origin}/inputs/${inputsHash}`)}</li>
<li>Compute the score again from a node and those files, with the source of this service. It buys the record with your key, or reads one that you have by <code class="whole">--record FILE</code>:
${renderCopy(`AHS_API_KEY=… npm run ahs -- verify-score ${toEip55(address)} --service ${origin} --rpc-url "$RPC_URL" --deployment FILE`)}</li>
${
  epoch === null
    ? html`<li class="quiet">Once the first night's Merkle root is published, its list proves every wallet's record against the contract's <code>verify</code>.</li>`
    : html`<li>Prove the record of the newest night, if the wallet was scored by then: take its <code>record</code> and <code>proof</code> from the list, and give them to the contract's <code>verify(wallet, record, proof)</code>:
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
  return html`<div class="copyable"><pre data-copy tabindex="0"><code>${text}</code></pre></div>`;
}
