import { html } from "hono/html";
import type { Address } from "viem";
import { getAhs } from "../scores/get-ahs.ts";
import type { Balance } from "./buy-report.ts";
import { dollars } from "./money.ts";
import type { Fragment } from "./prose.ts";
import { renderReport } from "./wallet-report-view.ts";
import type { WalletPaidPart } from "./wallet-view.ts";

/** What stands behind a score: how it is bought, or what was bought; nothing of it is on the page before. */
export function renderPaidPart(part: WalletPaidPart, address: Address): Fragment {
  switch (part.kind) {
    case "locked":
      return section(html`${WHAT}<p class="actions"><a class="button" href="/account?next=/wallet/${address}">Sign in with a key</a></p>
<p class="quiet small">It costs ${PRICE} a wallet. Programs buy the same with <code>GET /ahs/{address}?include=features,history</code>.</p>`);
    case "offer":
      return section(html`${WHAT}${renderForm(part.offer, address)}`);
    case "refused":
      return section(html`<div class="notice warn" role="alert"><p><b>Nothing was bought, and nothing was charged.</b></p><p>${part.reason}</p>${part.status === 401 || part.status === 402 ? html`<p><a href="/account">To your key</a></p>` : ""}</div>
${WHAT}${renderForm(part.offer, address)}`);
    case "bought":
      return html`${section(html`<div class="notice" role="status"><p>${balanceWords(part.balance)}</p></div>`)}
${renderReport(part.record)}`;
  }
}

/** The endpoint's own price, which is in thousandths of a US dollar. */
const PRICE = dollars((getAhs.price ?? 0) / 1000);

const WHAT = html`<p>Both parts of the score, what was measured for each feature, the patterns that took points off, and the history of the score.</p>`;

function section(body: Fragment): Fragment {
  return html`<section class="panel" aria-labelledby="behind"><h2 id="behind">What stands behind the score</h2>${body}</section>`;
}

function renderForm(offer: string, address: Address): Fragment {
  return html`<form class="buy" method="post" action="/wallet/${address}#behind">
<input type="hidden" name="offer" value="${offer}">
<button class="button">Show it for ${PRICE}</button>
<p class="quiet small">Taken from the balance of your key. What cannot be answered costs nothing.</p>
</form>`;
}

function balanceWords(balance: Balance): string {
  switch (balance.kind) {
    case "left":
      return `Paid. ${dollars(balance.usd)} remain on your key. Loading this page again within the day costs nothing more.`;
    case "unlimited":
      return "Your key has no limit, so nothing was charged.";
    case "unknown":
      return "Paid. What remains on your key could not be read just now.";
  }
}
