/** The reference pages: one article for each endpoint, and tables that become lists on a phone. */
export const REFERENCE_STYLE = `
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
