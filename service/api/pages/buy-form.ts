import { html } from "hono/html";
import type { Fragment } from "./prose.ts";

/** The form by which the wallet that bought a key gets another for it; hidden until the script that asks the wallet is there. */
export function renderRecoverForm(): Fragment {
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
export function renderBuyForm({
  target,
  button,
}: {
  readonly target: "/keys" | "/account/topup";
  readonly button: string;
}): Fragment {
  return html`<form class="buy" data-target="${target}" hidden>
<div class="form-row"><div class="field"><label for="credits">Credits in USD</label>
<input id="credits" name="credits" type="number" inputmode="decimal" min="1" max="10000" step="0.01" value="5" required></div>
<button class="button">${button}</button></div>
<p class="told" role="status" aria-live="polite"></p>
<div class="bought" hidden></div>
</form>
<noscript><p class="notice warn">A browser wallet signs by a script, and scripts are off here. Every other way works without.</p></noscript>`;
}
