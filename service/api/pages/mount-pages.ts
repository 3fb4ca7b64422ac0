import type { Hono } from "hono";
import type { Logger } from "pino";
import { methodNotAllowed, Problem } from "../../access/problems.ts";
import { answer } from "../answer.ts";
import type { ApiContext, ApiEnv } from "../api-env.ts";
import { problemOf } from "../handle-error.ts";
import { accountPage } from "./account-page.ts";
import { dashboardPage } from "./dashboard.ts";
import { leaderboardPage } from "./leaderboard.ts";
import { requireOwnSite } from "./own-site.ts";
import { answerPrivatePage, type Page, type PageHandler, type PageRuntime } from "./page.ts";
import { renderProblemPage } from "./problem-page.ts";
import { recoverPage } from "./recover-page.ts";
import { statusPage } from "./status-page.ts";
import { topUpPage } from "./topup-page.ts";
import { verdictPage } from "./verdict-page.ts";
import { walletPage } from "./wallet-page.ts";

/** Every page for people; none is part of the described interface. */
const PAGES: readonly Page[] = [
  dashboardPage,
  leaderboardPage,
  walletPage,
  verdictPage,
  statusPage,
  accountPage,
  topUpPage,
  recoverPage,
];

/** Templates of the pages that a server with these endpoints has. */
export function pagesOf(endpoints: ReadonlySet<string>): ReadonlySet<string> {
  return new Set(PAGES.filter((page) => isServed(page, endpoints)).map(({ path }) => path));
}

/** Mounts the pages; what a page throws is shown as a page, and a form of another site is refused. */
export function mountPages(app: Hono<ApiEnv>, runtime: PageRuntime): void {
  for (const page of PAGES) {
    if (isServed(page, runtime.served)) mountOne(app, page, runtime);
  }
}

/** Whether whoever asks is a browser that shows pages: it takes HTML, and rather than JSON. */
export function wantsPage(context: ApiContext): boolean {
  const accept = context.req.header("accept") ?? "";
  const html = accept.indexOf("text/html");
  const json = accept.search(/application\/(problem\+)?json/);
  return html !== -1 && (json === -1 || html < json);
}

/** A refusal or failure as a page, with the status and the headers that a program would get. */
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

function mountOne(app: Hono<ApiEnv>, { path, get, post }: Page, runtime: PageRuntime): void {
  const route = path.replaceAll(/\{(.+?)\}/g, ":$1");
  const allow = ["GET", "HEAD", ...(post === undefined ? [] : ["POST"]), "OPTIONS"];
  const answerBy = (handler: PageHandler) => async (context: ApiContext) => {
    context.set("route", path);
    try {
      return await runtime.limits.startDeadline().wait(handler(context, runtime));
    } catch (error) {
      return answerProblemPage(context, problemIn(error, context, runtime.logger));
    }
  };
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
