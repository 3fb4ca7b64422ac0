import { html } from "hono/html";
import { PROBLEMS, type Problem } from "../../access/problems.ts";
import { homeOf, type PageContent, type PageFrame } from "./frame.ts";
import { renderProse } from "./prose.ts";

/** A refusal or failure in words, with what helps to find it in the logs. */
export function renderProblemPage(
  problem: Problem,
  {
    path,
    requestId,
    frame,
  }: { readonly path: string; readonly requestId: string; readonly frame: PageFrame },
): PageContent {
  const { title } = PROBLEMS[problem.code];
  const home = homeOf(frame);
  const hasLeaderboard = frame.places.some(({ href }) => href === "/leaderboard");
  const retryAfter = problem.headers["retry-after"];
  return {
    title,
    path,
    body: html`
<p class="eyebrow">${problem.status}</p>
<h1>${title}</h1>
<p class="lead">${renderProse(problem.detail)}</p>
${retryAfter === undefined ? "" : html`<p>Try again in ${retryAfter} seconds.</p>`}
<p class="actions"><a class="button" href="${home}">${home === "/" ? "To the dashboard" : "To the first page"}</a>${hasLeaderboard ? html`<a class="button plain" href="/leaderboard">Find a wallet</a>` : ""}</p>
<p class="quiet small">Request <code>${requestId}</code></p>`,
  };
}
