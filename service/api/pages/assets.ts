import { readdirSync, readFileSync } from "node:fs";
import type { Hono } from "hono";
import { answer } from "../answer.ts";
import type { ApiEnv } from "../api-env.ts";
import { mountPage } from "../mount-endpoints.ts";
import { FONT_FILES, FONT_VERSION, STYLE, STYLE_VERSION } from "./style.ts";

/** A file that pages load. */
export type PageAsset = {
  readonly path: `/${string}`;
  readonly contentType: string;
  readonly body: string | Uint8Array;
  /** What its URL carries as `v` while it is this content; null for one whose URL stays. */
  readonly version: string | null;
};

const FOR_GOOD = "public, max-age=31536000, immutable";
const FOR_MINUTES = "public, max-age=300";

/** The sign of the service; its strokes are seen on light and dark tabs. */
const FAVICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#3942bd"/><path d="M5 25v-8M10.5 25V13M21.5 25V13M27 25v-8" stroke="#c3caff" stroke-width="2.5" fill="none"/><path d="M16 25V6" stroke="#fff" stroke-width="3" fill="none"/></svg>\n`;

const ROBOTS = "User-agent: *\nDisallow: /account\nAllow: /\n";

/** Reads the fonts from their package and the scripts from their folder, for a server to keep. */
export function loadPageAssets(): readonly PageAsset[] {
  const fonts = new URL("files/", import.meta.resolve("@fontsource/inter/package.json"));
  const scripts = new URL("scripts/", import.meta.url);
  return [
    ...FONT_FILES.map((name): PageAsset => {
      const body = new Uint8Array(readFileSync(new URL(name, fonts)));
      return { path: `/assets/${name}`, contentType: "font/woff2", body, version: FONT_VERSION };
    }),
    ...readdirSync(scripts).map((name): PageAsset => {
      const body = readFileSync(new URL(name, scripts), "utf8");
      const contentType = "text/javascript; charset=utf-8";
      return { path: `/assets/${name}`, contentType, body, version: null };
    }),
  ];
}

const OWN_TEXTS: readonly PageAsset[] = [
  { path: "/assets/style.css", contentType: "text/css; charset=utf-8", body: STYLE, version: STYLE_VERSION },
  { path: "/favicon.svg", contentType: "image/svg+xml", body: FAVICON, version: null },
  { path: "/robots.txt", contentType: "text/plain; charset=utf-8", body: ROBOTS, version: null },
];

/** Mounts the stylesheet, the sign, robots.txt and the loaded files; a URL with its file's version may be kept for good. */
export function mountAssets(app: Hono<ApiEnv>, loaded: readonly PageAsset[]): void {
  for (const { path, contentType, body, version } of [...OWN_TEXTS, ...loaded]) {
    mountPage(app, path, (context) => {
      const isVersioned = version !== null && context.req.query("v") === version;
      return answer(context, {
        status: 200,
        body,
        headers: { "content-type": contentType, "cache-control": isVersioned ? FOR_GOOD : FOR_MINUTES },
      });
    });
  }
}
