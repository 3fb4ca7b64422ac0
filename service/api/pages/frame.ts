import { html } from "hono/html";
import type { Fragment } from "./prose.ts";
import { STYLE_HREF } from "./style.ts";

/** What one page puts into the frame that all have. */
export type PageContent = {
  /** Of the browser's window, without the service's name. */
  readonly title: string;
  /** Path of the page, by which the navigation marks where one is. */
  readonly path: string;
  readonly body: Fragment;
  /** A sentence for search engines; absent for pages that they are not to keep. */
  readonly description?: string;
  /** A file of service/api/pages/scripts, such as copy.js. */
  readonly script?: string;
};

const SERVICE = "Agent Health";

const PLACES = [
  ["/leaderboard", "Leaderboard"],
  ["/status", "Status"],
  ["/docs", "API"],
  ["/account", "Account"],
] as const;

/** A whole HTML page: head, navigation, the body in `main`, footer; it loads nothing but files of ours. */
export function renderPage({ title, path, body, description, script }: PageContent): string {
  return String(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${path === "/" ? `${SERVICE}: ${title}` : `${title} · ${SERVICE}`}</title>
${description === undefined ? html`<meta name="robots" content="noindex">` : html`<meta name="description" content="${description}">`}
<meta name="color-scheme" content="light dark">
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${STYLE_HREF}">
${script === undefined ? "" : html`<script type="module" src="/assets/${script}"></script>`}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
${renderHeader(path)}
<main id="main">
${body}
</main>
${renderFooter()}
</body>
</html>
`);
}

function renderHeader(path: string): Fragment {
  return html`<header class="top"><div class="wide">
<a class="brand" href="/"${path === "/" ? html` aria-current="page"` : ""}>${renderMark()}<span>${SERVICE}</span></a>
<nav aria-label="Main"><ul>${PLACES.map(
    ([href, name]) =>
      html`<li><a href="${href}"${isWithin(path, href) ? html` aria-current="page"` : ""}>${name}</a></li>`,
  )}</ul></nav>
</div></header>`;
}

/** A ruler's ticks, one of them read off: the sign of the service. */
function renderMark(): Fragment {
  return html`<svg class="mark" viewBox="0 0 28 24" width="28" height="24" aria-hidden="true" focusable="false"><path class="mark-ticks" d="M2 24V14M8 24V9M20 24V9M26 24V14"/><path class="mark-read" d="M14 24V1"/></svg>`;
}

function renderFooter(): Fragment {
  return html`<footer class="bottom"><div class="wide">
<p>Scores come from what wallets did on chain, and each can be recomputed from its inputs. A wallet without enough history has no score, which is not a bad one.</p>
<ul><li><a href="/docs">API reference</a></li><li><a href="/openapi.json">OpenAPI</a></li><li><a href="/llms.txt">llms.txt</a></li><li><a href="/.well-known/security.txt">Report a weakness</a></li></ul>
</div></footer>`;
}

function isWithin(path: string, place: string): boolean {
  return path === place || path.startsWith(`${place}/`);
}
