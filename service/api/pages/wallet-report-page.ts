import { html } from "hono/html";
import type { Address } from "viem";
import { Problem } from "../../access/problems.ts";
import type { ApiContext } from "../kit/api-env.ts";
import { toEip55 } from "../schemas/values.ts";
import { signedInKey } from "./account-cookie.ts";
import { buyReport, readReport } from "./buy-report.ts";
import {
  answerPrivatePage,
  answerPublicPage,
  type Page,
  type PageHandler,
  type PageRuntime,
  redirectTo,
} from "./page.ts";
import type { ReportState } from "./page-ports.ts";
import { dollars, priceUsd, strangeText, timeTag } from "./page-words.ts";
import { type Fragment, renderProse } from "./prose.ts";
import { SOLD_REPORTS, type SoldReport } from "./reports/sold-reports.ts";
import { addressOf, readHead, renderWalletHead, type WalletHead, walletName } from "./wallet-head.ts";

/** GET and POST /wallet/{address}/{report}: a report about a wallet, with its price and an example before it is bought. */
export const walletReportPage: Page = {
  path: "/wallet/{address}/{report}",
  needs: "/ahs/{address}",
  get: show,
  post: sell,
};

/** locked: the visitor is not signed in. */
type Part = { readonly kind: "locked" } | ReportState;

const LOCKED = { kind: "locked" } as const;

async function show(...[context, runtime]: Parameters<PageHandler>): Promise<Response> {
  const address = addressOf(context);
  const report = reportOf(context, runtime);
  const name = toEip55(address);
  if (context.req.param("address") !== name)
    return redirectTo(context, `/wallet/${name}/${report.slug}`, { status: 308 });
  const key = signedInKey(context, runtime);
  const head = await readHead(address, runtime);
  if (key === null) return answerPublicPage(context, renderPage(LOCKED, { head, report, runtime }));
  const part = await readReport(context, runtime, { address, key, report });
  return answerPrivatePage(context, renderPage(part, { head, report, runtime }));
}

async function sell(...[context, runtime]: Parameters<PageHandler>): Promise<Response> {
  const address = addressOf(context);
  const report = reportOf(context, runtime);
  const key = signedInKey(context, runtime);
  const part: Part = key === null ? LOCKED : await buyReport(context, runtime, { address, key, report });
  // Read after the purchase, which may create the wallet's first score.
  const head = await readHead(address, runtime);
  const status = "status" in part ? part.status : part.kind === "locked" ? 401 : 200;
  return answerPrivatePage(context, renderPage(part, { head, report, runtime }), { status });
}

function reportOf(context: ApiContext, { served }: PageRuntime): SoldReport {
  const slug = context.req.param("report");
  const report = SOLD_REPORTS.find((one) => one.slug === slug && served.has(one.endpoint.path));
  if (report === undefined) throw new Problem("not-found", "There is no such report about a wallet.");
  return report;
}

type Shown = { readonly head: WalletHead; readonly report: SoldReport; readonly runtime: PageRuntime };

function renderPage(part: Part, shown: Shown) {
  const { head, report } = shown;
  return {
    title: `${report.title} of ${walletName(head)}`,
    path: `/wallet/${toEip55(head.address)}/${report.slug}`,
    body: html`${renderWalletHead(head, report.slug)}
${renderPart(part, shown)}`,
  };
}

/** The report, or how to buy it with an example. Nothing of the report is on the page before the purchase. */
function renderPart(part: Part, { head: { address }, report, runtime }: Shown): Fragment {
  const price = dollars(priceUsd(report.endpoint));
  const sample = renderSample(report, runtime);
  const form = (offer: string, texts: { button?: string; note?: string } = {}) =>
    renderForm(offer, { address, report, ...texts });
  switch (part.kind) {
    case "locked":
      return html`${offerSection(
        report,
        html`<p class="actions"><a class="button" href="/account?next=/wallet/${address}/${report.slug}">Sign in to show it for ${price}</a></p>
<p class="quiet small">Programs get the same with <code>${report.endpoint.method.toUpperCase()} ${report.endpoint.path}</code>.</p>`,
      )}${sample}`;
    case "offer":
      return html`${offerSection(report, html`${renderPreview(part.preview)}${renderOffer(part, { address, report })}`)}${sample}`;
    case "refused":
      return html`${offerSection(
        report,
        html`<div class="notice warn" role="alert"><p><b>Nothing was bought, and nothing was charged.</b></p><p>${renderProse(part.reason)}</p>${part.status === 401 ? html`<p><a href="/account">To your key</a></p>` : ""}</div>
${part.status === 402 ? ADD_CREDITS : form(part.offer)}`,
      )}${sample}`;
    case "pending":
      return offerSection(
        report,
        html`<div class="notice warn" role="alert"><p><b>${part.status === 409 ? "The report is still being made." : "There is no answer yet."}</b></p><p>${renderProse(part.reason)}</p><p>Ask again in a moment. However often you ask, it is charged once at most.</p></div>
${form(part.offer, { button: "Ask again" })}`,
      );
    case "bought":
      return html`<h2 id="report">${report.title}</h2>
<div class="notice" role="status"><p>${paidWords(part)}</p></div>
${part.shown}
${part.body.startsWith("{") ? html`<p class="actions">${downloadLink(part.body, { address, report })}</p>` : ""}`;
    case "outdated":
      return offerSection(
        report,
        html`<div class="notice" role="status"><p>${paidWords(part)}</p></div>
<p>This page cannot show the report, because an earlier version of the service made it. It is complete as JSON.</p>
<p class="actions">${downloadLink(part.body, { address, report })}</p>`,
      );
  }
}

function renderPreview(preview: string | null): Fragment | string {
  return preview === null
    ? ""
    : html`<p class="notice"><b>Free preview.</b> ${strangeText(preview, MAX_PREVIEW)}</p>`;
}

const MAX_PREVIEW = 400;

function downloadLink(body: string, { address, report }: { address: Address; report: SoldReport }): Fragment {
  return html`<a class="button plain" download="${report.slug}-${address}.json" href="data:application/json;base64,${Buffer.from(body).toString("base64")}">Download as JSON</a>`;
}

function offerSection({ title, about }: SoldReport, body: Fragment): Fragment {
  return html`<section class="panel" aria-labelledby="report"><h2 id="report">${title}</h2><p>${about}</p>${body}</section>`;
}

const EXAMPLE_WALLET = /"address":"(0x[0-9a-fA-F]{40})"/;

/** The example of the documentation in the form of the report, marked as such. */
function renderSample(report: SoldReport, { samples }: PageRuntime): Fragment | string {
  if (report.slug === "report-card")
    return frameSample(
      html`<img class="card" src="/sample/report-card.png" width="1200" height="630" alt="Example of a report card">`,
    );
  const { method, path } = report.endpoint;
  const example = samples.get(`${method.toUpperCase()} ${path}`) ?? null;
  const body = JSON.stringify(report.enrich?.(example) ?? example);
  const wallet = EXAMPLE_WALLET.exec(body)?.[1];
  const shown = wallet === undefined ? null : report.show(body, wallet.toLowerCase() as Address);
  return shown === null ? "" : frameSample(shown);
}

function frameSample(shown: Fragment): Fragment {
  return html`<section class="sample" aria-labelledby="sample"><h2 id="sample">Example <span class="chip">made-up data</span></h2>
<div class="sample-body">${shown}</div></section>`;
}

const CHARGED =
  "The price is taken from the balance of your key, once within a day. A refused request costs nothing.";

const ADD_CREDITS = html`<p class="actions"><a class="button" href="/account#top-up">Add credits</a></p>`;

function renderOffer(
  { offer, funds }: Extract<Part, { readonly kind: "offer" }>,
  sold: { readonly address: Address; readonly report: SoldReport },
): Fragment {
  const price = priceUsd(sold.report.endpoint);
  switch (funds.kind) {
    case "left":
      if (funds.usd < price)
        return html`<p>It costs ${dollars(price)}, and your key has ${dollars(funds.usd)}.</p>${ADD_CREDITS}`;
      return renderForm(offer, sold);
    case "unlimited":
      return renderForm(offer, {
        ...sold,
        button: `Show it (${dollars(price)})`,
        note: "Your key has no limit, so nothing is charged.",
      });
    case "unknown":
      return renderForm(offer, sold);
  }
}

function renderForm(
  offer: string,
  {
    address,
    report,
    button = `Show it for ${dollars(priceUsd(report.endpoint))}`,
    note = CHARGED,
  }: {
    readonly address: Address;
    readonly report: SoldReport;
    readonly button?: string;
    readonly note?: string;
  },
): Fragment {
  return html`<form class="buy" method="post" action="/wallet/${address}/${report.slug}#report" data-once>
<input type="hidden" name="offer" value="${offer}">
<button class="button">${button}</button>
<p class="quiet small">${note}</p>
</form>`;
}

function paidWords({ paid }: Extract<ReportState, { kind: "bought" | "outdated" }>): Fragment | string {
  switch (paid.kind) {
    case "left":
      return `Paid. Your key has ${dollars(paid.usd)} left. This page shows the report again for a day at no charge.`;
    case "free":
      return "There is nothing to do, so nothing was charged.";
    case "unlimited":
      return "Your key has no limit, so nothing was charged.";
    case "unknown":
      return "Paid. The balance of your key could not be read.";
    case "before":
      return html`You have this report. This page shows it at no charge until ${timeTag(paid.until)}.`;
  }
}
