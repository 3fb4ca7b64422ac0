import { createHash } from "node:crypto";

/**
 * Elements of pages: .panel (a sheet), .grid (panels side by side), .lead, .eyebrow, .quiet, .facts (dl of name and value),
 * .stats (dl of large numbers), .grade .grade-A…F/.grade-none, .chip, .notice (.warn, .alarm), .button (.plain), .field, .form-row,
 * table in .scroll (table.stack becomes cards on a phone, its cells named by data-name), .steps, .hidden (for screen readers).
 */
const PART_STYLE = `
.lead { font-size: 1.125rem; line-height: 1.5; color: var(--soft); max-width: 60ch; margin-bottom: 1.5rem; }
.eyebrow { margin: 0 0 .4rem; color: var(--soft); font-size: .875rem; font-weight: 500; }
.quiet { color: var(--soft); }
.small { font-size: .875rem; }
.whole { white-space: nowrap; }
.hidden { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.panel { margin: 0 0 1.25rem; padding: 1.4rem 1.5rem 1.5rem; background: var(--sheet); border: 1px solid var(--line); border-radius: .75rem; }
.panel > :last-child { margin-bottom: 0; }
.grid { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); gap: 1.25rem; margin-bottom: 1.25rem; align-items: start; }
.grid > .panel { margin: 0; height: 100%; min-width: 0; }
.facts { margin: 0 0 .8rem; display: grid; grid-template-columns: minmax(7rem, auto) 1fr; gap: .45rem 1.25rem; }
.facts > div { display: contents; }
.facts dt { color: var(--soft); font-size: .9375rem; }
.facts dd { margin: 0; min-width: 0; overflow-wrap: anywhere; }
.stats { margin: 0 0 1.25rem; display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); border-block: 1px solid var(--line); }
.stats > div { padding: .9rem 1rem .9rem 0; display: flex; flex-direction: column-reverse; justify-content: flex-end; }
.stats dt { color: var(--soft); font-size: .875rem; }
.stats dd { margin: 0; font-size: 1.6rem; font-weight: 600; line-height: 1.2; letter-spacing: -.02em; }
.grade { --g: var(--none); display: inline-flex; align-items: center; justify-content: center; min-width: 1.75rem; height: 1.75rem; padding: 0 .45rem; border-radius: .4rem; border: 1.5px solid var(--g); color: var(--g); font-weight: 600; font-size: .9375rem; line-height: 1; white-space: nowrap; }
.grade-A { --g: var(--a); } .grade-B { --g: var(--b); } .grade-C { --g: var(--c); } .grade-D { --g: var(--d); } .grade-E { --g: var(--e); } .grade-F { --g: var(--f); } .grade-none { --g: var(--none); border-style: dashed; }
.chip { display: inline-block; padding: .12rem .55rem; border-radius: 1rem; background: var(--sunk); border: 1px solid var(--line); color: var(--ink); font-size: .8125rem; font-weight: 500; white-space: nowrap; }
.chip.alarm { color: var(--alarm); border-color: currentColor; background: none; }
.chip.warn { color: var(--warn); border-color: currentColor; background: none; }
.notice { margin: 0 0 1.25rem; padding: .9rem 1.1rem; border: 1px solid var(--line); border-left: 4px solid var(--accent); border-radius: .5rem; background: var(--sheet); }
.notice.warn { border-left-color: var(--warn); }
.notice.alarm { border-left-color: var(--alarm); }
.notice > :last-child { margin-bottom: 0; }
.button { display: inline-flex; align-items: center; justify-content: center; min-height: 2.75rem; padding: .5rem 1.15rem; border: 1px solid var(--accent); border-radius: .5rem; background: var(--accent); color: var(--on-accent); font: 500 1rem/1.2 Inter, system-ui, sans-serif; text-decoration: none; cursor: pointer; }
.button:hover { background: var(--accent-strong); border-color: var(--accent-strong); color: var(--on-accent); }
.button.plain { background: transparent; color: var(--accent); }
.button.plain:hover { background: var(--accent-wash); color: var(--accent-strong); }
.button[disabled] { opacity: .55; cursor: not-allowed; }
.field { display: flex; flex-direction: column; gap: .3rem; min-width: 0; flex: 1 1 16rem; }
.field label, .label { font-weight: 500; font-size: .9375rem; }
.field .hint { color: var(--soft); font-size: .875rem; }
input, select, textarea { width: 100%; min-height: 2.75rem; padding: .5rem .75rem; border: 1px solid var(--rule); border-radius: .5rem; background: var(--sheet); color: var(--ink); font: inherit; }
input::placeholder { color: var(--soft); opacity: 1; }
.form-row { display: flex; flex-wrap: wrap; align-items: flex-end; gap: .75rem; margin: 0 0 1.25rem; }
.scroll { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: .9375rem; }
caption { padding: 0 0 .5rem; color: var(--soft); font-size: .875rem; text-align: left; }
th, td { padding: .55rem 1rem .55rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: middle; }
th { color: var(--soft); font-weight: 500; font-size: .875rem; }
tbody th { color: inherit; font-weight: 500; font-size: inherit; white-space: nowrap; }
tbody tr:last-child > * { border-bottom: 0; }
.number { text-align: right; white-space: nowrap; }
th:last-child, td:last-child { padding-right: 0; }
details > summary { cursor: pointer; color: var(--accent); font-weight: 500; padding: .35rem 0; }
details[open] > summary { margin-bottom: .5rem; }
.steps { margin: 0 0 .8rem; padding-left: 1.3rem; }
.steps li { margin-bottom: .7rem; padding-left: .2rem; }
.actions { display: flex; flex-wrap: wrap; gap: .75rem; margin: 0 0 .8rem; }
@media (max-width: 40rem) {
  main { padding-top: 1.5rem; }
  .panel { padding: 1.1rem 1.1rem 1.2rem; }
  .facts { grid-template-columns: 1fr; gap: 0; }
  .facts dd { margin-bottom: .6rem; }
  .stats { grid-template-columns: 1fr 1fr; }
  .stats > :first-child:nth-last-child(odd) { grid-column: 1 / -1; }
  .stack thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .stack, .stack tbody, .stack tr, .stack td, .stack tbody th { display: block; }
  .stack tr { padding: .7rem 0; border-bottom: 1px solid var(--line); }
  .stack tbody tr:last-child { border-bottom: 0; }
  .stack td, .stack tbody th { padding: .12rem 0; border: 0; text-align: left; white-space: normal; }
  .stack td[data-name]::before { content: attr(data-name) ": "; color: var(--soft); font-size: .875rem; }
}`;

/** Parts of single pages: the dashboard's head, the leaderboard's rows, the wallet's reading and what was bought of it. */
const PAGE_STYLE = `
.hero { padding: 1rem 0 .5rem; }
@media (min-width: 60rem) {
  .open:has(table) { display: grid; grid-template-columns: minmax(0, 1fr) 23rem; gap: 0 2.5rem; align-items: end; }
  .open > h2 { grid-column: 1 / -1; }
}
.open { margin: 0 0 2.5rem; }
.hero .form-row { max-width: 44rem; }
.bare { text-decoration: none; }
.move { display: inline-flex; align-items: center; gap: .5rem; }
.filter { margin: 0 0 1.25rem; }
.filter ul { gap: .4rem; }
.filter a { min-width: 2.75rem; padding: .4rem .8rem; text-align: center; border: 1px solid var(--line); border-radius: .5rem; background: var(--sheet); }
.filter a:hover { border-color: var(--rule); }
.filter a[aria-current] { border-color: var(--accent); background: var(--accent-wash); }
.ranks { margin-bottom: 1rem; }
@media (min-width: 40.01rem) { .ranks td { padding-top: .45rem; padding-bottom: .45rem; } }
.bar .track { fill: var(--sunk); stroke: var(--line); }
@media (max-width: 56rem) { .bar { display: none; } }
@media (max-width: 40rem) {
  .ranks tr { display: grid; grid-template-columns: 5.5rem 1fr 1fr; gap: .15rem .5rem; align-items: baseline; }
  .ranks td:nth-child(3) { grid-row: 1; grid-column: 1; }
  .ranks td.who { grid-row: 1; grid-column: 2 / -1; }
  .ranks td:nth-child(n+4), .ranks td:first-child { grid-row: 2; font-size: .875rem; }
}
@media (max-width: 40rem) {
  .ranks .roomy { display: none; }
  .nights thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .nights tr { display: grid; grid-template-columns: repeat(4, auto); gap: .1rem .5rem; padding: .5rem 0; border-bottom: 1px solid var(--line); }
  .nights tr:last-child { border-bottom: 0; }
  .nights th, .nights td { padding: 0; border: 0; text-align: left; }
  .nights tbody th { grid-column: 1 / -1; }
  .nights td[data-name]::before { content: attr(data-name) " "; color: var(--soft); font-size: .875rem; }
}
.sum .why { display: block; color: var(--soft); font-weight: 400; font-size: .9375rem; }
.sum { max-width: 46rem; }
.sum tbody th { white-space: normal; }
.sum tfoot > tr > * { padding-top: .7rem; border-top: 2px solid var(--rule); border-bottom: 0; color: var(--ink); font-weight: 600; font-size: 1rem; }
.ranks .agent { display: block; font-size: .9375rem; overflow-wrap: anywhere; }
.ranks .score { display: inline-flex; align-items: center; gap: .6rem; }
.address { font-size: clamp(1.05rem, .7rem + 1.6vw, 1.6rem); letter-spacing: 0; line-height: 1.35; }
.reading { display: flex; flex-wrap: wrap; align-items: center; gap: .2rem .7rem; margin: 0 0 .5rem; font-size: 1.125rem; }
.reading-number { font-size: 4rem; font-weight: 600; line-height: 1; letter-spacing: -.04em; }
@media (min-width: 56rem) { .facts.two { grid-template-columns: auto 1fr auto 1fr; } }
.plain { list-style: none; }
ul.plain { margin: 0 0 .8rem; padding: 0; }
ul.plain li { margin-bottom: .6rem; overflow-wrap: anywhere; }
.features { margin: 0 0 .8rem; }
.features > div { display: grid; grid-template-columns: 1fr auto; gap: .1rem 1rem; padding: .6rem 0; border-bottom: 1px solid var(--line); }
.features dt { font-weight: 500; }
.features dd { margin: 0; }
.features .says { grid-column: 1 / -1; color: var(--soft); font-size: .9375rem; }
.points { display: flex; align-items: center; gap: .6rem; font-weight: 600; }
meter { width: 5rem; height: .5rem; border: 0; border-radius: .25rem; background: var(--sunk); }
meter::-webkit-meter-bar { height: .5rem; border: 1px solid var(--line); border-radius: .25rem; background: var(--sunk); }
meter::-webkit-meter-optimum-value { border-radius: .25rem; background: var(--accent); }
meter::-moz-meter-bar { border-radius: .25rem; background: var(--accent); }
.buy { margin: 0; }
.buy p { margin: .5rem 0 0; }
.copyable { display: flex; align-items: flex-start; gap: .5rem; margin-top: .5rem; }
.copyable pre { flex: 1; min-width: 0; }
@media (max-width: 40rem) {
  .copyable { flex-direction: column; }
  .copyable pre { width: 100%; white-space: pre-wrap; overflow-wrap: anywhere; }
}
.copy { min-height: 2.75rem; padding: .2rem .7rem; border: 1px solid var(--rule); border-radius: .4rem; background: var(--sheet); color: var(--ink); font: 500 .8125rem Inter, system-ui, sans-serif; cursor: pointer; }
.copy:hover { border-color: var(--accent); color: var(--accent); }`;

/** Charts: parts of the SVG take the colours of grades by class, so no page needs inline styles. */
const CHART_STYLE = `
.chart { display: block; width: 100%; margin: 0 0 1rem; overflow: visible; }
.chart text { fill: var(--soft); font: 400 12px Inter, system-ui, sans-serif; font-variant-numeric: tabular-nums; }
.chart .strong { fill: var(--ink); font-weight: 600; }
.chart .tick { stroke: var(--line); stroke-width: 1; }
@media (max-width: 34rem) { .chart .edge { display: none; } }
.chart .span { stroke: var(--rule); stroke-width: 1.5; }
.chart .notch { stroke: var(--sheet); stroke-width: 2; }
.chart .line { fill: none; stroke: var(--accent); stroke-width: 2; stroke-linejoin: round; stroke-linecap: round; }
.chart .dot { fill: var(--sheet); stroke: var(--accent); stroke-width: 2; }
.chart .needle { stroke: var(--ink); stroke-width: 2; }
.chart .needle-head { fill: var(--ink); }
.in-A { fill: var(--a); } .in-B { fill: var(--b); } .in-C { fill: var(--c); } .in-D { fill: var(--d); } .in-E { fill: var(--e); } .in-F { fill: var(--f); } .in-none { fill: var(--none); }
.band { opacity: .1; }`;

/** Parts of the account, verdict and status pages. */
const ACCOUNT_STYLE = `
.account-head { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: flex-start; gap: .5rem 1.5rem; margin-bottom: .5rem; }
.account-head h1 { overflow-wrap: anywhere; }
.plain-list { margin: 0 0 .8rem; padding: 0; list-style: none; }
.plain-list li { margin-bottom: .35rem; }
.panel > h3:first-child { margin-top: 0; }
.panel form > :last-child { margin-bottom: 0; }
.panel > .copy { margin-bottom: .9rem; }
.buy .field { flex: 0 1 12rem; }
.recover .field { flex: 0 1 24rem; }
.buy .told { margin: 0 0 .8rem; }
.buy .told:empty { margin: 0; }
.told.good { color: var(--a); }
.told.bad { color: var(--alarm); }
.key { overflow-wrap: anywhere; white-space: pre-wrap; font-size: .9375rem; }
.decision { display: flex; align-items: center; gap: .7rem; letter-spacing: 0; }
.decision::before { content: ""; width: .3rem; height: 1em; border-radius: .15rem; background: currentColor; }
.decision-ALLOW { color: var(--a); }
.decision-HOLD { color: var(--warn); }
.decision-REJECT { color: var(--alarm); }
.strange { overflow-wrap: anywhere; }
blockquote.strange { margin: 0 0 1rem; padding: .1rem 0 .1rem 1rem; border-left: 3px solid var(--line); white-space: pre-wrap; max-width: 72ch; }
ul.strange { margin: 0 0 .8rem; padding-left: 1.2rem; max-width: 72ch; }
ul.strange li { margin-bottom: .35rem; }
.role { border-bottom: 1px solid var(--line); }
.role:last-child { border-bottom: 0; }
.role summary strong { color: var(--ink); }
.role summary { padding: .6rem 0; }
ul.actions { padding: 0; list-style: none; gap: .4rem 1.5rem; }
.headline { display: flex; align-items: center; gap: .7rem; }
.headline::before { content: ""; flex: none; width: .65em; height: .65em; border-radius: 50%; background: var(--a); }
.headline.attention::before { border-radius: .12em; background: var(--warn); }
.state { display: inline-flex; align-items: center; gap: .5rem; font-weight: 500; white-space: nowrap; }
.state::before { content: ""; width: .6rem; height: .6rem; border-radius: 50%; background: var(--a); }
.state-attention { color: var(--warn); }
.state-attention::before { border-radius: .1rem; background: var(--warn); }
.state-off { color: var(--soft); }
.state-off::before { background: none; border: 1.5px solid var(--soft); }`;

/** The reference pages: one article for each endpoint, and tables that become lists on a phone. */
const REFERENCE_STYLE = `
.reference h2 { margin-top: 2.5rem; }
.reference h3 { margin: 0 0 .6rem; overflow-wrap: anywhere; }
.reference article { margin: 0 0 1.25rem; padding: 1.2rem 1.4rem; background: var(--sheet); border: 1px solid var(--line); border-radius: .75rem; }
.reference p, .reference dd { max-width: 66ch; }
.method { margin-right: .35rem; padding: .15rem .45rem; background: var(--accent); color: var(--on-accent); border-radius: .3rem; font-size: .8125rem; }
.price { color: var(--soft); font-size: .9375rem; }
.reference td, .reference th { vertical-align: top; }
.reference td code, .reference h3 code { overflow-wrap: break-word; }
.index td:first-child { min-width: 26rem; }
.index td:first-child code { overflow-wrap: anywhere; }
.once { white-space: nowrap; }
.members td:first-child code { white-space: nowrap; }
.reference dt { font-weight: 600; margin-top: .75rem; }
.reference dd { margin: 0; }
.reference :target { outline: 2px solid var(--accent); }
@media (max-width: 40rem) {
  .reference article { padding: 1rem; }
  .reference thead { display: none; }
  .reference tr { display: block; padding: .5rem 0; border-bottom: 1px solid var(--line); }
  .reference td { display: block; border: 0; padding: .1rem 0; }
  .index td:first-child { min-width: 0; }
  .reference td code, .reference h3 code, .members td:first-child code { white-space: normal; overflow-wrap: anywhere; }
}`;

/** Version of @fontsource/inter: a new version gets a new URL. */
export const FONT_VERSION = "5.3.0";

const WEIGHTS = [400, 500, 600] as const;

/** Subsets of Inter with their characters, as in the package. */
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

/** Colours by use; text on paper and sheet has a contrast of at least 4.5 in both schemes. */
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

/** The stylesheet of all pages. */
export const STYLE = `${FONT_FACES}${COLOURS}${GROUND}${PART_STYLE}${CHART_STYLE}${ACCOUNT_STYLE}${PAGE_STYLE}${REFERENCE_STYLE}\n`;

/** Hash of the stylesheet, part of its URL. */
export const STYLE_VERSION = createHash("sha256").update(STYLE).digest("hex").slice(0, 16);

export const STYLE_HREF = `/assets/style.css?v=${STYLE_VERSION}`;
