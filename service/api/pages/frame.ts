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
  /** Path of the picture that link previews show; the service's own by default. */
  readonly image?: string;
  /** A file of service/api/pages/scripts that runs besides page.js, such as account.js. */
  readonly script?: string;
  /** Seconds after which page.js reads the content again; absent for pages that do not change by themselves. */
  readonly refreshSeconds?: number;
};

const SERVICE = "Agent Health";

const REFERENCE = "/docs";

const HOME = "/";

const FEED = "/feed.xml";

const PLACES = [
  { href: HOME, name: "Home" },
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
  /** Scheme, host and port of the service. */
  readonly origin: string;
  /** Whether the server has the feed of grade changes. */
  readonly hasFeed: boolean;
  /** mailto: or https: URI for vulnerability reports; null if none is set. */
  readonly securityContact: string | null;
};

/** The frame of a server, with links to its own pages only. `served` are their paths. */
export function frameOf({
  served,
  ...frame
}: Omit<PageFrame, "places" | "hasFeed"> & { readonly served: ReadonlySet<string> }): PageFrame {
  return { ...frame, places: PLACES.filter(({ href }) => served.has(href)), hasFeed: served.has(FEED) };
}

/** The page that error pages link to: the first one of the server. */
export function homeOf({ places }: PageFrame): string {
  return places[0]?.href ?? REFERENCE;
}

/** A whole HTML page: head, navigation, `main`, footer. It loads own files only. */
export function renderPage(
  { title, path, body, description, image, script, refreshSeconds }: PageContent,
  frame: PageFrame,
): string {
  const whole = path === HOME ? `${SERVICE}: ${title}` : `${title} · ${SERVICE}`;
  return String(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${whole}</title>
${description === undefined ? html`<meta name="robots" content="noindex">` : renderPreview({ title: whole, description, url: `${frame.origin}${path}`, image: `${frame.origin}${image ?? "/og.png"}` })}
<meta name="color-scheme" content="light dark">
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="icon" href="/favicon.ico" sizes="32x32">
<link rel="apple-touch-icon" href="/apple-touch-icon.png">
${frame.hasFeed ? html`<link rel="alternate" type="application/atom+xml" title="Changes of grade" href="${FEED}">` : ""}
<link rel="stylesheet" href="${STYLE_HREF}">
<script type="module" src="${frame.scripts}/page.js"></script>
${script === undefined ? "" : html`<script type="module" src="${frame.scripts}/${script}"></script>`}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
${renderHeader(path, frame)}
<main id="main"${refreshSeconds === undefined ? "" : html` data-refresh="${refreshSeconds}"`}>
${body}
</main>
${renderFooter(frame)}
</body>
</html>
`);
}

/** Metadata for search engines and link previews. */
function renderPreview({
  title,
  description,
  url,
  image,
}: Readonly<Record<"title" | "description" | "url" | "image", string>>): Fragment {
  return html`<meta name="description" content="${description}">
<link rel="canonical" href="${url}">
<meta property="og:type" content="website">
<meta property="og:site_name" content="${SERVICE}">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">
<meta property="og:url" content="${url}">
<meta property="og:image" content="${image}">
<meta property="og:image:width" content="1200">
<meta property="og:image:height" content="630">
<meta name="twitter:card" content="summary_large_image">`;
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

function renderFooter({ document, hasFeed, securityContact }: PageFrame): Fragment {
  return html`<footer class="bottom"><div class="wide">
<p>Scores are computed from on-chain activity, and anyone can recompute them. A wallet without enough history has no score; that is not a bad score.</p>
<ul>${hasFeed ? html`<li><a href="${FEED}">Feed</a></li>` : ""}<li><a href="${REFERENCE}">API reference</a></li><li><a href="${document}">OpenAPI</a></li><li><a href="/llms.txt">llms.txt</a></li>${securityContact === null ? "" : html`<li><a href="${securityContact}">Report a vulnerability</a></li>`}</ul>
</div></footer>`;
}

function isWithin(path: string, place: string): boolean {
  return path === place || path.startsWith(`${place}/`);
}
