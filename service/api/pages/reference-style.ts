/** The reference page's whole style: readable on a phone and in the dark, without any other file. */
export const REFERENCE_STYLE = `
:root { color-scheme: light dark; --ink: #1a1d21; --soft: #59636e; --paper: #fff; --panel: #f5f7f9; --line: #d6dbe0; --accent: #0a58ca; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e7ea; --soft: #9aa4ae; --paper: #14171a; --panel: #1d2125; --line: #333a41; --accent: #7ab1ff; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 56rem; padding: 1rem; background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: break-word; }
a { color: var(--accent); }
h1 { font-size: 1.6rem; } h2 { font-size: 1.25rem; margin-top: 2.5rem; } h3 { font-size: 1.05rem; margin: 0; }
code, pre { font-family: ui-monospace, monospace; font-size: .875rem; }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: .375rem; padding: .75rem; overflow-x: auto; }
article { border: 1px solid var(--line); border-radius: .5rem; padding: 1rem; margin: 1rem 0; }
.method { background: var(--accent); color: var(--paper); border-radius: .25rem; padding: .1rem .4rem; font-size: .8rem; }
.price { color: var(--soft); font-size: .9rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem .35rem 0; border-bottom: 1px solid var(--line); }
td code, h3 code { overflow-wrap: break-word; }
.index td:first-child { min-width: 26rem; }
.index td:first-child code { overflow-wrap: anywhere; }
.once { white-space: nowrap; }
.members td:first-child code { white-space: nowrap; }
dt { font-weight: 600; margin-top: .75rem; } dd { margin: 0; }
@media (max-width: 40rem) {
  thead { display: none; }
  tr { display: block; padding: .5rem 0; border-bottom: 1px solid var(--line); }
  td { display: block; border: 0; padding: .1rem 0; }
  .index td:first-child { min-width: 0; }
  td code, h3 code, .members td:first-child code { white-space: normal; overflow-wrap: anywhere; }
}
:target { outline: 2px solid var(--accent); }
`;
