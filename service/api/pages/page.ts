import { createHash } from "node:crypto";
import type { Logger } from "pino";
import { answer, answerTagged, staticDocument } from "../kit/answer.ts";
import type { ApiContext, Clock } from "../kit/api-env.ts";
import type { RequestLimits } from "../kit/deadline.ts";
import { type PageContent, type PageFrame, renderPage } from "./frame.ts";
import type { PagePorts } from "./page-ports.ts";

/** A page, or a file for its readers such as a feed. Errors become readable pages. */
export type Page = {
  readonly path: `/${string}`;
  /** Path template of the endpoint that the page depends on; absent for pages of every server. */
  readonly needs?: string;
  readonly get: PageHandler;
  /** Absent if the page has no form. Requests of other sites never reach it. */
  readonly post?: PageHandler;
};

export type PageHandler = (context: ApiContext, runtime: PageRuntime) => Promise<Response>;

export type PageRuntime = {
  readonly ports: PagePorts;
  /**
   * Sends a request to the interface in process, with its checks, charges and limits. It counts for the address of the page's
   * request.
   */
  readonly dispatch: (request: Request, context: ApiContext) => Promise<Response>;
  /** Path templates of the server's endpoints. */
  readonly served: ReadonlySet<string>;
  /** Example answers by method and path template, from the document. */
  readonly samples: ReadonlyMap<string, unknown>;
  /** Scheme, host and port of the service. */
  readonly origin: string;
  readonly limits: RequestLimits;
  readonly clock: Clock;
  readonly logger: Logger;
};

/** Content security policy of the pages: own files only, and no inline scripts or styles. */
const PAGE_POLICY =
  "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self' data:; script-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Style elements that Redoc 2.5.4 adds: one that starts empty and is filled by script, and one of fixed text. */
const REFERENCE_STYLES =
  "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=' 'sha256-QMIg+bpjm3JdElJ388KYke01izlUW0UoNOeKjpMxdgc='";

/** The same for the API reference. The search of Redoc runs in a worker of its bundle. */
const REFERENCE_POLICY = `${PAGE_POLICY.replace("style-src 'self'", `style-src 'self' ${REFERENCE_STYLES}`)}; worker-src blob:`;

const HTML_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": PAGE_POLICY,
} as const;

const PUBLIC_PAGE = "public, max-age=30";

/** A public page: cached for half a minute, with an ETag. */
export function answerPublicPage(context: ApiContext, content: PageContent): Response {
  const html = renderPage(content, context.get("frame"));
  const tag = createHash("sha256").update(html).digest("base64url").slice(0, 22);
  const varies = context.get("headers").vary;
  const vary = varies === undefined ? "Cookie" : `${varies}, Cookie`;
  return answerTagged(context, {
    tag,
    body: html,
    headers: { ...HTML_HEADERS, "cache-control": PUBLIC_PAGE, vary },
  });
}

/** A page that never changes while the server runs. */
export function staticPage(
  content: PageContent,
  frame: PageFrame,
  kind: "page" | "reference",
): ReturnType<typeof staticDocument> {
  return staticDocument(renderPage(content, frame), {
    ...HTML_HEADERS,
    ...(kind === "reference" ? { "content-security-policy": REFERENCE_POLICY } : {}),
    "cache-control": PUBLIC_PAGE,
  });
}

/** A private page or a refusal: never cached. */
export function answerPrivatePage(
  context: ApiContext,
  content: PageContent,
  { status = 200, headers }: { status?: number; headers?: Readonly<Record<string, string>> } = {},
): Response {
  return answer(context, {
    status,
    body: renderPage(content, context.get("frame")),
    headers: { ...HTML_HEADERS, "cache-control": "private, no-store", ...headers },
  });
}

/** Redirects a browser: 303 after a form, 307 to an address that may change, 308 to a permanent one. */
export function redirectTo(
  context: ApiContext,
  location: string,
  { status, headers }: { status: 303 | 307 | 308; headers?: Readonly<Record<string, string>> },
): Response {
  return answer(context, {
    status,
    body: null,
    headers: { location, "cache-control": "no-store", ...headers },
  });
}
