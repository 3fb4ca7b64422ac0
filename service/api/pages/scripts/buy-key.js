// Buys a key, or credits for the one that the browser is signed in with, by a payment that a browser wallet signs.
import "./show-owed.js";
import { bodyOf, refusalOf, runForm, showKey } from "./key-parts.js";
import { connect, requireFunds, sign, useChain } from "./wallet.js";
import { authorizationFor, paymentHeader, Told, termsOf, tokenText } from "./x402-payment.js";

/** How often an answer that is paid for and did not come is asked for again, and the milliseconds between. */
const REPEATS = 10;
const PAUSE_MS = 1_500;

for (const form of document.querySelectorAll("form[data-target]")) {
  form.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    runForm(form, (tell) => buyBy(form, tell));
  });
}

async function buyBy(form, tell) {
  const { target } = form.dataset;
  const bought = await buy(target, Number(form.elements.credits.value), tell);
  if (target !== "/keys") {
    showBalance(bought.balance_usd);
    return `${bought.credited_usd.toFixed(2)} USD were added.`;
  }
  if (bought.api_key === null)
    throw new Told(
      "The key was bought, and its answer got lost. Get another for it below, with the wallet that paid.",
    );
  showKey(form.querySelector(".bought"), bought.api_key);
  return `You have a key with ${bought.balance_usd.toFixed(2)} USD. It is shown here once: copy it now.`;
}

/** Asks for the terms, has them signed, and pays. */
async function buy(target, credits, tell) {
  const request = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ credits_usd: credits }),
  };
  tell("Asking for the price…");
  const unpaid = await fetch(target, request);
  if (unpaid.status !== 402) throw new Told(await refusalOf(unpaid));
  const terms = termsOf(unpaid.headers.get("payment-required"));
  const { accepted } = terms;
  tell("Waiting for your wallet…");
  const { wallet, account } = await connect();
  await useChain(wallet, accepted);
  await requireFunds(wallet, accepted, account);
  const random = (bytes) => crypto.getRandomValues(new Uint8Array(bytes));
  const authorization = authorizationFor(accepted, { from: account, now: Date.now(), random });
  tell(`Sign the transfer of ${tokenText(accepted.amount)} ${accepted.extra.name} in your wallet…`);
  const signature = await sign(wallet, accepted, authorization);
  tell("Paying…");
  const payment = paymentHeader(terms, { authorization, signature, random });
  return pay(target, { ...request, headers: { ...request.headers, "payment-signature": payment } }, tell);
}

/** Sends the payment; an answer that is owed, or got lost, is asked for again with what proves that it was paid. */
async function pay(target, request, tell) {
  let { headers } = request;
  for (let repeat = 0; ; repeat += 1) {
    const answer = await fetch(target, { ...request, headers }).catch(() => null);
    if (answer?.ok) return answer.json();
    if (answer !== null && answer.status !== 409 && answer.status < 500)
      throw new Told(await refusalOf(answer));
    const claim = answer === null ? null : ((await bodyOf(answer.clone()))?.claim ?? null);
    if (claim !== null) headers = { ...request.headers, "x-payment-claim": claim };
    if (repeat === REPEATS) throw new Told(await lostWords(answer, headers["x-payment-claim"]));
    tell("The payment is made, and the answer is still to come. Asking again…");
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

async function lostWords(answer, claim) {
  const why = answer === null ? "The service cannot be reached." : await refusalOf(answer);
  if (claim === undefined)
    return `${why} If your wallet was charged, what it paid for is kept for it: look again in a minute.`;
  return `${why} It is paid for and owed to you: buy the same again with this wallet, and you do not pay twice. Or send this claim with the same request in X-Payment-Claim: ${claim}`;
}

function showBalance(usd) {
  const shown = document.querySelector("#balance");
  if (shown !== null && usd !== null) shown.textContent = `${usd.toFixed(2)} USD`;
}
