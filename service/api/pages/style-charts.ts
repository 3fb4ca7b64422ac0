/** Charts: SVG whose parts take the colours of grades by class, so that no page needs a style of its own. */
export const CHART_STYLE = `
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
