/** Parts of the account, verdict and status pages alone. */
export const ACCOUNT_STYLE = `
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
