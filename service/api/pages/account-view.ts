import { html } from "hono/html";
import { z } from "zod";
import type { DaySpending, KeySummary } from "../../access/api-keys.ts";
import type { OwedPayment } from "../../access/payments/payments-due.ts";
import type { OwnedVerdict } from "../../verification/verdicts/verdict-view.ts";
import {
  renderOwed,
  renderSubscriptions,
  renderUsage,
  renderVerdicts,
  type ShownSubscription,
} from "./account-lists.ts";
import type { PagePorts } from "./page-ports.ts";
import { dollars, shortHex, strangeText, timeTag } from "./page-words.ts";
import { type KeyPolicy, renderPolicyEditor } from "./policy-editor.ts";
import type { Fragment } from "./prose.ts";

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

export type AccountView = {
  readonly self: z.infer<typeof selfSchema>;
  readonly summary: KeySummary | null;
  /** Owed to the wallet that bought the key. */
  readonly owed: readonly OwedPayment[];
  /** Null if it could not be read. */
  readonly policy: KeyPolicy | null;
  /** Why a sent policy was not saved; null without such a form. */
  readonly policyFault: string | null;
  readonly subscriptions: readonly ShownSubscription[];
  readonly verdicts: readonly OwnedVerdict[];
  readonly usage: readonly DaySpending[];
  readonly now: Date;
  readonly sellsKeys: boolean;
  /** Id of this rendering of the form that replaces the key. */
  readonly once: string;
};

/** The answer of GET /keys/self. Throws on any other shape. */
export function keySelfIn(answer: unknown): AccountView["self"] {
  return selfSchema.parse(answer);
}

const MAX_NAME = 80;

export function renderAccount(view: AccountView): { title: string; body: Fragment } {
  const { self, sellsKeys } = view;
  const title =
    self.name === self.bought_by ? `Key of ${shortHex(self.name)}` : strangeText(self.name, MAX_NAME);
  const body = html`<div class="account-head"><div><p class="eyebrow">Signed in with <code>${self.key_prefix}…</code></p>
<h1>${title}</h1></div>
<form method="post" action="/account"><input type="hidden" name="action" value="sign-out"><button class="button plain">Sign out</button></form></div>
<dl class="stats">
<div><dt>Balance</dt><dd id="balance">${self.balance_usd === null ? "unlimited" : dollars(self.balance_usd)}</dd></div>
<div><dt>Spent in 30 days</dt><dd>${dollars(self.spent.total_usd)}</dd></div>
<div><dt>Calls a minute</dt><dd>${self.rate_per_minute}</dd></div>
</dl>
<div class="grid">
${renderKey(view)}
${renderUsage(view.usage, { days: 30, now: view.now })}
</div>
${renderSpending(view)}
${renderOwed(view.owed)}
${renderSubscriptions(view.subscriptions)}
${renderVerdicts(view.verdicts)}
<section class="panel" aria-labelledby="policy"><h2 id="policy">Routing policy</h2>
${renderPolicyEditor(view.policy, view.policyFault)}</section>
${sellsKeys && self.balance_usd !== null ? renderTopUp() : ""}
${renderReplace(view)}`;
  return { title, body };
}

function renderKey({ self, summary }: AccountView): Fragment {
  const scopes = summary?.scopes ?? [];
  const last = summary?.lastChargedAt ?? null;
  return html`<section class="panel" aria-labelledby="key"><h2 id="key">Key</h2>
<dl class="facts">
<dt>Scope</dt><dd>${["calls", ...scopes.map((scope) => (scope === "review" ? "decisions on held verdicts" : scope))].join(", ")}</dd>
<dt>From</dt><dd>${self.bought_by === null ? "the operator" : html`<a class="mono" href="/wallet/${self.bought_by}" title="${self.bought_by}">${shortHex(self.bought_by)}</a>`}</dd>
<dt>Created</dt><dd>${timeTag(new Date(self.created_at))}</dd>
<dt>Expires</dt><dd>${self.expires_at === null ? "never" : timeTag(new Date(self.expires_at))}</dd>
<dt>Last charged</dt><dd>${last === null ? "not yet" : timeTag(last)}</dd>
</dl></section>`;
}

function renderSpending({ self }: AccountView): Fragment | string {
  const { endpoints } = self.spent;
  if (endpoints.length === 0) return "";
  return html`<section class="panel" aria-labelledby="spent"><h2 id="spent">Cost of the last 30 days by endpoint</h2>
<div class="scroll" role="region" aria-labelledby="spent" tabindex="0"><table><thead><tr><th scope="col">Endpoint</th><th scope="col" class="number">Calls</th><th scope="col" class="number">Cost</th></tr></thead>
<tbody>${endpoints.map(
    ({ endpoint, calls, spent_usd }) => html`
<tr><td><code>${endpoint}</code></td><td class="number">${calls}</td><td class="number">${dollars(spent_usd)}</td></tr>`,
  )}</tbody></table></div></section>`;
}

function renderTopUp(): Fragment {
  return html`<section class="panel" aria-labelledby="top-up"><h2 id="top-up">Add credits</h2>
<p>You pay in USDC with a browser wallet. The credits go to this key.</p>
${renderBuyForm({ target: "/account/topup", button: "Add credits with a browser wallet" })}</section>`;
}

function renderReplace({ once }: AccountView): Fragment {
  return html`<section class="panel" aria-labelledby="replace"><h2 id="replace">Replace the key</h2>
<p>If the key leaked, replace it. The new key has the same balance, rate, policy and subscriptions. The old key stops working at once.</p>
<details><summary>Replace it now</summary>
<p>The new key is shown once, on the next page. Copy it before you leave that page.</p>
<form method="post" action="/account" data-once><input type="hidden" name="action" value="rotate"><input type="hidden" name="once" value="${once}"><button class="button">Replace the key</button></form></details></section>`;
}

/** The page that shows a new key; null where it was shown before. */
export function renderRotated(key: string | null): { title: string; body: Fragment } {
  if (key === null) {
    const title = "The key was replaced already";
    return {
      title,
      body: html`<h1>${title}</h1>
<p class="lead">The new key was shown once, in the first answer. This browser stays signed in.</p>
<p class="actions"><a class="button" href="/account">To the account</a></p>`,
    };
  }
  const title = "Your new key";
  return {
    title,
    body: html`<h1>${title}</h1>
<p class="lead">The key is shown once. The old key no longer works, and this browser is signed in with the new one.</p>
<section class="panel" aria-label="New key"><pre data-copy="the text" tabindex="0"><code>${key}</code></pre></section>
<p class="actions"><a class="button" href="/account">To the account</a></p>`,
  };
}

/** The page for who has no key here yet: signing in, and how to get a key. */
export function renderSignedOut({
  onward,
  fault,
  payment,
  origin,
}: {
  /** A path of ours where the sign-in leads; null for the account. */
  readonly onward: string | null;
  readonly fault: string | null;
  readonly payment: PagePorts["account"]["payment"];
  readonly origin: string;
}): Fragment {
  return html`<h1>Account</h1>
<p class="lead">An API key pays for scores, reports and alerts. Sign in to see its balance, subscriptions and verdicts, to set your routing policy, and to open paid reports.</p>
${renderSignIn(onward, fault)}
<h2 id="get">How to get a key</h2>
${payment === null ? "" : renderBuying(origin, payment)}
<section class="panel" aria-labelledby="ask"><h3 id="ask">From the operator</h3>
<p>The operator of this service can issue a key. On a local chain, the start of the service prints a demo key.</p></section>`;
}

function renderSignIn(onward: string | null, fault: string | null): Fragment {
  const described = fault === null ? "key-hint" : "key-fault key-hint";
  return html`<section class="panel" aria-labelledby="sign-in"><h2 id="sign-in">Sign in</h2>
<form method="post" action="/account"><input type="hidden" name="action" value="sign-in">${onward === null ? "" : html`<input type="hidden" name="next" value="${onward}">`}
${fault === null ? "" : html`<p class="notice alarm" id="key-fault" role="alert">${fault}</p>`}
<div class="form-row"><div class="field"><label for="key">API key</label>
<input id="key" name="key" type="password" autocomplete="current-password" autocapitalize="none" spellcheck="false" required maxlength="200" aria-describedby="${described}"${fault === null ? "" : html` aria-invalid="true"`}></div>
<button class="button">Sign in</button></div>
<p class="small quiet" id="key-hint">The key stays in a cookie of this site until you close the browser or sign out.</p></form></section>`;
}

type Payment = NonNullable<PagePorts["account"]["payment"]>;

function renderBuying(origin: string, payment: Payment): Fragment {
  return html`<section class="panel" aria-labelledby="wallet"><h3 id="wallet">With a browser wallet</h3>
<p>You sign one transfer of USDC, which costs no gas, and get the key at once. Credits do not expire.</p>
${renderBuyForm({ target: "/keys", button: "Buy a key" })}
${renderRecoverForm()}
${renderOwedForm()}</section>
<section class="panel" aria-labelledby="client"><h3 id="client">By any x402 client</h3>
<p><code>POST /keys</code> answers 402 with the terms:</p>
<pre data-copy="the text" tabindex="0"><code>curl -i ${origin}/keys -H 'content-type: application/json' -d '{"credits_usd": 5}'</code></pre>
<p>Pay them with a wallet that holds USDC. Its private key is in <code>PAYER_KEY</code>. The client pays at most 5 USD a call, in this asset, to this service alone:</p>
<pre data-copy="the text" tabindex="0"><code>${clientScript(origin, payment)}</code></pre></section>`;
}

function clientScript(origin: string, { network, asset, payTo }: Payment): string {
  return `npm install @x402/fetch @x402/evm viem
cat > buy-key.mjs <<'END'
import { wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { privateKeyToAccount } from "viem/accounts";

const client = new x402Client()
  .register("${network}", new ExactEvmScheme(privateKeyToAccount(process.env.PAYER_KEY)))
  .setSpendControls({
    allowedAssets: [{ network: "${network}", asset: "${asset}", maxAmountPerPayment: "5000000" }],
  })
  .registerPolicy((version, offers) => offers.filter(({ payTo }) => payTo === "${payTo}"));
const answer = await wrapFetchWithPayment(fetch, client)("${origin}/keys", {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ credits_usd: 5 }),
});
console.log(await answer.text());
END
node buy-key.mjs`;
}

/** The form by which the wallet that bought a key gets another for it; hidden until the script that asks the wallet is there. */
function renderRecoverForm(): Fragment {
  return html`<details class="recover" hidden><summary>Lost a key that your wallet bought?</summary>
<p>Sign in with that wallet to get a new key with the same balance. The lost key stops working.</p>
<form data-recover>
<div class="form-row"><div class="field"><label for="key-id">Key id, where the wallet bought several</label>
<input id="key-id" name="key-id" autocomplete="off" spellcheck="false"></div>
<button class="button plain">Get another key</button></div>
<p class="message" role="status" aria-live="polite"></p>
<div class="bought" hidden></div>
</form></details>`;
}

/** The form by which a wallet sees what is owed to it; hidden until the script that asks the wallet is there. */
function renderOwedForm(): Fragment {
  return html`<details class="recover" hidden><summary>Paid with your wallet, and got no answer?</summary>
<p>Sign in with that wallet to see what is owed to it.</p>
<form data-owed>
<button class="button plain">Show what is owed</button>
<p class="message" role="status" aria-live="polite"></p>
<ul class="owed" hidden></ul>
</form></details>`;
}

/** The form that a browser wallet pays; hidden until the script that pays is there. */
function renderBuyForm({ target, button }: { target: "/keys" | "/account/topup"; button: string }): Fragment {
  return html`<form class="buy" data-target="${target}" hidden>
<div class="form-row"><div class="field"><label for="credits">Credits in USD</label>
<input id="credits" name="credits" type="number" inputmode="decimal" min="1" max="10000" step="0.01" value="5" required></div>
<button class="button">${button}</button></div>
<p class="message" role="status" aria-live="polite"></p>
<div class="bought" hidden></div>
</form>
<noscript><p class="notice warn">Paying with a browser wallet needs JavaScript. The other ways work without it.</p></noscript>`;
}
