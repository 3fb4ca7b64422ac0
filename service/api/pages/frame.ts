import { html } from "hono/html";
import type { Fragment } from "./prose.ts";
import { STYLE_HREF } from "./style.ts";

export type PageContent = {
  /** Title of the window, without the service's name. */
  readonly title: string;
  readonly path: string;
  readonly body: Fragment;
  /** A sentence for search engines; absent for pages that must not be indexed. */
  readonly description?: string;
  /** A file of service/api/pages/scripts, such as copy.js. */
  readonly script?: string;
};

const SERVICE = "Agent Health";

const REFERENCE = "/docs";

const HOME = "/";

const PLACES = [
  { href: HOME, name: "Dashboard" },
  { href: "/leaderboard", name: "Leaderboard" },
  { href: "/status", name: "Status" },
  { href: REFERENCE, name: "API" },
  { href: "/account", name: "Account" },
];

export type PageFrame = {
  readonly places: readonly { readonly href: string; readonly name: string }[];
  readonly document: string;
  /** Folder of the scripts; its name changes with their content. */
  readonly scripts: string;
};

/** The frame of a server, with links to its own pages only. `served` are their paths. */
export function frameOf({
  served,
  ...frame
}: Omit<PageFrame, "places"> & { readonly served: ReadonlySet<string> }): PageFrame {
  return { ...frame, places: PLACES.filter(({ href }) => served.has(href)) };
}

/** The page that error pages link to: the first one of the server. */
export function homeOf({ places }: PageFrame): string {
  return places[0]?.href ?? REFERENCE;
}

/** A whole HTML page: head, navigation, `main`, footer. It loads own files only. */
export function renderPage(
  { title, path, body, description, script }: PageContent,
  frame: PageFrame,
): string {
  return String(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${path === HOME ? `${SERVICE}: ${title}` : `${title} · ${SERVICE}`}</title>
${description === undefined ? html`<meta name="robots" content="noindex">` : html`<meta name="description" content="${description}">`}
<meta name="color-scheme" content="light dark">
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${STYLE_HREF}">
${script === undefined ? "" : html`<script type="module" src="${frame.scripts}/${script}"></script>`}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
${renderHeader(path, frame)}
<main id="main">
${body}
</main>
${renderFooter(frame)}
</body>
</html>
`);
}

function renderHeader(path: string, frame: PageFrame): Fragment {
  const places = frame.places.filter(({ href }) => href !== HOME);
  return html`<header class="top"><div class="wide">
<a class="brand" href="${homeOf(frame)}"${path === HOME ? html` aria-current="page"` : ""}>${renderMark()}<span>${SERVICE}</span></a>
<nav aria-label="Main"><ul>${places.map(
    ({ href, name }) =>
      html`<li><a href="${href}"${isWithin(path, href) ? html` aria-current="page"` : ""}>${name}</a></li>`,
  )}</ul></nav>
</div></header>`;
}

function renderMark(): Fragment {
  return html`<svg class="mark" viewBox="0 0 28 24" width="28" height="24" aria-hidden="true" focusable="false"><path class="mark-ticks" d="M2 24V14M8 24V9M20 24V9M26 24V14"/><path class="mark-read" d="M14 24V1"/></svg>`;
}

function renderFooter({ document }: PageFrame): Fragment {
  return html`<footer class="bottom"><div class="wide">
<p>Scores come from what wallets did on chain, and each can be recomputed from its inputs. A wallet without enough history has no score, which is not a bad one.</p>
<ul><li><a href="${REFERENCE}">API reference</a></li><li><a href="${document}">OpenAPI</a></li><li><a href="/llms.txt">llms.txt</a></li><li><a href="/.well-known/security.txt">Report a weakness</a></li></ul>
</div></footer>`;
}

function isWithin(path: string, place: string): boolean {
  return path === place || path.startsWith(`${place}/`);
}
