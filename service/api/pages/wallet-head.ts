import { html } from "hono/html";
import type { Address } from "viem";
import { Problem } from "../../access/problems.ts";
import type { AgentCard } from "../../registries/documents/agent-cards.ts";
import { isLookalikeName, printableName } from "../../reports/labels/chain-labels.ts";
import type { WalletSnapshot } from "../../scores/stored-score.ts";
import type { ApiContext } from "../kit/api-env.ts";
import { getAhsHistory } from "../routes/get-ahs-history.ts";
import { getOwnerCluster } from "../routes/get-owner-cluster.ts";
import { addressSchema, toEip55 } from "../schemas/values.ts";
import { comparePath } from "./compare-page.ts";
import type { PageRuntime } from "./page.ts";
import type { PagePorts } from "./page-ports.ts";
import { chainWords, copyable, explorerLink, shortHex, strangeText, timeTag } from "./page-words.ts";
import type { Fragment } from "./prose.ts";
import { SOLD_REPORTS } from "./reports/sold-reports.ts";

/** The facts at the top of every tab of a wallet. */
export type WalletHead = {
  /** Lower-case. */
  readonly address: Address;
  readonly chain: PagePorts["chain"];
  readonly snapshot: WalletSnapshot;
  readonly agents: Awaited<ReturnType<PagePorts["wallets"]["agents"]>>;
  /** Path templates of the server's endpoints: reports of others have no tab. */
  readonly served: ReadonlySet<string>;
};

/** Characters of a wrong address that its page shows. */
const SHOWN_CHARACTERS = 60;

/** The address in the path. Throws a 404 that says what is wrong with it. */
export function addressOf(context: ApiContext): Address {
  const given = context.req.param("address") ?? "";
  const parsed = addressSchema.safeParse(given);
  if (parsed.success) return parsed.data;
  const lower = given.toLowerCase();
  const right = /^0x[0-9a-f]{40}$/.test(lower) ? toEip55(lower as Address) : null;
  throw new Problem(
    "not-found",
    right === null
      ? `Expected 0x and 40 hexadecimal digits, got \`${strangeText(given, SHOWN_CHARACTERS)}\`.`
      : `Checksum mismatch: the letters of this address have the wrong case. Did you mean \`${right}\`?`,
    { heading: "Not a valid address" },
  );
}

export async function readHead(address: Address, { ports, served }: PageRuntime): Promise<WalletHead> {
  const [snapshot, agents] = await Promise.all([
    ports.wallets.snapshot(address),
    ports.wallets.agents(address),
  ]);
  return { address, chain: ports.chain, snapshot, agents, served };
}

/** The wallet by the name of its first agent, else by its short address. */
export function walletName({ address, agents }: Pick<WalletHead, "address" | "agents">): string {
  return shownName(agents.cards[0]) ?? `Wallet ${shortHex(toEip55(address))}`;
}

/** Null for an agent without a name, and for a name that resembles a known one. */
export function shownName(card: Pick<AgentCard, "name"> | undefined): string | null {
  if (card === undefined || card.name === null || isLookalikeName(card.name)) return null;
  const name = printableName(card.name);
  return name === "" ? null : name;
}

/** Name, address, warnings and tabs. `tab` is the slug of the tab that is shown; null for the overview. */
export function renderWalletHead(head: WalletHead, tab: string | null): Fragment {
  const address = toEip55(head.address);
  const { cards, agents } = head.agents;
  const [first] = cards;
  const name = shownName(first);
  return html`<p class="eyebrow">Wallet on ${chainWords(head.chain.name)}${first === undefined ? "" : html`, agent #${String(first.agentId)}${othersWords(agents)}`}</p>
${name === null ? html`<h1 class="address mono">${shortHex(address)}</h1>` : html`<h1><bdi>${name}</bdi></h1>`}
<p class="address-line">${copyable(address, "the address")}${explorerLink(head.chain, "address", address)} <a class="small whole" href="${comparePath([head.address])}">Compare with …</a></p>
${head.snapshot.sanctions.length === 0 ? "" : renderSanctions(head.snapshot)}
${head.snapshot.threats.length === 0 ? "" : renderThreats(head.snapshot)}
${renderTabs(head, tab)}`;
}

/** The slug of the tab with the stored scores. */
export const HISTORY_TAB = "history";
/** The slug of the tab with the wallets of its owner. */
export const OWNER_TAB = "owner";

function othersWords(agents: number): string {
  if (agents < 2) return "";
  if (agents >= 100) return " and 99 or more others";
  return agents === 2 ? " and another" : ` and ${agents - 1} others`;
}

function renderTabs({ address, served }: WalletHead, tab: string | null): Fragment {
  const path = `/wallet/${toEip55(address)}`;
  const tabs = [
    { slug: null, title: "Overview" },
    ...(served.has(getAhsHistory.path) ? [{ slug: HISTORY_TAB, title: "History" }] : []),
    ...(served.has(getOwnerCluster.path) ? [{ slug: OWNER_TAB, title: "Owner" }] : []),
    ...SOLD_REPORTS.filter(({ endpoint }) => served.has(endpoint.path)),
  ];
  return html`<nav class="tabs" aria-label="Reports"><ul>${tabs.map(
    ({ slug, title }) =>
      html`<li><a href="${slug === null ? path : `${path}/${slug}`}"${slug === tab ? html` aria-current="page"` : ""}>${title}</a></li>`,
  )}</ul></nav>`;
}

function renderSanctions({ sanctions }: WalletSnapshot): Fragment {
  return html`<div class="notice alarm"><p><b>This wallet is sanctioned.</b> Payments to it are rejected, even if it is on an allowlist.</p>
<ul class="plain">${sanctions.map(
    ({ source, reference, detected_at }) =>
      html`<li><b>${SOURCES[source]}</b>, listed as <code>${reference}</code>, seen ${timeTag(new Date(detected_at))}</li>`,
  )}</ul></div>`;
}

function renderThreats({ threats }: WalletSnapshot): Fragment {
  return html`<div class="notice warn"><p><b>This wallet is on a list of threats.</b> The list does not change its score. A routing policy can hold or reject payments to it by <code>threat_action</code>.</p>
<ul class="plain">${threats.map(
    ({ list, kind, source, listed_at }) =>
      html`<li><b>${kind}</b> by <code>${list}</code> of ${source}, seen ${timeTag(new Date(listed_at))}</li>`,
  )}</ul></div>`;
}

const SOURCES = { "chainalysis-oracle": "Sanctions list contract", "ofac-sdn": "OFAC SDN list" } as const;
