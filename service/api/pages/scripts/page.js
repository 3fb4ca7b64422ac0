// What every page does: texts to copy, forms that count once, local times, and content that is read again.
import "./copy.js";
import "./once.js";
import { showLocalTimes } from "./times.js";

showLocalTimes(document);
document.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });

const main = document.querySelector("main[data-refresh]");
if (main !== null) setInterval(() => refresh(main), 1_000 * Number(main.dataset.refresh));

/** Reads the content again while the page is visible and the reader is not in a form or selecting text. */
async function refresh(shown) {
  const isBusy = shown.contains(document.activeElement) || !getSelection().isCollapsed;
  if (document.hidden || isBusy) return;
  const answer = await fetch(location.href, { headers: { accept: "text/html" } }).catch(() => null);
  if (answer?.ok !== true) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.querySelector("main");
  if (fresh === null) return;
  document.title = page.title;
  showLocalTimes(fresh);
  shown.replaceChildren(...fresh.childNodes);
}
