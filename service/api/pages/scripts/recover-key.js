// Gives the wallet that bought a key another one for it, by a sign-in that the wallet signs.
import { bodyOf, refusalOf, runForm, showKey } from "./key-parts.js";
import { connect, signText } from "./wallet.js";
import { base64Of, Told } from "./x402-payment.js";

for (const form of document.querySelectorAll("form[data-recover]")) {
  form.closest("details").hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    runForm(form, (tell) => recover(form, tell));
  });
}

async function recover(form, tell) {
  const signIn = await signInByWallet(tell);
  const id = form.elements["key-id"].value.trim();
  const request = jsonRequest(id === "" ? {} : { key_id: id });
  const headers = { ...request.headers, ...signIn };
  const answer = await fetch("/keys/rotate", { ...request, headers });
  if (!answer.ok) throw new Told(whichWords(id, await refusalOf(answer)));
  const { api_key: key, balance_usd: usd } = await bodyOf(answer);
  showKey(form.querySelector(".bought"), key);
  return `This is the new key, with ${usd === null ? "no limit" : `${usd.toFixed(2)} USD`}. It is shown here once: copy it now.`;
}

/** The header of a sign-in that the wallet signs; it works once. */
export async function signInByWallet(tell) {
  tell("Waiting for your wallet…");
  const { wallet, account } = await connect();
  const offered = await fetch("/account/sign-in", jsonRequest({ address: account }));
  if (!offered.ok) throw new Told(await refusalOf(offered));
  const { message, fields } = await offered.json();
  const signature = await signText(wallet, message, account);
  return { "sign-in-with-x": base64Of({ ...fields, signature }) };
}

/** A buyer of several keys must choose one. */
function whichWords(id, refusal) {
  const ids = refusal.match(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g) ?? [];
  if (id !== "" || ids.length < 2) return refusal;
  return `Your wallet bought several keys. Write the id of the one that is meant into the field, the newest is first: ${ids.join(", ")}`;
}

function jsonRequest(body) {
  return { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
}
