/** Parts of single pages: the dashboard's head, the leaderboard's rows, the wallet's reading and what was bought of it. */
export const PAGE_STYLE = `
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
