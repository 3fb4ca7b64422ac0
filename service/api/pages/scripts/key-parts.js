// Shared parts of the forms that show a key.
import { Told } from "./x402-payment.js";

/** Runs what a form does, reports progress in the form's own line, and disables its button meanwhile. */
export async function runForm(form, run) {
  const button = form.querySelector("button");
  const line = form.querySelector(".message");
  const tell = (text, kind = "") => {
    line.textContent = text;
    line.className = `message ${kind}`;
  };
  button.disabled = true;
  try {
    tell(await run(tell), "good");
  } catch (error) {
    tell(
      error instanceof Told ? error.message : `It failed: ${String(error?.message ?? error).slice(0, 200)}`,
      "bad",
    );
  } finally {
    button.disabled = false;
  }
}

/** The key with a button that copies it, and one that signs in with it. */
export function showKey(place, key) {
  const text = document.createElement("pre");
  text.tabIndex = 0;
  text.className = "key";
  text.textContent = key;
  const copy = buttonOf("Copy the key", async () => {
    try {
      await navigator.clipboard.writeText(key);
      copy.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(text);
      copy.textContent = "Selected: copy it";
    }
  });
  const enter = buttonOf("Sign in with it", () => {
    const { form } = document.querySelector("input[name=key]");
    form.elements.key.value = key;
    form.requestSubmit();
  });
  enter.classList.add("plain");
  const actions = document.createElement("p");
  actions.className = "actions";
  actions.append(copy, enter);
  place.replaceChildren(text, actions);
  place.hidden = false;
  copy.focus();
}

/** The text of a refusal. */
export async function refusalOf(answer) {
  const body = await bodyOf(answer);
  const words =
    body?.detail?.[0]?.msg ?? body?.detail ?? body?.error ?? `The service answered ${answer.status}.`;
  // The terms of a 402 are for official clients, not for this page.
  return String(words)
    .replace(/^Value error, /, "")
    .replace(/ Official x402 clients.*$/s, "")
    .slice(0, 600);
}

/** The JSON of an answer; null if it is not JSON. */
export async function bodyOf(answer) {
  try {
    return await answer.json();
  } catch {
    return null;
  }
}

function buttonOf(words, act) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button";
  button.textContent = words;
  button.addEventListener("click", act);
  return button;
}
