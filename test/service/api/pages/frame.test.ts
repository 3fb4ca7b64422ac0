import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { SCORING_INTERFACE } from "../../../../service/api/create-app.ts";
import { createInterfaceApp } from "../../../../service/api/create-interface.ts";
import { loadPageAssets } from "../../../../service/api/pages/assets.ts";
import { FONT_FILES, FONT_VERSION, STYLE, STYLE_HREF } from "../../../../service/api/pages/style.ts";
import { fakeApp, fakePorts } from "../fake-ports.ts";
import { fakePublicPages, pagesApp } from "./fake-public-pages.ts";

const BROWSER = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };
const { app } = fakeApp({ pages: { ...fakePublicPages(), ...loadPageAssets() } });

describe("pages", () => {
  test("load nothing but files of ours, all of which are there", async () => {
    const answer = await app.request("/");
    const html = await answer.text();
    expect(answer.headers.get("content-security-policy")).toMatch(/^default-src 'none'; style-src 'self';/);
    expect(html).not.toMatch(/ style="|<style|<script(?![^>]* src="\/assets\/)|src="https?:/);
    for (const [link] of html.matchAll(/<[^>]* href="https?:[^>]*>/g))
      expect(link).toContain('rel="canonical"');
    const named = [
      STYLE_HREF,
      "/favicon.svg",
      "/favicon.ico",
      "/apple-touch-icon.png",
      "/feed.xml",
      "/sitemap.xml",
      "/robots.txt",
      ...[...STYLE.matchAll(/url\("([^"]+)"\)/g)].map(([, url]) => url ?? ""),
    ];
    expect(html).toContain(`href="${STYLE_HREF}"`);
    for (const path of named) expect((await app.request(path)).status, path).toBe(200);
  });

  test("have their files cached for good under a URL that changes with them, and shortly under any other", async () => {
    const cached = async (path: string) => (await app.request(path)).headers.get("cache-control");
    expect(await cached(STYLE_HREF)).toBe("public, max-age=31536000, immutable");
    expect(await cached("/assets/style.css")).toBe("public, max-age=300");
    expect(await cached(`/assets/${FONT_FILES[0]}?v=${FONT_VERSION}`)).toContain("immutable");
    const installed = new URL(import.meta.resolve("@fontsource/inter/package.json"));
    expect(JSON.parse(readFileSync(installed, "utf8")).version).toBe(FONT_VERSION);
  });

  test("load scripts, and those that these import, from one folder whose name changes with any of them", async () => {
    const html = await (await app.request(`/account`)).text();
    const open = [...html.matchAll(/<script type="module" src="([^"]+)"/g)].map(([, src]) => src ?? "");
    for (const src of open) expect(src).toMatch(/^\/assets\/[0-9a-f]{16}\/[a-z-]+\.js$/);
    for (const path of open) {
      const answer = await app.request(path);
      expect([path, answer.status, answer.headers.get("cache-control")]).toEqual([
        path,
        200,
        "public, max-age=31536000, immutable",
      ]);
      for (const [, name] of (await answer.text()).matchAll(/^import [^"]*"\.\/([a-z0-9-]+\.js)";$/gm))
        open.push(new URL(name ?? "", `http://h${path}`).pathname);
    }
    expect(open.length).toBeGreaterThan(5);
    expect((await app.request("/assets/0123456789abcdef/copy.js")).status).toBe(404);
  });

  test("lead to nothing that the server has not", async () => {
    const { ports } = fakePorts({ pages: fakePublicPages() });
    const alone = createInterfaceApp(ports, [
      { ...SCORING_INTERFACE, endpoints: [], documentPath: "/v1/openapi.json", referencePath: "/v1/docs" },
    ]);
    for (const path of ["/nowhere", "/status", "/v1/docs"]) {
      const html = await (await alone.request(path, { headers: BROWSER })).text();
      const [header = "", footer = ""] = [/<header class="top">.*?<\/header>/s, /<footer.*<\/footer>/s].map(
        (part) => part.exec(html)?.[0],
      );
      const actions = [...html.matchAll(/<p class="actions">.*?<\/p>/gs)].join("");
      for (const [, href = ""] of `${header}${footer}${actions}`.matchAll(/href="(\/[^"]*)"/g))
        expect([path, href, (await alone.request(href)).status]).not.toEqual([path, href, 404]);
      expect(header).toContain("/status");
      expect(header).not.toContain("/leaderboard");
    }
  });

  test("answer for a missing page in words to a browser, and by a problem to a program", async () => {
    const shown = await app.request("/nowhere", { headers: BROWSER });
    expect([shown.status, shown.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
    expect(await shown.text()).toContain("There is no /nowhere here");
    for (const accept of ["*/*", "application/json", "application/json, text/html"]) {
      const answer = await app.request("/nowhere", { headers: { accept } });
      expect([answer.status, answer.headers.get("content-type")]).toEqual([404, "application/problem+json"]);
    }
    const endpoint = await app.request("/ahs/0x12", { headers: BROWSER });
    expect(endpoint.headers.get("content-type")).toBe("application/json");
  });

  test("take no other method than they have", async () => {
    const refused = await app.request("/leaderboard", { method: "DELETE" });
    expect([refused.status, refused.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
    const asked = await app.request("/leaderboard", { method: "OPTIONS" });
    expect([asked.status, asked.headers.get("allow")]).toEqual([204, "GET, HEAD, OPTIONS"]);
  });

  test("say in words that the database is out of reach, and count under their route", async () => {
    const failure = Object.assign(new Error("connect"), { code: "ECONNREFUSED", syscall: "connect" });
    const broken = pagesApp(
      fakePublicPages({
        nights: async () => {
          throw failure;
        },
      }),
    );
    const answer = await broken.app.request("/");
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(await answer.text()).toContain("The database does not answer.");
    expect(await broken.ports.registry.metrics()).toContain(
      'ahs_http_requests_total{route="/",method="GET",status="503"} 1',
    );
  });
});

describe("colours", () => {
  const schemes = [...STYLE.matchAll(/:root \{([^}]+)\}/g)].map(([, body]) =>
    Object.fromEntries(
      [...(body ?? "").matchAll(/--([a-z-]+): (#[0-9a-f]{6})/g)].map(([, name, value]) => [name, value]),
    ),
  );
  const texts = ["ink", "soft", "accent", "a", "b", "c", "d", "e", "f", "none", "warn", "alarm"];

  test.each([0, 1])("are readable in scheme %i, on paper, sheets and sunk parts", (scheme) => {
    const colours = schemes[scheme] ?? {};
    for (const text of texts)
      for (const ground of ["paper", "sheet", "sunk"])
        expect(contrast(colours[text], colours[ground]), `${text} on ${ground}`).toBeGreaterThanOrEqual(4.5);
    expect(contrast(colours["on-accent"], colours.accent)).toBeGreaterThanOrEqual(4.5);
    expect(contrast(colours.rule, colours.sheet)).toBeGreaterThanOrEqual(3);
  });
});

/** WCAG 2.2, relative luminance and contrast ratio. */
function contrast(one: string | undefined, other: string | undefined): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour = "#000000"): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
