/**
 * What pages are made of: .panel (a sheet), .grid (panels side by side), .lead, .eyebrow, .quiet, .facts (dl of name and value),
 * .stats (dl of large numbers), .grade .grade-A…F/.grade-none, .chip, .notice (.warn, .alarm), .button (.plain), .field, .form-row,
 * table in .scroll (table.stack becomes cards on a phone, its cells named by data-name), .steps, .hidden (for screen readers).
 */
export const PART_STYLE = `
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
