import { html } from "hono/html";
import type { Address } from "viem";
import type { RegisteredAgent } from "../../registries/documents/registered-agent.ts";
import { getOwnerCluster, type OwnerClusterAnswer } from "../routes/get-owner-cluster.ts";
import { addressSchema, toEip55 } from "../schemas/values.ts";
import { answerPublicPage, type Page, type PageHandler, type PageRuntime, redirectTo } from "./page.ts";
import {
  ageWords,
  countOf,
  countWords,
  firstOf,
  GRADES,
  gradeMark,
  levelWords,
  renderWho,
  routeWords,
  usdAmount,
  walletLink,
} from "./page-words.ts";
import type { Fragment } from "./prose.ts";
import { addressOf, OWNER_TAB, readHead, renderWalletHead, walletName } from "./wallet-head.ts";

/** Links of one wallet that are shown. */
const LINKS = 4;

/** GET /wallet/{address}/owner: the wallets that share an owner with a wallet, and what shows it. */
export const walletOwnerPage: Page = {
  path: "/wallet/{address}/owner",
  needs: getOwnerCluster.path,
  get: show,
};

async function show(...[context, runtime]: Parameters<PageHandler>): Promise<Response> {
  const address = addressOf(context);
  const name = toEip55(address);
  if (context.req.param("address") !== name)
    return redirectTo(context, `/wallet/${name}/owner`, { status: 308 });
  const head = await readHead(address, runtime);
  const body = head.snapshot.followed ? renderCluster(await readView(address, runtime)) : NOT_FOLLOWED;
  return answerPublicPage(context, {
    title: `Owner of ${walletName(head)}`,
    path: `/wallet/${name}/owner`,
    body: html`${renderWalletHead(head, OWNER_TAB)}
${body}`,
  });
}

const NOT_FOLLOWED = html`<section class="panel" aria-labelledby="owner"><h2 id="owner">Wallets of the owner</h2>
<p class="quiet">The index does not follow this wallet, so its owner is not looked for.</p></section>`;

type OwnerWallet = OwnerClusterAnswer["wallets"][number];

type ClusterView = {
  readonly cluster: OwnerClusterAnswer;
  /** By lower-case address. */
  readonly agents: ReadonlyMap<Address, readonly RegisteredAgent[]>;
  readonly now: Date;
};

async function readView(address: Address, { ports, clock }: PageRuntime): Promise<ClusterView> {
  const cluster = await ports.ownerCluster(address);
  const agents = await ports.agentNames(cluster.wallets.map((wallet) => addressSchema.parse(wallet.address)));
  return { cluster, agents, now: clock.now() };
}

function renderCluster(view: ClusterView): Fragment {
  const { cluster } = view;
  const { wallets, note, truncated } = cluster;
  if (wallets.length === 1 && !truncated)
    return html`<section class="panel" aria-labelledby="owner"><h2 id="owner">Wallets of the owner</h2>
<p>No other followed wallet is known to share the owner of this wallet.</p>
<p class="quiet small">Owners are found by common creators, first funders and mutual funding. An owner who funds wallets through an exchange is not found.</p></section>`;
  return html`<section class="panel" aria-labelledby="owner"><h2 id="owner">Wallets of the owner</h2>
${renderSummary(cluster)}
<p class="notice">${note}</p></section>
<section class="panel" aria-label="Wallets"><table class="stack">
<thead><tr><th scope="col">Wallet</th><th scope="col">Score</th><th scope="col">Confidence</th><th scope="col">Payments by default</th><th scope="col" class="number">Safe amount</th><th scope="col">Last active</th><th scope="col">Evidence of the owner</th></tr></thead>
<tbody>${wallets.map((wallet) => renderWallet(wallet, view))}</tbody></table>
${truncated ? renderLeftOut(cluster) : ""}
<p class="quiet small">Names are given by the agents and are not verified. Programs get the same with <code>GET ${getOwnerCluster.path}</code>, for free.</p></section>`;
}

function renderSummary({ summary }: OwnerClusterAnswer): Fragment {
  const { wallets, grades, worst_grade, sanctioned, safe_amount_usd } = summary;
  const counted = GRADES.filter((grade) => grades[grade] > 0);
  return html`<dl class="facts">
<dt>Wallets</dt><dd>${countWords(wallets)}</dd>
<dt>Grades</dt><dd>${counted.map((grade) => html`${gradeMark(grade)} ${countWords(grades[grade])} `)}${grades.none === 0 ? "" : html`<span class="quiet">${counted.length === 0 ? "" : "and "}${countWords(grades.none)} without a grade</span>`}</dd>
<dt>Worst grade</dt><dd>${worst_grade === null ? html`<span class="quiet">none</span>` : gradeMark(worst_grade)}</dd>
<dt>Sanctioned</dt><dd>${sanctioned === 0 ? "None" : html`<span class="chip alarm">${countOf(sanctioned, "wallet")}</span>`}</dd>
<dt>Safe amounts</dt><dd>${safe_amount_usd === null ? "Not known" : html`${safeWords(safe_amount_usd)} <span class="quiet">in all, of wallets that are not sanctioned; one owner may fail with all of them at once</span>`}</dd>
</dl>`;
}

function renderWallet(wallet: OwnerWallet, { agents, now }: ClusterView): Fragment {
  const { ahs_score, grade, sanctioned, confidence_level, trust_routing, safe_amount_usd, last_active_at } =
    wallet;
  const address = addressSchema.parse(wallet.address);
  return html`
<tr><td class="who">${renderWho(address, agents.get(address) ?? [])}${sanctioned ? html` <span class="chip alarm">Sanctioned</span>` : ""}</td>
<td data-name="Score"><span class="whole">${gradeMark(grade)} <b>${ahs_score ?? ""}</b></span></td>
<td data-name="Confidence">${levelWords(confidence_level)}</td>
<td data-name="Payments by default">${routeWords(trust_routing)}</td>
<td class="number" data-name="Safe amount">${safe_amount_usd === null ? "not known" : safeWords(safe_amount_usd)}</td>
<td data-name="Last active">${last_active_at === null ? "–" : html`<span title="${last_active_at}">${ageWords(new Date(last_active_at), now)}</span>`}</td>
<td data-name="Evidence">${renderEvidence(wallet.evidence)}</td></tr>`;
}

/** Rounded down to cents, as on the wallet's page. */
function safeWords(usd: number): string {
  return `${usdAmount(BigInt(Math.round(usd * 1e6)))} USD`;
}

function renderEvidence(evidence: OwnerWallet["evidence"]): Fragment {
  if (evidence.length === 0) return html`<span class="quiet">the wallet itself</span>`;
  const { shown, left } = firstOf(evidence, LINKS);
  return html`<ul class="plain-list">${shown.map((link) => html`<li>${renderLink(link)}</li>`)}${left === 0 ? "" : html`<li class="quiet">and ${countOf(left, "more link")}</li>`}</ul>`;
}

function renderLink({ kind, from, to }: OwnerWallet["evidence"][number]): Fragment {
  const [one, other] = [walletLink(toEip55(from)), walletLink(toEip55(to))];
  switch (kind) {
    case "creator":
      return html`${one} created ${other}`;
    case "first_funder":
      return html`${one} first funded ${other}`;
    case "mutual_funding":
      return html`${one} and ${other} sent each other most of what they received`;
  }
}

function renderLeftOut({ left_out }: OwnerClusterAnswer): Fragment {
  const least = left_out.at_least ? "At least " : "";
  return html`<p class="quiet">${left_out.wallets > 0 ? `${least}${countOf(left_out.wallets, "wallet")} more ${left_out.wallets === 1 ? "is" : "are"} linked and not shown.` : "More wallets may be linked than are shown."} A creator or funder of so many accounts may be a service, such as an exchange.</p>`;
}
