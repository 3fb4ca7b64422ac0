// Lists what a wallet has paid for and was not answered, by a sign-in that the wallet signs.
import { refusalOf, runForm } from "./key-parts.js";
import { signInByWallet } from "./recover-key.js";
import { Told } from "./x402-payment.js";

for (const form of document.querySelectorAll("form[data-owed]")) {
  form.closest("details").hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    runForm(form, (tell) => showOwed(form, tell));
  });
}

async function showOwed(form, tell) {
  const answer = await fetch("/owed", { headers: await signInByWallet(tell) });
  if (!answer.ok) throw new Told(await refusalOf(answer));
  const { owed } = await answer.json();
  const list = form.querySelector(".owed");
  list.replaceChildren(...owed.map(itemOf));
  list.hidden = owed.length === 0;
  if (owed.length === 0) return "Nothing is owed to this wallet.";
  return "Send each of these requests again with any payment of this wallet: it is answered, and the payment is not taken.";
}

function itemOf({ endpoint, resource, amount_usd: usd, settled_at: at }) {
  const item = document.createElement("li");
  item.textContent = `${endpoint.split(" ")[0]} ${resource}, ${usd.toFixed(3)} USD, ${at}`;
  return item;
}
