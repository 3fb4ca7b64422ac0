// A form that counts once is sent once, however often its button is pressed; who comes back to the page may press it again.
for (const form of document.querySelectorAll("form[data-once]")) {
  const button = form.querySelector("button");
  form.addEventListener("submit", () => {
    button.disabled = true;
  });
  addEventListener("pageshow", () => {
    button.disabled = false;
  });
}
