import { html } from "hono/html";
import type { Grade } from "../../model/score/record.ts";
import { GRADES } from "./page-words.ts";
import type { Fragment } from "./prose.ts";

/** The search for a wallet or an agent, with what was asked for in it. */
export function renderSearch(query: string): Fragment {
  return html`<form class="form-row" action="/leaderboard" method="get" role="search">
<div class="field"><label for="q">Find a wallet or an agent</label><input id="q" name="q" value="${query}" maxlength="128" autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="0x address, agent number or name"></div>
<button class="button">Search</button>
</form>`;
}

/** The grades as links, the chosen one marked. */
export function renderGradeFilter(chosen: Grade | null): Fragment {
  const all = html`<li><a href="/leaderboard"${chosen === null ? html` aria-current="true"` : ""}>All</a></li>`;
  return html`<nav class="filter" aria-label="Grade"><ul>${all}${GRADES.map(
    (grade) =>
      html`<li><a href="/leaderboard?grade=${grade}"${grade === chosen ? html` aria-current="true"` : ""}><span class="hidden">Grade </span>${grade}</a></li>`,
  )}</ul></nav>`;
}
