import { html } from "hono/html";
import type { Address } from "viem";
import { getAhs } from "../scores/get-ahs.ts";
import { dollars, shortAmounts } from "./money.ts";
import type { Paid } from "./page-ports.ts";
import { timeTag } from "./page-words.ts";
import { type Fragment, renderProse } from "./prose.ts";
import type { WalletPaidPart } from "./wallet-parts.ts";
import { renderReport } from "./wallet-report-view.ts";

/** Whose report it is, and what is known of it before: a score, none for want of history, or that it was never looked at. */
type PaidView = { readonly address: Address; readonly known: "scored" | "unscored" | "never" };

/** What stands behind a score: how it is bought, or what was bought; nothing of it is on the page before. */
export function renderPaidPart(part: WalletPaidPart, { address, known }: PaidView): Fragment {
  const what = WHAT[known];
  switch (part.kind) {
    case "locked":
      return section(html`${what}<p class="actions"><a class="button" href="/account?next=/wallet/${address}">Sign in with a key</a></p>
<p class="quiet small">It costs ${PRICE} a wallet. Programs buy the same with <code>GET /ahs/{address}?include=features,history</code>.</p>`);
    case "offer":
      return section(html`${what}${renderOffer(part, address)}`);
    case "refused":
      return section(html`<div class="notice warn" role="alert"><p><b>Nothing was bought, and nothing was charged.</b></p><p>${renderProse(shortAmounts(part.reason))}</p>${part.status === 401 ? html`<p><a href="/account">To your key</a></p>` : ""}</div>
${what}${part.status === 402 ? ADD_CREDITS : renderForm(part.offer, address)}`);
    case "pending":
      return section(html`<div class="notice warn" role="alert"><p><b>${part.status === 409 ? "It is still being answered." : "There is no answer yet."}</b></p><p>${renderProse(part.reason)}</p><p>Ask again in a moment: however often you ask, it is charged once at most.</p></div>
${what}${renderForm(part.offer, address, { button: "Ask again" })}`);
    case "bought":
      return html`<h2 id="behind">${HEADING}</h2>
<div class="notice" role="status"><p>${paidWords(part.paid)}</p></div>
${renderReport(part.record)}`;
  }
}

/** The endpoint's own price, which is in thousandths of a US dollar. */
const PRICE_USD = (getAhs.price ?? 0) / 1000;
const PRICE = dollars(PRICE_USD);

const HEADING = "What stands behind the score";

/** What there is to buy; nothing is promised that a wallet without a score has not. */
const WHAT: Readonly<Record<PaidView["known"], Fragment>> = {
  scored: html`<p>Both parts of the score and how they make it, what was measured for each feature, the patterns that took points off, and the history of the score.</p>`,
  unscored: html`<p>There is no score yet: you would see what was measured so far for each feature, and which patterns were found.</p>`,
  never: html`<p>This has the wallet scored now. Where it has enough history you see its score and what stands behind it, else what could be measured of it.</p>`,
};

function section(body: Fragment): Fragment {
  return html`<section class="panel" aria-labelledby="behind"><h2 id="behind">${HEADING}</h2>${body}</section>`;
}

const CHARGED =
  "Taken from the balance of your key, once within a day; a key without a limit is never charged. What cannot be answered costs nothing.";

const ADD_CREDITS = html`<p class="actions"><a class="button" href="/account#top-up">Add credits</a></p>`;

/** The form by what is on the key: none where that does not reach. */
function renderOffer(
  { offer, funds }: Extract<WalletPaidPart, { readonly kind: "offer" }>,
  address: Address,
): Fragment {
  switch (funds.kind) {
    case "left":
      if (funds.usd < PRICE_USD)
        return html`<p>It costs ${PRICE}, and ${dollars(funds.usd)} is on your key.</p>${ADD_CREDITS}`;
      return renderForm(offer, address);
    case "unlimited":
      return renderForm(offer, address, {
        button: "Show it",
        note: "Your key has no limit, so nothing is charged.",
      });
    case "unknown":
      return renderForm(offer, address);
  }
}

function renderForm(
  offer: string,
  address: Address,
  {
    button = `Show it for ${PRICE}`,
    note = CHARGED,
  }: { readonly button?: string; readonly note?: string } = {},
): Fragment {
  return html`<form class="buy" method="post" action="/wallet/${address}#behind" data-once>
<input type="hidden" name="offer" value="${offer}">
<button class="button">${button}</button>
<p class="quiet small">${note}</p>
</form>`;
}

function paidWords(paid: Paid): Fragment | string {
  switch (paid.kind) {
    case "left":
      return `Paid. ${dollars(paid.usd)} remain on your key. For a day from now this page shows it again at no charge.`;
    case "unlimited":
      return "Your key has no limit, so nothing was charged.";
    case "unknown":
      return "Paid. What remains on your key could not be read just now.";
    case "before":
      return html`You have this report: it is shown at no charge until ${timeTag(paid.until)}.`;
  }
}
