// Adds a button to every text that can be copied; without this script the text can be selected.
for (const text of document.querySelectorAll("[data-copy]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  const name = text.dataset.copy;
  const label = () => {
    button.textContent = "Copy";
    if (name) button.setAttribute("aria-label", `Copy ${name}`);
  };
  label();
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text.textContent.trim());
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(text);
      button.textContent = "Selected";
    }
    button.removeAttribute("aria-label");
    setTimeout(label, 2000);
  });
  text.after(button);
}
