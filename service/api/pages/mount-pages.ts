import type { Hono } from "hono";
import { html } from "hono/html";
import type { Logger } from "pino";
import { methodNotAllowed, Problem } from "../../access/problems.ts";
import { addHeaders, answer } from "../kit/answer.ts";
import type { ApiContext, ApiEnv } from "../kit/api-env.ts";
import { problemOf } from "../kit/handle-error.ts";
import { accountPage, recoverPage, topUpPage } from "./account-page.ts";
import { agentPage } from "./agent-page.ts";
import { comparePage } from "./compare-page.ts";
import { dashboardPage } from "./dashboard.ts";
import { homeOf, type PageContent, type PageFrame } from "./frame.ts";
import { leaderboardFile, leaderboardPage } from "./leaderboard.ts";
import { answerPrivatePage, type Page, type PageHandler, type PageRuntime } from "./page.ts";
import { renderProse } from "./prose.ts";
import { PUBLIC_FILES } from "./public-files.ts";
import { statusPage } from "./status-page.ts";
import { verdictPage } from "./verdict-page.ts";
import { walletHistoryFile, walletHistoryPage } from "./wallet-history-page.ts";
import { walletOwnerPage } from "./wallet-owner-page.ts";
import { walletPage } from "./wallet-page.ts";
import { walletReportPage } from "./wallet-report-page.ts";

/** All pages; none is part of the described interface. */
const PAGES: readonly Page[] = [
  dashboardPage,
  leaderboardPage,
  leaderboardFile,
  comparePage,
  walletPage,
  agentPage,
  walletHistoryPage,
  walletHistoryFile,
  walletOwnerPage,
  walletReportPage,
  verdictPage,
  statusPage,
  accountPage,
  topUpPage,
  recoverPage,
  ...PUBLIC_FILES,
];

/** Path templates of the pages of a server with these endpoints. */
export function pagesOf(endpoints: ReadonlySet<string>): ReadonlySet<string> {
  return new Set(PAGES.filter((page) => isServed(page, endpoints)).map(({ path }) => path));
}

/** Mounts the pages. Errors become pages, and forms of other sites are refused. */
export function mountPages(app: Hono<ApiEnv>, runtime: PageRuntime): void {
  for (const page of PAGES) {
    if (isServed(page, runtime.served) && !runtime.served.has(page.path)) mountOne(app, page, runtime);
  }
}

/**
 * Mounts the pages at paths of endpoints: clients that prefer HTML get the page, all others the endpoint's answer. To be mounted
 * before the endpoints.
 */
export function mountSharedPages(app: Hono<ApiEnv>, runtime: PageRuntime): void {
  for (const page of PAGES.filter(({ path }) => runtime.served.has(path))) {
    const show = pageAnswer(page.path, page.get, runtime);
    app.get(routeOf(page), async (context, next) => {
      const { vary } = context.get("headers");
      addHeaders(context, { vary: vary === undefined ? "Accept" : `${vary}, Accept` });
      return wantsPage(context) ? show(context) : next();
    });
  }
}

/** Whether the client prefers HTML to JSON. */
export function wantsPage(context: ApiContext): boolean {
  const accept = context.req.header("accept") ?? "";
  const html = accept.indexOf("text/html");
  const json = accept.search(/application\/(problem\+)?json/);
  return html !== -1 && (json === -1 || html < json);
}

export function answerProblemPage(context: ApiContext, problem: Problem): Response {
  const page = renderProblemPage(problem, {
    path: context.req.path,
    requestId: context.get("requestId"),
    frame: context.get("frame"),
  });
  return answerPrivatePage(context, page, { status: problem.status, headers: problem.headers });
}

function isServed({ needs }: Page, endpoints: ReadonlySet<string>): boolean {
  return needs === undefined || endpoints.has(needs);
}

function routeOf({ path }: Page): string {
  return path.replaceAll(/\{(.+?)\}/g, ":$1");
}

/** Answers by a handler of a page; its errors become pages. */
function pageAnswer(path: string, handler: PageHandler, runtime: PageRuntime) {
  return async (context: ApiContext): Promise<Response> => {
    context.set("route", path);
    try {
      return await runtime.limits.startDeadline().wait(handler(context, runtime));
    } catch (error) {
      return answerProblemPage(context, problemIn(error, context, runtime.logger));
    }
  };
}

function mountOne(app: Hono<ApiEnv>, page: Page, runtime: PageRuntime): void {
  const { path, get, post } = page;
  const route = routeOf(page);
  const allow = ["GET", "HEAD", ...(post === undefined ? [] : ["POST"]), "OPTIONS"];
  const answerBy = (handler: PageHandler) => pageAnswer(path, handler, runtime);
  app.get(route, answerBy(get));
  if (post !== undefined) {
    app.post(
      route,
      answerBy(async (context) => {
        requireOwnSite(context, runtime.origin);
        return post(context, runtime);
      }),
    );
  }
  app.all(
    route,
    answerBy(async (context) => {
      const { method } = context.req;
      if (method !== "OPTIONS") throw methodNotAllowed(method, path, allow);
      return answer(context, { status: 204, body: null, headers: { allow: allow.join(", ") } });
    }),
  );
}

function problemIn(error: unknown, context: ApiContext, logger: Logger): Problem {
  if (error instanceof Problem) return error;
  const failure = error instanceof Error ? error : new Error("page failed", { cause: error });
  const about = { request_id: context.get("requestId"), method: context.req.method, path: context.req.path };
  return problemOf(failure, about, logger);
}

function renderProblemPage(
  problem: Problem,
  { path, requestId, frame }: { path: string; requestId: string; frame: PageFrame },
): PageContent {
  const home = homeOf(frame);
  const hasLeaderboard = frame.places.some(({ href }) => href === "/leaderboard");
  const retryAfter = problem.headers["retry-after"];
  return {
    title: problem.heading,
    path,
    body: html`
<p class="eyebrow">${problem.status}</p>
<h1>${problem.heading}</h1>
<p class="lead">${renderProse(problem.detail)}</p>
${retryAfter === undefined ? "" : html`<p>Try again in ${retryAfter} seconds.</p>`}
<p class="actions"><a class="button" href="${home}">${home === "/" ? "Go to the home page" : "Go to the first page"}</a>${hasLeaderboard ? html`<a class="button plain" href="/leaderboard">Find a wallet</a>` : ""}</p>
<p class="quiet small">Request <code>${requestId}</code></p>`,
  };
}

/**
 * Throws the 403 of a form from another site. Browsers name the source of a form in Sec-Fetch-Site, over http only in Origin.
 * Both must name this site, and a request with neither is refused. `origin` is the public one of the service, which differs from
 * that of the request behind a proxy.
 */
export function requireOwnSite(context: ApiContext, origin: string): void {
  const site = context.req.header("sec-fetch-site");
  const from = context.req.header("origin");
  const isOwn = from === undefined || from === new URL(origin).origin || from === originAsked(context);
  const isKnown = site === "same-origin" || (site === undefined && from !== undefined);
  if (isOwn && isKnown) return;
  throw new Problem("cross-site", "This form was sent from another site. Use the form on this site.");
}

function originAsked(context: ApiContext): string {
  return new URL(context.req.url).origin;
}
