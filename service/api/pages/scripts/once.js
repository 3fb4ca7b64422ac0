// A form that counts once is sent once; after coming back to the page its button can be pressed again.
for (const form of document.querySelectorAll("form[data-once]")) {
  const button = form.querySelector("button");
  form.addEventListener("submit", () => {
    button.disabled = true;
  });
  addEventListener("pageshow", () => {
    button.disabled = false;
  });
}
