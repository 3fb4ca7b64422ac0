import { html } from "hono/html";
import { gradeLabel } from "../../model/score/record.ts";
import { DEFAULT_ROUTING, routeWallet } from "../../model/score/route.ts";
import type { RegisteredAgent } from "../../registries/documents/agent-names.ts";
import type { CurrentScore, Standing } from "../../scores/scores.ts";
import { toEip55 } from "../address-schema.ts";
import { agentName } from "./agent-name.ts";
import { percent, RULER_HEIGHT, renderRuler } from "./chart-parts.ts";
import type { PageContent } from "./frame.ts";
import {
  ageWords,
  chainWords,
  countWords,
  gradeMark,
  levelWords,
  routeWords,
  timeTag,
} from "./page-words.ts";
import type { Fragment } from "./prose.ts";
import { renderPaidPart } from "./wallet-paid.ts";
import type { WalletPaidPart, WalletView } from "./wallet-parts.ts";
import { renderPublished, renderVerification } from "./wallet-verify.ts";

/** Pixels above the ruler, where the needle stands. */
const NEEDLE_HEIGHT = 20;
const STALE_MS = 24 * 3_600_000;

/** The page of a wallet: what is public, and beneath it what was bought, or how to buy it. */
export function renderWallet(view: WalletView, part: WalletPaidPart): PageContent {
  const address = toEip55(view.address);
  const { score, sanctions } = view.standing;
  const isKnown = score !== null && part.kind === "locked";
  return {
    title: `Wallet ${address.slice(0, 8)}`,
    path: `/wallet/${address}`,
    script: "wallet-page.js",
    ...(isKnown ? { description: `Agent Health Score of the wallet ${address}.` } : {}),
    body: html`<p class="eyebrow">Wallet on ${chainWords(view.chain.name)}</p>
<h1 class="address mono">${address}</h1>
${renderAgents(view.agents)}
${sanctions.length === 0 ? "" : renderSanctions(view.standing)}
<section class="panel" aria-labelledby="score"><h2 class="hidden" id="score">Score</h2>
${score === null ? renderNeverScored(view) : renderScore(score, view)}</section>
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

function renderSanctions({ sanctions }: Standing): Fragment {
  return html`<div class="notice alarm"><p><b>This wallet is sanctioned.</b> Payments to it are rejected whatever its score, and no allowlist changes that.</p>
<ul class="plain">${sanctions.map(
    ({ source, reference, detected_at }) =>
      html`<li><b>${SOURCES[source]}</b>, listed as <code>${reference}</code>, seen ${timeTag(new Date(detected_at))}</li>`,
  )}</ul></div>`;
}

const SOURCES = { "chainalysis-oracle": "Sanctions list contract", "ofac-sdn": "OFAC SDN list" } as const;

function renderScore(score: CurrentScore, view: WalletView): Fragment {
  const { ahsScore, grade } = score;
  return html`${ahsScore === null || grade === null ? renderInsufficient() : renderReading(ahsScore, score)}
<dl class="facts two">
<dt>Payments by default</dt><dd><b>${routeWords(actionOf(view))}</b></dd>
<dt>Confidence</dt><dd>${levelWords(score.confidenceLevel)} <span class="quiet">(${(score.confidenceMicros / 1_000_000).toFixed(2)})</span></dd>
${view.rank === null ? "" : html`<dt>Rank</dt><dd>${countWords(view.rank)} of ${countWords(view.scored)}</dd>`}
<dt>Sanctions</dt><dd>${view.standing.sanctions.length === 0 ? "On none of the lists that are read" : "Listed"}</dd>
<dt>As of</dt><dd>block ${countWords(score.asOfBlock)}, ${timeTag(score.asOfTime)} <span class="quiet whole">(${ageWords(score.asOfTime, view.now)})</span>${isStale(score, view.now) ? html` <span class="chip warn">Older than a day</span>` : ""}</dd>
${view.reference === null ? "" : html`<dt>Model</dt><dd>${view.reference.modelVersion}</dd>`}
</dl>`;
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
<p>This wallet was looked at, and has done too little on chain to be scored. That is not a bad score and says nothing against it: it has none yet. By default payments to it wait in escrow, and it is scored as soon as there is enough to go by.</p>`;
}

function renderNeverScored({ standing: { followed } }: WalletView): Fragment {
  return html`<p class="reading">${gradeMark(null)} <b>Never scored</b></p>
<p>${followed ? "The index follows this wallet, and its first score is still to come." : "The index does not follow this wallet, so nothing is known of it."} That is not a bad score and says nothing against it. By default payments to it wait in escrow.</p>
${followed ? "" : html`<p>It is followed from then on when an agent registers it in the ERC-8004 registry, when somebody calls <code>requestScore</code> of the oracle contract for it, or, where this service has a source of history, when somebody pays for its score.</p>`}`;
}

function actionOf({ address, standing: { sanctions, score } }: WalletView) {
  const sanctioned = sanctions.length > 0;
  return routeWallet(DEFAULT_ROUTING, { wallet: address, sanctioned, score: factsOf(score) }).action;
}

function factsOf(score: CurrentScore | null) {
  if (score === null) return { kind: "not_scored" } as const;
  const { grade, confidenceLevel } = score;
  return grade === null
    ? ({ kind: "insufficient" } as const)
    : ({ kind: "scored", grade, confidenceLevel } as const);
}

function isStale({ asOfTime }: CurrentScore, now: Date): boolean {
  return now.getTime() - asOfTime.getTime() > STALE_MS;
}
