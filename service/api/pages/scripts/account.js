// A form that counts once is sent once, however often its button is pressed; and the wallet that adds credits.
import "./buy-key.js";

for (const form of document.querySelectorAll("form[data-once]")) {
  form.addEventListener("submit", () => {
    form.querySelector("button").disabled = true;
  });
}
