import { html } from "hono/html";
import type { DaySpending, KeySummary } from "../../access/api-keys.ts";
import type { OwedPayment } from "../../access/payments/payments-due.ts";
import type { Delivery } from "../../alerts/webhook-log.ts";
import type { OwnedVerdict } from "../../verification/verdicts/verdict-view.ts";
import { toUsd } from "../schemas/values.ts";
import { renderSparkline } from "./charts.ts";
import { countOf, dayWords, dollars, timeTag, walletLink } from "./page-words.ts";
import type { Fragment } from "./prose.ts";

/** A running subscription with its newest deliveries. */
export type ShownSubscription = KeySummary["subscriptions"][number] & {
  readonly deliveries: readonly Delivery[];
};

/** Payments of the wallet that bought the key; nothing if none is owed. */
export function renderOwed(owed: readonly OwedPayment[]): Fragment | string {
  if (owed.length === 0) return "";
  return html`<section class="panel" aria-labelledby="owed"><h2 id="owed">Paid and not answered</h2>
<p>Your wallet paid for these, and the answers failed. Send each request again with any payment of that wallet: it is answered, and the payment is not taken.</p>
<table class="stack"><thead><tr><th scope="col">Request</th><th scope="col">Paid</th><th scope="col" class="number">Amount</th></tr></thead>
<tbody>${owed.map(
    ({ endpoint, resource, settledAt, amount }) =>
      html`<tr><td><code class="strange">${endpoint.split(" ")[0]} ${resource}</code></td><td data-name="Paid">${timeTag(settledAt)}</td><td class="number" data-name="Amount">${dollars(toUsd(amount))}</td></tr>`,
  )}</tbody></table></section>`;
}

export function renderSubscriptions(subscriptions: readonly ShownSubscription[]): Fragment {
  return html`<section class="panel" aria-labelledby="watched"><h2 id="watched">Alert subscriptions</h2>
${
  subscriptions.length === 0
    ? html`<p class="quiet">This key has no running subscription. <code>GET /alerts/subscribe/{address}</code> buys 30 days of webhooks about a wallet.</p>`
    : subscriptions.map(renderSubscription)
}</section>`;
}

function renderSubscription({ id, wallet, expiresAt, deliveries }: ShownSubscription): Fragment {
  return html`<details class="role"><summary>${walletLink(wallet)} <span class="quiet">until</span> ${timeTag(expiresAt)}</summary>
<p class="small">Subscription <code class="strange">${id}</code></p>
${
  deliveries.length === 0
    ? html`<p class="quiet">No event in the last 30 days.</p>`
    : html`<table class="stack"><thead><tr><th scope="col">Event</th><th scope="col">State</th><th scope="col">Created</th><th scope="col" class="number">Attempts</th></tr></thead>
<tbody>${deliveries.map(
        ({ type, state, createdAt, attempts }) =>
          html`<tr><td><code>${type}</code></td><td data-name="State"><span class="chip ${state === "failed" ? "alarm" : state === "pending" ? "warn" : ""}">${state}</span></td><td data-name="Created">${timeTag(createdAt)}</td><td class="number" data-name="Attempts">${attempts.length}</td></tr>`,
      )}</tbody></table>`
}</details>`;
}

export function renderVerdicts(verdicts: readonly OwnedVerdict[]): Fragment | string {
  if (verdicts.length === 0) return "";
  return html`<section class="panel" aria-labelledby="verdicts"><h2 id="verdicts">Your verdicts</h2>
<table class="stack"><thead><tr><th scope="col">Verdict</th><th scope="col">Decision</th><th scope="col">Job</th><th scope="col">Provider</th><th scope="col">Submitted</th></tr></thead>
<tbody>${verdicts.map(
    ({ id, status, finalVerdict, createdAt, jobId, providerAddr }) =>
      html`<tr><td><a class="mono" href="/verdict/${id}">${id.slice(0, 8)}</a></td><td data-name="Decision">${finalVerdict === null ? status : html`<b class="decision-${finalVerdict}">${finalVerdict}</b>`}</td><td data-name="Job">${jobId === null ? "–" : String(jobId)}</td><td data-name="Provider">${walletLink(providerAddr)}</td><td data-name="Submitted">${timeTag(createdAt)}</td></tr>`,
  )}</tbody></table></section>`;
}

const DAY_MS = 86_400_000;

/** Charges of the last days as bars and a table; `days` is how many the period has. */
export function renderUsage(
  usage: readonly DaySpending[],
  { days, now }: { readonly days: number; readonly now: Date },
): Fragment | string {
  if (usage.length === 0) return "";
  const byDay = new Map(usage.map((one) => [one.day, one]));
  const counts = Array.from({ length: days }, (_, index) => {
    const day = new Date(now.getTime() - (days - 1 - index) * DAY_MS).toISOString().slice(0, 10);
    return byDay.get(day)?.calls ?? 0;
  });
  const calls = counts.reduce((sum, count) => sum + count, 0);
  return html`<section class="panel" aria-labelledby="usage"><h2 id="usage">Usage by day</h2>
${renderSparkline(counts, `${countOf(calls, "charged call")} in ${days} days, by day`)}
<details><summary>The same in a table</summary><table><thead><tr><th scope="col">Day (UTC)</th><th scope="col" class="number">Charged calls</th><th scope="col" class="number">Cost</th></tr></thead>
<tbody>${usage
    .toReversed()
    .map(
      ({ day, calls, units }) =>
        html`<tr><th scope="row">${dayWords(day)}</th><td class="number">${calls}</td><td class="number">${dollars(units / 1_000)}</td></tr>`,
    )}</tbody></table></details></section>`;
}
