import { createHash } from "node:crypto";
import type { Logger } from "pino";
import { answer, answerTagged, staticDocument } from "../kit/answer.ts";
import type { ApiContext, Clock } from "../kit/api-env.ts";
import type { RequestLimits } from "../kit/deadline.ts";
import { type PageContent, type PageFrame, renderPage } from "./frame.ts";
import type { PagePorts } from "./page-ports.ts";

/** A page for people: what it answers is HTML, or a redirection; what it throws becomes a readable page. */
export type Page = {
  /** Template with its parameters in braces. */
  readonly path: `/${string}`;
  /** Template of the endpoint that the page stands on: a server without it has no such page. Absent for pages of every server. */
  readonly needs?: string;
  readonly get: PageHandler;
  /** Absent where there is nothing to send. Requests of other sites never reach it. */
  readonly post?: PageHandler;
};

export type PageHandler = (context: ApiContext, runtime: PageRuntime) => Promise<Response>;

/** What pages have beside their request. */
export type PageRuntime = {
  readonly ports: PagePorts;
  /**
   * Answers a request by the interface itself, so that access, charges and limits are the endpoint's own; it counts for the
   * address that the page's request came from.
   */
  readonly dispatch: (request: Request, context: ApiContext) => Promise<Response>;
  /** Templates of the endpoints that this server has. */
  readonly served: ReadonlySet<string>;
  /** Scheme, host and port of the service. */
  readonly origin: string;
  readonly limits: RequestLimits;
  readonly clock: Clock;
  readonly logger: Logger;
};

/** Under which a browser shows a page of ours: nothing from elsewhere, and no script or style within the page. */
const PAGE_POLICY =
  "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self' data:; script-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const HTML_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": PAGE_POLICY,
} as const;

const PUBLIC_PAGE = "public, max-age=30";

/** A page that anyone may see: kept by caches for half a minute, and told from its next version by an ETag. */
export function answerPublicPage(context: ApiContext, content: PageContent): Response {
  const html = renderPage(content, context.get("frame"));
  const tag = createHash("sha256").update(html).digest("base64url").slice(0, 22);
  const varies = context.get("headers").vary;
  const vary = varies === undefined ? "Cookie" : `${varies}, Cookie`;
  return answerTagged(context, {
    ...{ tag, body: html },
    headers: { ...HTML_HEADERS, "cache-control": PUBLIC_PAGE, vary },
  });
}

/** A page that is the same for everyone as long as the server runs. */
export function staticPage(content: PageContent, frame: PageFrame): ReturnType<typeof staticDocument> {
  return staticDocument(renderPage(content, frame), { ...HTML_HEADERS, "cache-control": PUBLIC_PAGE });
}

/** A page for whoever asks alone, and one that refuses: no cache keeps it. */
export function answerPrivatePage(
  context: ApiContext,
  content: PageContent,
  {
    status = 200,
    headers,
  }: { readonly status?: number; readonly headers?: Readonly<Record<string, string>> } = {},
): Response {
  return answer(context, {
    status,
    body: renderPage(content, context.get("frame")),
    headers: { ...HTML_HEADERS, "cache-control": "private, no-store", ...headers },
  });
}

/** Sends a browser on by GET: 303 after something was sent, 308 to where a page is for good. */
export function redirectTo(
  context: ApiContext,
  location: string,
  { status, headers }: { readonly status: 303 | 308; readonly headers?: Readonly<Record<string, string>> },
): Response {
  return answer(context, {
    status,
    body: null,
    headers: { location, "cache-control": "no-store", ...headers },
  });
}
