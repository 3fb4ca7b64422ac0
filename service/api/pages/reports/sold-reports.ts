import { html } from "hono/html";
import type { Address } from "viem";
import { z } from "zod";
import type { Endpoint } from "../../kit/endpoint.ts";
import { getAgentProtect } from "../../routes/get-agent-protect.ts";
import { getAhs } from "../../routes/get-ahs.ts";
import { getCounterparties } from "../../routes/get-counterparties.ts";
import { counterpartySchema } from "../../routes/get-counterparties-schema.ts";
import { getHealth } from "../../routes/get-health.ts";
import { getNetworkMap, networkMapSchema } from "../../routes/get-network-map.ts";
import { getOptimize } from "../../routes/get-optimize.ts";
import { getReportCard } from "../../routes/get-report-card.ts";
import { getRetry } from "../../routes/get-retry.ts";
import { getRiskPremium } from "../../routes/get-risk-premium.ts";
import { postWash } from "../../routes/post-wash.ts";
import { ahsRecordSchema } from "../../schemas/ahs-record.ts";
import { jsonIn } from "../ask-interface.ts";
import type { Fragment } from "../prose.ts";
import { type GraphEdge, type GraphNode, renderGraph } from "./account-graph.ts";
import { type AnswerLayout, renderAnswer } from "./answer-view.ts";
import { withMoreAccounts, withMoreCounterparties } from "./sample-accounts.ts";
import { renderScoreReport } from "./score-report.ts";

/** A report about a wallet that a tab of its page sells. */
export type SoldReport = {
  /** Last part of the tab's path. */
  readonly slug: string;
  readonly title: string;
  /** Contents of the report in one or two sentences. */
  readonly about: string;
  readonly endpoint: Endpoint;
  /** Query of the request; absent for none. */
  readonly query?: string;
  /** Adds to the example of the document what a drawing needs; absent where that suffices. */
  enrich?(example: unknown): unknown;
  /** Shows a stored answer; null for an answer of another shape or wallet. The example of the document is shown the same way. */
  show(body: string, address: Address): Fragment | null;
};

/** Columns of failed transactions that are not offered again. */
const NOT_RETRIED = ["failure", "reason", "detail"];

/** All reports, in the order of their tabs. */
export const SOLD_REPORTS: readonly SoldReport[] = [
  {
    slug: "score",
    title: "Score",
    about:
      "Both parts of the score and how they add up, the value of each feature, the patterns that cost points, and the history of the score.",
    endpoint: getAhs,
    query: "include=features,history",
    show(body, address) {
      const { data } = ahsRecordSchema.safeParse(jsonIn(body));
      return data !== undefined && isOf(data, address) ? renderScoreReport(data) : null;
    },
  },
  answerReport({
    slug: "health",
    title: "Health",
    about:
      "Success rate, fees lost to failures by cause and method, activity by week, open approvals, and recommendations by severity and saving.",
    endpoint: getHealth,
    layout: {
      first: ["summary", "recommendations", "failures"],
      columns: { activity_by_week: ["week", "calls", "failures", "spent"] },
    },
  }),
  {
    slug: "counterparties",
    title: "Counterparties",
    about:
      "The accounts that the wallet deals with: how often, for how much, their scores, and which of them share its owner.",
    endpoint: getCounterparties,
    enrich: withMoreCounterparties,
    show: showCounterparties,
  },
  {
    slug: "network",
    title: "Network",
    about:
      "A map of the accounts within two hops: who created and funded the wallet, the accounts that it pays, and those of the same owner.",
    endpoint: getNetworkMap,
    enrich: withMoreAccounts,
    show: showNetwork,
  },
  answerReport({
    slug: "gas",
    title: "Gas",
    about:
      "Where the wallet's gas goes by contract and method, which limits fit, and how much a month could save.",
    endpoint: getOptimize,
    layout: {
      first: ["summary", "recommendations", "totals", "methods"],
      columns: { methods: ["method", "contract", "calls", "failures", "spent", "saves_usd_per_month"] },
    },
  }),
  answerReport({
    slug: "retry",
    title: "Retry",
    about:
      "Failed transactions that would succeed now, simulated and ready to sign, and why the others are not offered.",
    endpoint: getRetry,
    layout: {
      first: ["summary", "offers", "not_retried"],
      titles: { not_retried: "Not offered" },
      columns: { not_retried: NOT_RETRIED },
    },
  }),
  answerReport({
    slug: "cleanliness",
    title: "Cleanliness",
    about:
      "Risky approvals, spam tokens, delegations and circular transfers of the wallet, with what to clean up first.",
    endpoint: postWash,
    layout: { first: ["summary", "issues", "deductions", "sanctions_flags"] },
  }),
  answerReport({
    slug: "risk",
    title: "Risk",
    about:
      "Risk level with its reasons, the labels that the chain and third parties have for the wallet, and its profit and loss.",
    endpoint: getRiskPremium,
    layout: {
      first: ["verdict", "risk_level", "risk_score", "reasons", "labels"],
      titles: { pnl: "Profit and loss" },
    },
  }),
  answerReport({
    slug: "protect",
    title: "Protect",
    about:
      "One ranked plan: what to sign now, what blocks the wallet, what costs money, and which checks passed.",
    endpoint: getAgentProtect,
    layout: {
      first: ["summary", "steps", "checks"],
      columns: { not_retried: NOT_RETRIED },
      omit: ["monitoring"],
    },
  }),
  {
    slug: "report-card",
    title: "Report card",
    about: "The score with its benchmark and history as one picture to download and share.",
    endpoint: getReportCard,
    query: "format=svg",
    show: showCard,
  },
];

type AnswerReport = Omit<SoldReport, "show"> & { readonly layout: AnswerLayout };

function answerReport({ layout, ...report }: AnswerReport): SoldReport {
  return {
    ...report,
    show(body, address) {
      const { data } = anyAnswerSchema.safeParse(jsonIn(body));
      return data !== undefined && isOf(data, address) ? renderAnswer(data, layout) : null;
    },
  };
}

const anyAnswerSchema = z.looseObject({ address: z.string() });

function isOf(answer: { readonly address: string }, address: Address): boolean {
  return answer.address.toLowerCase() === address.toLowerCase();
}

const counterpartiesSchema = z.looseObject({
  address: z.string(),
  counterparties: z.array(counterpartySchema),
});
/** Counterparties that are drawn; the table has the first of all. */
const MOST_DRAWN = 16;

function showCounterparties(body: string, address: Address): Fragment | null {
  const { data } = counterpartiesSchema.safeParse(jsonIn(body));
  if (data === undefined || !isOf(data, address)) return null;
  const drawn = data.counterparties.slice(0, MOST_DRAWN);
  const most = Math.max(1, ...drawn.map(({ interactions }) => interactions));
  const own: GraphNode = { address, name: null, grade: null, isFlagged: false, hops: 0 };
  const nodes = drawn.map(
    (one): GraphNode => ({
      address: one.address,
      name: one.name,
      grade: one.grade,
      isFlagged: one.mixer || one.sanctions_flags.length > 0,
      hops: 1,
    }),
  );
  const edges = drawn.map((one): GraphEdge => {
    const label = `${one.calls} calls, ${one.transfers_in} transfers received`;
    return { from: address, to: one.address, weight: one.interactions / most, label };
  });
  return html`${drawn.length === 0 ? "" : html`<section class="panel" aria-label="Drawing">${renderGraph({ title: "Counterparties", nodes: [own, ...nodes], edges })}</section>`}
${renderAnswer(data, {
  first: ["counterparties", "totals", "concentration"],
  titles: { counterparties: "All counterparties", concentration: "Concentration (0 to 10,000)" },
  columns: { counterparties: ["name", "address", "grade", "calls", "failed_calls", "volume_usd"] },
  omit: ["next_cursor"],
})}`;
}

function showNetwork(body: string, address: Address): Fragment | null {
  const { data } = networkMapSchema.safeParse(jsonIn(body));
  if (data === undefined || !isOf(data, address)) return null;
  const most = Math.max(1, ...data.edges.map(({ calls }) => calls ?? 1));
  const nodes = data.nodes.map(
    (node): GraphNode => ({
      address: node.address,
      name: node.name,
      grade: node.grade,
      isFlagged: node.flags.length > 0,
      hops: node.hops,
    }),
  );
  const addresses = new Map(data.nodes.map((node) => [node.id, node.address]));
  const edges = data.edges.flatMap(({ from, to, kind, calls }): GraphEdge[] => {
    const [a, b] = [addresses.get(from), addresses.get(to)];
    if (a === undefined || b === undefined) return [];
    const label = `${kind.replaceAll("_", " ")}${calls === null ? "" : `, ${calls} calls`}`;
    return [{ from: a, to: b, weight: (calls ?? 1) / most, label }];
  });
  return html`<section class="panel" aria-label="Map">${renderGraph({ title: "Network", nodes, edges })}</section>
${renderAnswer(data, {
  first: ["nodes", "edges"],
  titles: { nodes: "Accounts", edges: "Links" },
  columns: {
    nodes: ["name", "address", "kind", "grade", "hops"],
    edges: ["from", "kind", "to", "calls", "volume_usd"],
  },
  omit: ["truncated"],
})}`;
}

/** The picture, in an element that runs no script of it; the example is no picture. */
function showCard(body: string, address: Address): Fragment | null {
  if (!body.startsWith("<svg")) return null;
  const picture = `data:image/svg+xml;base64,${Buffer.from(body).toString("base64")}`;
  return html`<section class="panel" aria-label="Picture"><img class="card" src="${picture}" width="1200" height="630" alt="Report card of ${address}">
<p class="actions"><a class="button" download="report-card-${address}.svg" href="${picture}">Download the picture</a></p></section>`;
}
