import { html } from "hono/html";
import { renderBuyForm, renderRecoverForm } from "./buy-form.ts";
import type { Fragment } from "./prose.ts";

type SignedOutView = {
  /** A path of ours where the sign-in leads; null for the account. */
  readonly onward: string | null;
  /** Why one is not signed in; null where nobody tried. */
  readonly fault: string | null;
  readonly sellsKeys: boolean;
  readonly origin: string;
};

/** The page for who has no key here yet: signing in, and how to get a key. */
export function renderSignedOut({ onward, fault, sellsKeys, origin }: SignedOutView): Fragment {
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
