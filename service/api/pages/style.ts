import { createHash } from "node:crypto";
import { REFERENCE_STYLE } from "./reference-style.ts";
import { ACCOUNT_STYLE } from "./style-account.ts";
import { CHART_STYLE } from "./style-charts.ts";
import { PAGE_STYLE } from "./style-pages.ts";
import { PART_STYLE } from "./style-parts.ts";

/** Of the package @fontsource/inter, so that a new one is fetched under a new URL. */
export const FONT_VERSION = "5.3.0";

const WEIGHTS = [400, 500, 600] as const;

/** Subsets of Inter with the characters that each is fetched for, as the package has them. */
const SUBSETS = [
  [
    "latin",
    "U+0000-00FF,U+0131,U+0152-0153,U+02BB-02BC,U+02C6,U+02DA,U+02DC,U+0304,U+0308,U+0329,U+2000-206F,U+20AC,U+2122,U+2191,U+2193,U+2212,U+2215,U+FEFF,U+FFFD",
  ],
  [
    "latin-ext",
    "U+0100-02BA,U+02BD-02C5,U+02C7-02CC,U+02CE-02D7,U+02DD-02FF,U+0304,U+0308,U+0329,U+1D00-1DBF,U+1E00-1E9F,U+1EF2-1EFF,U+2020,U+20A0-20AB,U+20AD-20C0,U+2113,U+2C60-2C7F,U+A720-A7FF",
  ],
] as const;

/** Files of the package that the stylesheet names; each is served as /assets/FILE. */
export const FONT_FILES: readonly string[] = SUBSETS.flatMap(([subset]) =>
  WEIGHTS.map((weight) => `inter-${subset}-${weight}-normal.woff2`),
);

const FONT_FACES = SUBSETS.flatMap(([subset, range]) =>
  WEIGHTS.map(
    (weight) =>
      `@font-face { font-family: Inter; font-weight: ${weight}; font-display: swap; src: url("/assets/inter-${subset}-${weight}-normal.woff2?v=${FONT_VERSION}") format("woff2"); unicode-range: ${range}; }`,
  ),
).join("\n");

/** Colours by their use; text on paper and sheet has a contrast of 4.5 or more in both schemes. */
const COLOURS = `
:root {
  color-scheme: light dark;
  --ink: #131a30; --soft: #505a77; --paper: #f5f6fa; --sheet: #ffffff; --sunk: #eceef5; --line: #d9deea; --rule: #8a93ad;
  --accent: #3942bd; --accent-strong: #2b3399; --on-accent: #ffffff; --accent-wash: #e9ebfb;
  --a: #0a6e40; --b: #4a6b00; --c: #7d5800; --d: #a04700; --e: #b43310; --f: #ac1030; --none: #505a77;
  --warn: #7d5800; --alarm: #ac1030;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #eef1fb; --soft: #a7b1d1; --paper: #0b1020; --sheet: #131a2f; --sunk: #0f1528; --line: #28324f; --rule: #66719a;
    --accent: #a3adff; --accent-strong: #c3caff; --on-accent: #0b1020; --accent-wash: #1d2548;
    --a: #2fd27d; --b: #9bd84a; --c: #f5c542; --d: #ff9a4d; --e: #ff7f5e; --f: #ff7482; --none: #a7b1d1;
    --warn: #f5c542; --alarm: #ff7482;
  }
}`;

const GROUND = `
* { box-sizing: border-box; }
html { scroll-behavior: smooth; -webkit-text-size-adjust: 100%; }
body { margin: 0; min-height: 100vh; display: flex; flex-direction: column; background: var(--paper); color: var(--ink); font: 400 1rem/1.55 Inter, system-ui, sans-serif; font-variant-numeric: tabular-nums; overflow-wrap: break-word; }
main { flex: 1; }
main, .wide { width: 100%; max-width: 70rem; margin: 0 auto; padding: 0 1.25rem; }
main { padding-top: 2.25rem; padding-bottom: 4rem; }
h1, h2, h3 { font-weight: 600; line-height: 1.2; letter-spacing: -.015em; text-wrap: balance; }
h1 { font-size: clamp(1.7rem, 1.3rem + 1.8vw, 2.4rem); letter-spacing: -.025em; margin: 0 0 .75rem; }
h2 { font-size: 1.2rem; margin: 0 0 .75rem; }
h3 { font-size: 1rem; margin: 1.25rem 0 .4rem; }
p { margin: 0 0 .8rem; max-width: 66ch; }
a { color: var(--accent); text-underline-offset: .18em; text-decoration-thickness: 1px; }
a:hover { color: var(--accent-strong); text-decoration-thickness: 2px; }
strong, b { font-weight: 600; }
code, pre, .mono { font-family: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .875em; }
.mono { overflow-wrap: anywhere; }
pre { margin: 0 0 .8rem; padding: .8rem 1rem; overflow-x: auto; background: var(--sunk); border: 1px solid var(--line); border-radius: .5rem; font-size: .8125rem; line-height: 1.6; }
pre code { font-size: 1em; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: .2rem; }
:target { scroll-margin-top: 1rem; }
.skip { position: absolute; left: -999rem; top: .5rem; padding: .5rem .9rem; background: var(--accent); color: var(--on-accent); border-radius: .4rem; z-index: 1; }
.skip:focus { left: .5rem; }
.top { background: var(--sheet); border-bottom: 1px solid var(--line); }
.top .wide { display: flex; flex-wrap: wrap; align-items: center; gap: .1rem 2rem; padding-top: .7rem; padding-bottom: .7rem; }
.brand { display: inline-flex; align-items: center; gap: .6rem; min-height: 2.25rem; color: var(--ink); font-weight: 600; letter-spacing: -.015em; text-decoration: none; }
.brand:hover { color: var(--accent); }
.mark { display: block; }
.mark path { fill: none; stroke-width: 2; }
.mark-ticks { stroke: var(--rule); }
.mark-read { stroke: var(--accent); }
nav ul, .bottom ul { display: flex; flex-wrap: wrap; gap: .1rem 1.4rem; margin: 0; padding: 0; list-style: none; }
nav a { display: inline-block; padding: .45rem 0; color: var(--soft); text-decoration: none; font-weight: 500; font-size: .9375rem; border-bottom: 2px solid transparent; }
nav a:hover { color: var(--ink); border-color: var(--line); }
nav a[aria-current] { color: var(--ink); border-color: var(--accent); }
.bottom { border-top: 1px solid var(--line); color: var(--soft); font-size: .875rem; }
.bottom .wide { display: flex; flex-wrap: wrap; justify-content: space-between; gap: .75rem 3rem; padding-top: 1.5rem; padding-bottom: 2rem; }
.bottom p { margin: 0; max-width: 58ch; }
.bottom a { color: var(--soft); }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
@media print { .top nav, .bottom, .skip { display: none; } }`;

/** The one stylesheet of all pages. */
export const STYLE = `${FONT_FACES}${COLOURS}${GROUND}${PART_STYLE}${CHART_STYLE}${ACCOUNT_STYLE}${PAGE_STYLE}${REFERENCE_STYLE}\n`;

/** Hex, of the stylesheet: its URL is new whenever it is. */
export const STYLE_VERSION = createHash("sha256").update(STYLE).digest("hex").slice(0, 16);

export const STYLE_HREF = `/assets/style.css?v=${STYLE_VERSION}`;
