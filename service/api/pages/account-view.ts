import { html } from "hono/html";
import { z } from "zod";
import type { KeyStanding } from "../../access/api-keys.ts";

import type { RoutingAction } from "../../model/score/record.ts";
import {
  dayWords,
  dollars,
  levelWords,
  routeWords,
  shortHex,
  strangeText,
  timeTag,
  walletLink,
} from "./page-words.ts";
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
  readonly summary: KeyStanding | null;
  /** Null if it could not be read. */
  readonly policy: KeyPolicy | null;
  readonly sellsKeys: boolean;
  /** Id of this rendering of the form that replaces the key. */
  readonly once: string;
};

/** The answer of GET /keys/self. Throws on any other shape. */
export function keySelfIn(answer: unknown): AccountView["self"] {
  return selfSchema.parse(answer);
}

/** The answer of GET /ahs/route/policy. Throws on any other shape. */
export function policyIn(answer: unknown): KeyPolicy {
  return policySchema.parse(answer);
}

const MAX_NAME = 80;

export function renderAccount(view: AccountView): { title: string; body: Fragment } {
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

function renderSubscriptions({ summary }: AccountView): Fragment | string {
  const subscriptions = summary?.subscriptions ?? [];
  if (subscriptions.length === 0) return "";
  return html`<section class="panel" aria-labelledby="watched"><h2 id="watched">Wallets that you are notified of</h2>
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

/** The page for who has no key here yet: signing in, and how to get a key. */
export function renderSignedOut({
  onward,
  fault,
  sellsKeys,
  origin,
}: {
  /** A path of ours where the sign-in leads; null for the account. */
  readonly onward: string | null;
  readonly fault: string | null;
  readonly sellsKeys: boolean;
  readonly origin: string;
}): Fragment {
  return html`<h1>Account</h1>
<p class="lead">An API key pays for what is not free: scores with their reasons, reports, alerts. Sign in with one to see its balance and to open paid parts of these pages.</p>
${renderSignIn(onward, fault)}
<h2 id="get">How to get a key</h2>
${sellsKeys ? renderBuying(origin) : ""}
<section class="panel" aria-labelledby="ask"><h3 id="ask">From the operator</h3>
<p>Whoever runs this service makes keys with <code>npm run ahs -- keys create</code>. On a local chain a demo key is printed at the start.</p></section>`;
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

function renderBuying(origin: string): Fragment {
  return html`<section class="panel" aria-labelledby="wallet"><h3 id="wallet">With a browser wallet</h3>
<p>You sign one transfer of USDC, which costs no gas, and the key is shown at once. Credits do not expire.</p>
${renderBuyForm({ target: "/keys", button: "Buy a key" })}
${renderRecoverForm()}</section>
<section class="panel" aria-labelledby="client"><h3 id="client">By any x402 client</h3>
<p><code>POST /keys</code> sells a key to whoever pays its 402. See the terms:</p>
<pre data-copy tabindex="0"><code>curl -i ${origin}/keys -H 'content-type: application/json' -d '{"credits_usd": 5}'</code></pre>
<p>Pay them, with the key of a wallet that holds USDC in <code>PAYER_KEY</code>:</p>
<pre data-copy tabindex="0"><code>${clientScript(origin)}</code></pre></section>`;
}

function clientScript(origin: string): string {
  return `npm install @x402/fetch @x402/evm viem
cat > buy-key.mjs <<'END'
import { wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { privateKeyToAccount } from "viem/accounts";

const client = new x402Client()
  .register("eip155:*", new ExactEvmScheme(privateKeyToAccount(process.env.PAYER_KEY)))
  .setSpendControls(false);
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
<p>Sign in with that wallet, and it gets a new key with the same balance. The lost one is refused from then on.</p>
<form data-recover>
<div class="form-row"><div class="field"><label for="key-id">Key id, where the wallet bought several</label>
<input id="key-id" name="key-id" autocomplete="off" spellcheck="false"></div>
<button class="button plain">Get another key</button></div>
<p class="told" role="status" aria-live="polite"></p>
<div class="bought" hidden></div>
</form></details>`;
}

/** The form that a browser wallet pays; hidden until the script that pays is there. */
function renderBuyForm({ target, button }: { target: "/keys" | "/account/topup"; button: string }): Fragment {
  return html`<form class="buy" data-target="${target}" hidden>
<div class="form-row"><div class="field"><label for="credits">Credits in USD</label>
<input id="credits" name="credits" type="number" inputmode="decimal" min="1" max="10000" step="0.01" value="5" required></div>
<button class="button">${button}</button></div>
<p class="told" role="status" aria-live="polite"></p>
<div class="bought" hidden></div>
</form>
<noscript><p class="notice warn">A browser wallet signs by a script, and scripts are off here. Every other way works without.</p></noscript>`;
}

const policySchema = z.object({
  instant_grades: z.array(z.string()),
  escrow_grades: z.array(z.string()),
  reject_grades: z.array(z.string()),
  escrow_disabled: z.boolean(),
  allowlist: z.array(z.string()),
  confidence_overrides: z.record(z.string(), z.record(z.string(), z.string())),
  insufficient_action: z.enum(["instant_settle", "escrow", "reject"]),
  max_instant_usd: z.number().nullable(),
  safe_amount_multiple: z.number(),
  min_confidence_for_instant: z.enum(["HIGH", "MEDIUM", "LOW"]).nullable(),
  threat_action: z.enum(["ignore", "escrow", "reject"]),
  updated_at: z.string().nullable(),
});

/** A key's routing policy as the interface answers it. */
type KeyPolicy = z.infer<typeof policySchema>;

const ACTIONS: readonly RoutingAction[] = ["instant_settle", "escrow", "reject"];

function policyWords(policy: KeyPolicy): readonly string[] {
  const { allowlist, confidence_overrides, insufficient_action, threat_action } = policy;
  const overrides = Object.entries(confidence_overrides).flatMap(([grade, levels]) =>
    Object.entries(levels).map(
      ([level, action]) => `Grade ${grade} with ${level} confidence: ${doing(action, policy)}.`,
    ),
  );
  return [
    policy.updated_at === null
      ? "You have the default table."
      : `You set it on ${dayWords(policy.updated_at.slice(0, 10))}.`,
    ...graded(policy.instant_grades, "instant_settle", policy),
    ...graded(policy.escrow_grades, "escrow", policy),
    ...graded(policy.reject_grades, "reject", policy),
    `Not enough history: ${doing(insufficient_action, policy)}.`,
    ...overrides,
    ...limitWords(policy),
    ...(threat_action === "ignore" ? [] : [`On a list of threats: ${doing(threat_action, policy)} at best.`]),
    ...(allowlist.length === 0
      ? []
      : [
          `${allowlist.length} named ${allowlist.length === 1 ? "wallet" : "wallets"}: ${routeWords("instant_settle").toLowerCase()}, whatever the score.`,
        ]),
  ];
}

/** Limits of settling at once. */
function limitWords(policy: KeyPolicy): readonly string[] {
  const { max_instant_usd: most, safe_amount_multiple: multiple, min_confidence_for_instant: least } = policy;
  const times = multiple === 1 ? "" : `${multiple} times `;
  const limits = [
    ...(least === null ? [] : [`Confidence below ${levelWords(least).toLowerCase()}`]),
    ...(most === null ? [] : [`Amounts above ${dollars(most)}`]),
    multiple === 0 ? "Any amount" : `Amounts above ${times}the available safe amount`,
  ];
  return limits.map((limit) => `${limit}: ${doing("escrow", policy)} in place of settling at once.`);
}

function graded(grades: readonly string[], action: string, policy: KeyPolicy): readonly string[] {
  if (grades.length === 0) return [];
  return [`${grades.length === 1 ? "Grade" : "Grades"} ${grades.join(", ")}: ${doing(action, policy)}.`];
}

/** Without escrow, what would wait in it is rejected. */
function doing(action: string, { escrow_disabled }: KeyPolicy): string {
  const taken = action === "escrow" && escrow_disabled ? "reject" : action;
  const known = ACTIONS.find((one) => one === taken);
  return known === undefined ? taken : routeWords(known).toLowerCase();
}
