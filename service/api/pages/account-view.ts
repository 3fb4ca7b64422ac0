import { html } from "hono/html";
import { z } from "zod";
import type { KeyStanding } from "../../access/api-keys.ts";
import { renderBuyForm } from "./buy-form.ts";
import { dollars } from "./money.ts";
import { shortHex, timeTag, walletLink } from "./page-words.ts";
import type { KeyPolicy } from "./policy-words.ts";
import { policySchema, policyWords } from "./policy-words.ts";
import type { Fragment } from "./prose.ts";
import { strangeText } from "./strange-text.ts";

const selfSchema = z.object({
  key_id: z.string(),
  key_prefix: z.string(),
  name: z.string(),
  balance_usd: z.number().nullable(),
  rate_per_minute: z.number(),
  expires_at: z.string().nullable(),
  bought_by: z.string().nullable(),
  created_at: z.string(),
  spent: z.object({
    total_usd: z.number(),
    endpoints: z.array(z.object({ endpoint: z.string(), calls: z.number(), spent_usd: z.number() })),
  }),
});

/** What the page of a key shows. */
export type AccountView = {
  readonly self: z.infer<typeof selfSchema>;
  readonly standing: KeyStanding | null;
  /** Null where it could not be read. */
  readonly policy: KeyPolicy | null;
  readonly sellsKeys: boolean;
  /** Names this showing of the form that replaces the key. */
  readonly once: string;
};

/** The answer of GET /keys/self; throws where it is another one. */
export function keySelfIn(answer: unknown): AccountView["self"] {
  return selfSchema.parse(answer);
}

/** The answer of GET /ahs/route/policy; throws where it is another one. */
export function policyIn(answer: unknown): KeyPolicy {
  return policySchema.parse(answer);
}

const MAX_NAME = 80;

/** The page of the key that one is signed in with. */
export function renderAccount(view: AccountView): { readonly title: string; readonly body: Fragment } {
  const { self, sellsKeys } = view;
  const body = html`<div class="account-head"><div><p class="eyebrow">Signed in with <code>${self.key_prefix}…</code></p>
<h1>${self.name === self.bought_by ? `Key of ${shortHex(self.name)}` : strangeText(self.name, MAX_NAME)}</h1></div>
<form method="post" action="/account"><input type="hidden" name="action" value="sign-out"><button class="button plain">Sign out</button></form></div>
<dl class="stats">
<div><dt>Balance</dt><dd id="balance">${self.balance_usd === null ? "unlimited" : dollars(self.balance_usd)}</dd></div>
<div><dt>Spent in 30 days</dt><dd>${dollars(self.spent.total_usd)}</dd></div>
<div><dt>Calls a minute</dt><dd>${self.rate_per_minute}</dd></div>
</dl>
<div class="grid">
${renderKey(view)}
${renderPolicy(view)}
</div>
${renderSpending(view)}
${renderSubscriptions(view)}
${sellsKeys && self.balance_usd !== null ? renderTopUp() : ""}
${renderReplace(view)}`;
  return { title: "Account", body };
}

function renderKey({ self, standing }: AccountView): Fragment {
  const scopes = standing?.scopes ?? [];
  const last = standing?.lastChargedAt ?? null;
  return html`<section class="panel" aria-labelledby="key"><h2 id="key">Key</h2>
<dl class="facts">
<dt>Scope</dt><dd>${["calls", ...scopes.map((scope) => (scope === "review" ? "decisions on held verdicts" : scope))].join(", ")}</dd>
<dt>From</dt><dd>${self.bought_by === null ? "the operator" : html`<a class="mono" href="/wallet/${self.bought_by}" title="${self.bought_by}">${shortHex(self.bought_by)}</a>`}</dd>
<dt>Created</dt><dd>${timeTag(new Date(self.created_at))}</dd>
<dt>Expires</dt><dd>${self.expires_at === null ? "never" : timeTag(new Date(self.expires_at))}</dd>
<dt>Last charged</dt><dd>${last === null ? "not yet" : timeTag(last)}</dd>
</dl></section>`;
}

function renderPolicy({ policy }: AccountView): Fragment {
  const words =
    policy === null
      ? html`<p>It cannot be read now.</p>`
      : html`<ul class="plain-list">${policyWords(policy).map((line) => html`<li>${line}</li>`)}</ul>`;
  return html`<section class="panel" aria-labelledby="policy"><h2 id="policy">How payments are routed for you</h2>
${words}
<p class="small"><a href="/docs">PUT /ahs/route/policy</a> changes it; nothing bypasses sanctions.</p></section>`;
}

function renderSpending({ self }: AccountView): Fragment | string {
  const { endpoints } = self.spent;
  if (endpoints.length === 0) return "";
  return html`<section class="panel" aria-labelledby="spent"><h2 id="spent">What the last 30 days cost</h2>
<div class="scroll" role="region" aria-labelledby="spent" tabindex="0"><table><thead><tr><th scope="col">Endpoint</th><th scope="col" class="number">Calls</th><th scope="col" class="number">Cost</th></tr></thead>
<tbody>${endpoints.map(
    ({ endpoint, calls, spent_usd }) => html`
<tr><td><code>${endpoint}</code></td><td class="number">${calls}</td><td class="number">${dollars(spent_usd)}</td></tr>`,
  )}</tbody></table></div></section>`;
}

function renderSubscriptions({ standing }: AccountView): Fragment | string {
  const subscriptions = standing?.subscriptions ?? [];
  if (subscriptions.length === 0) return "";
  return html`<section class="panel" aria-labelledby="watched"><h2 id="watched">Wallets that you are told of</h2>
<ul class="plain-list">${subscriptions.map(({ wallet, expiresAt }) => html`<li>${walletLink(wallet)} until ${timeTag(expiresAt)}</li>`)}</ul></section>`;
}

function renderTopUp(): Fragment {
  return html`<section class="panel" aria-labelledby="top-up"><h2 id="top-up">Add credits</h2>
<p>Paid in USDC by your browser's wallet; whoever pays, the credits go to this key.</p>
${renderBuyForm({ target: "/account/topup", button: "Add credits with a browser wallet" })}</section>`;
}

function renderReplace({ once }: AccountView): Fragment {
  return html`<section class="panel" aria-labelledby="replace"><h2 id="replace">Replace the key</h2>
<p>If it leaked: you get a new key with the same balance, rate, policy and subscriptions, and the old one is refused at once, everywhere that it is used.</p>
<details><summary>Replace it now</summary>
<p>The new key is shown once, on the next page. Copy it before you leave that page.</p>
<form method="post" action="/account" data-once><input type="hidden" name="action" value="rotate"><input type="hidden" name="once" value="${once}"><button class="button">Replace the key</button></form></details></section>`;
}

/** The page that shows a new key; null where it was shown before. */
export function renderRotated(key: string | null): Fragment {
  if (key === null)
    return html`<h1>The key was replaced already</h1>
<p class="lead">Its secret was shown once, in the first answer. This browser stays signed in with the key that it has.</p>
<p class="actions"><a class="button" href="/account">To the account</a></p>`;
  return html`<h1>Your new key</h1>
<p class="lead">It is shown here once. The old one is refused from now on, and this browser is signed in with the new one.</p>
<section class="panel" aria-label="New key"><pre data-copy tabindex="0"><code>${key}</code></pre></section>
<p class="actions"><a class="button" href="/account">To the account</a></p>`;
}
