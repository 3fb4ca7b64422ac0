import { hash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { Resvg } from "@resvg/resvg-js";
import type { Hono } from "hono";
import { staticDocument } from "../kit/answer.ts";
import type { ApiContext, ApiEnv } from "../kit/api-env.ts";
import { mountPage } from "../kit/mount-endpoints.ts";
import { FONT_FILES, FONT_VERSION, STYLE, STYLE_VERSION } from "./style.ts";

type PageAsset = {
  readonly path: `/${string}`;
  readonly contentType: string;
  readonly body: string | Uint8Array;
  /** The `v` of its URL, which changes with the content; in-path: the path changes; null: the URL never changes. */
  readonly version: { readonly v: string } | "in-path" | null;
};

const FOR_GOOD = "public, max-age=31536000, immutable";
const FOR_MINUTES = "public, max-age=300";

/** The logo; its strokes are visible on light and dark tabs. */
const FAVICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#3942bd"/><path d="M5 25v-8M10.5 25V13M21.5 25V13M27 25v-8" stroke="#c3caff" stroke-width="2.5" fill="none"/><path d="M16 25V6" stroke="#fff" stroke-width="3" fill="none"/></svg>\n`;

/** The logo in pixels, for browsers and phones without SVG icons. */
function drawIcon(size: number): Uint8Array {
  return new Resvg(FAVICON, { fitTo: { mode: "width", value: size } }).render().asPng();
}

/** An .ico file of one PNG: a directory of 6 bytes, an entry of 16, the picture. */
function iconFile(png: Uint8Array, size: number): Uint8Array {
  const head = Buffer.alloc(22);
  head.writeUInt16LE(1, 2);
  head.writeUInt16LE(1, 4);
  head.writeUInt8(size, 6);
  head.writeUInt8(size, 7);
  head.writeUInt16LE(1, 10);
  head.writeUInt16LE(32, 12);
  head.writeUInt32LE(png.length, 14);
  head.writeUInt32LE(head.length, 18);
  return Buffer.concat([head, png]);
}

/**
 * Reads the fonts from their package and the scripts from their folder. `scripts` is the path of that folder, with one
 * version for all, so that no script imports another version. `viewer` is the path of Redoc.
 */
export function loadPageAssets(): { assets: readonly PageAsset[]; scripts: string; viewer: string } {
  const viewer = readViewer();
  const fonts = new URL("files/", import.meta.resolve("@fontsource/inter/package.json"));
  const folder = new URL("scripts/", import.meta.url);
  const texts = readdirSync(folder)
    .toSorted()
    .map((name) => ({ name, body: readFileSync(new URL(name, folder), "utf8") }));
  const scripts = `/assets/${hash("sha256", JSON.stringify(texts), "hex").slice(0, 16)}` as const;
  return {
    scripts,
    viewer: viewer.path,
    assets: [
      { path: "/favicon.ico", contentType: "image/x-icon", body: iconFile(drawIcon(32), 32), version: null },
      { path: "/apple-touch-icon.png", contentType: "image/png", body: drawIcon(180), version: null },
      viewer,
      ...FONT_FILES.map((name): PageAsset => {
        const body = new Uint8Array(readFileSync(new URL(name, fonts)));
        return { path: `/assets/${name}`, contentType: "font/woff2", body, version: { v: FONT_VERSION } };
      }),
      ...texts.map(({ name, body }): PageAsset => {
        const contentType = "text/javascript; charset=utf-8";
        return { path: `${scripts}/${name}`, contentType, body, version: "in-path" };
      }),
    ],
  };
}

/** An image that Redoc would load from a CDN. */
const REMOTE_LOGO = "https://cdn.redoc.ly/redoc/logo-mini.svg";

/** Redoc's bundle, without its remote image. */
function readViewer(): PageAsset {
  const bundle = readFileSync(new URL(import.meta.resolve("redoc/bundles/redoc.standalone.js")), "utf8");
  if (!bundle.includes(REMOTE_LOGO)) throw new Error(`Redoc's bundle does not name ${REMOTE_LOGO}`);
  const body = bundle.replaceAll(REMOTE_LOGO, "data:,");
  const version = hash("sha256", body, "hex").slice(0, 16);
  const contentType = "text/javascript; charset=utf-8";
  return { path: `/assets/redoc-${version}.js`, contentType, body, version: "in-path" };
}

const OWN_TEXTS: readonly PageAsset[] = [
  {
    path: "/assets/style.css",
    contentType: "text/css; charset=utf-8",
    body: STYLE,
    version: { v: STYLE_VERSION },
  },
  { path: "/favicon.svg", contentType: "image/svg+xml", body: FAVICON, version: null },
];

/** Mounts stylesheet, logo, robots.txt and loaded files. URLs with a version are immutable. */
export function mountAssets(
  app: Hono<ApiEnv>,
  { loaded, origin }: { readonly loaded: readonly PageAsset[]; readonly origin: string },
): void {
  const robots: PageAsset = {
    path: "/robots.txt",
    contentType: "text/plain; charset=utf-8",
    body: `User-agent: *\nDisallow: /account\nAllow: /\nSitemap: ${origin}/sitemap.xml\n`,
    version: null,
  };
  for (const { path, contentType, body, version } of [...OWN_TEXTS, robots, ...loaded]) {
    const headers = (context: ApiContext) => {
      const isVersioned = version === "in-path" || (version !== null && context.req.query("v") === version.v);
      return { "content-type": contentType, "cache-control": isVersioned ? FOR_GOOD : FOR_MINUTES };
    };
    mountPage(app, path, staticDocument(body, headers));
  }
}
