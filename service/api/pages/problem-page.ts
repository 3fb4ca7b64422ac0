import { html } from "hono/html";
import { PROBLEMS, type Problem } from "../problems.ts";
import { renderPage } from "./frame.ts";

/** A refusal or failure in words, with what helps to find it in the logs. */
export function renderProblemPage(
  problem: Problem,
  { path, requestId }: { readonly path: string; readonly requestId: string },
): string {
  const { title } = PROBLEMS[problem.code];
  const retryAfter = problem.headers["retry-after"];
  return renderPage({
    title,
    path,
    body: html`
<p class="eyebrow">${problem.status}</p>
<h1>${title}</h1>
<p class="lead">${problem.detail}</p>
${retryAfter === undefined ? "" : html`<p>Try again in ${retryAfter} seconds.</p>`}
<p class="actions"><a class="button" href="/">To the dashboard</a><a class="button plain" href="/leaderboard">Find a wallet</a></p>
<p class="quiet small">Request <code>${requestId}</code></p>`,
  });
}
