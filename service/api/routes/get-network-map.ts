import { z } from "@hono/zod-openapi";
import type { Address } from "viem";
import type { Contact } from "../../model/features/types.ts";
import type { Policy } from "../../model/score/policy-shape.ts";
import type { AccountDetail } from "../../reports/labels/chain-labels.ts";
import { type ChainLabel, chainLabels, type KnownAccounts } from "../../reports/labels/chain-labels.ts";
import type { Counterparty } from "../../reports/network/counterparties.ts";
import {
  CLOSE_PEERS,
  chooseEdges,
  chooseNodes,
  clusterIds,
  type Hops,
  type NetworkEdge,
} from "../../reports/network/network-map.ts";
import type { AccountLinks, Neighbourhood } from "../../reports/network/wallet-network-graph.ts";
import type { DealingsNeeds } from "../kit/dealings-cache.ts";
import { readNewestDealings } from "../kit/dealings-cache.ts";
import { definePaid } from "../kit/endpoint.ts";
import type { ReadableNeeds } from "../kit/wallet-report.ts";
import { reportScope, reportScopeShape, requireReadable } from "../kit/wallet-report.ts";
import { nullableGradeSchema, nullableScoreSchema } from "../schemas/ahs-record.ts";
import type { AccountNeeds } from "../schemas/report-parts.ts";
import { addressParams, eip55Schema, flag, isoOf, isoSchema, toEip55, toUsd } from "../schemas/values.ts";
import { accountNameShape } from "./get-counterparties-schema.ts";

/** Services of the endpoint. */
type Needs = ReadableNeeds &
  DealingsNeeds &
  AccountNeeds & {
    /** Accounts that create no links, lower-case. */
    readonly publicFunders: ReadonlySet<Address>;
    /** Neighbours of a wallet and of its most frequent peers. */
    readonly readNeighbourhood: (wallet: Address, peers: readonly Address[]) => Promise<Neighbourhood>;
    /** Links between the wallet and given accounts. */
    readonly readAccountLinks: (wallet: Address, accounts: readonly Address[]) => Promise<AccountLinks>;
    readonly policy: Policy;
  };

/** Limit for a readable drawing. */
const MAX_NODES = 150;
const MAX_EDGES = 400;

const count = z.int().min(0);

const nodeIdSchema = z.string().openapi({ example: "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc" });

const nodeSchema = z
  .object({
    id: nodeIdSchema.openapi({ description: "What edges name it by: its address" }),
    address: eip55Schema,
    kind: z.enum(["agent", "account", "contract", "token", "public_funder", "unknown"]).openapi({
      description:
        "agent: the wallet of a registered one. public_funder: an exchange, bridge or faucet, which creates no links. unknown: no source knows whether it has code",
    }),
    ...accountNameShape,
    ahs_score: nullableScoreSchema,
    grade: nullableGradeSchema,
    flags: z.array(z.enum(["sanctioned", "mixer"])).openapi({ example: [] }),
    hops: z.int().min(0).max(2).openapi({ description: "0 is the wallet itself" }),
    cluster: eip55Schema.nullable().openapi({
      description:
        "Lowest address of the accounts that share its owner, by common creators, first funders or mutual funding; null where nothing links it to another",
      example: null,
    }),
  })
  .openapi("NetworkNode");

const edgeSchema = z
  .object({
    from: nodeIdSchema,
    to: nodeIdSchema,
    kind: z.enum(["funded", "created", "shares_funder", "paid", "called"]).openapi({
      description:
        "funded: was the first to send it value. created: deployed it. shares_funder: has the same creator or first funder, which is no public one. paid: sent it something with a price. called: called it, and sent nothing with a price",
      example: "paid",
    }),
    calls: count.nullable().openapi({ description: "Null where the link is no call", example: 36 }),
    volume_usd: z.number().min(0).nullable().openapi({
      description: "Sent at the prices of the days; null where nothing with a price is known to be",
      example: 490.038991,
    }),
    first_seen: isoSchema.nullable(),
    last_seen: isoSchema.nullable(),
  })
  .openapi("NetworkEdge");

/** The answer of GET /network-map/{address}. */
export const networkMapSchema = z
  .object({
    address: eip55Schema,
    ...reportScopeShape,
    cluster: eip55Schema.nullable().openapi({ description: "The wallet's own", example: null }),
    cluster_size: count.openapi({
      description: "Nodes of the wallet's cluster, itself included",
      example: 1,
    }),
    nodes: z
      .array(nodeSchema)
      .max(MAX_NODES)
      .openapi({ description: "The wallet first, then as they were chosen" }),
    edges: z.array(edgeSchema).max(MAX_EDGES),
    truncated: z.boolean(),
    left_out: z.object({
      nodes: count,
      edges: count.openapi({ description: "Among the nodes shown" }),
      at_least: flag("True where accounts have more links than are read: then more is left out than counted"),
    }),
  })
  .openapi("NetworkMap");

export type NetworkMapAnswer = z.infer<typeof networkMapSchema>;

/** GET /network-map/{address}. */
export const getNetworkMap = definePaid<Needs>()({
  method: "get",
  path: "/network-map/{address}",
  operationId: "map_network",
  tool: "Returns the graph of accounts around a wallet: nodes, links and the accounts of the same owner. Use it to find clusters, common funders and circular payments.",
  price: { units: 100 },
  tag: "Network",
  summary: "Map of the accounts around a wallet",
  description:
    "Accounts within two hops of the wallet and the links among them: its creator and first funder, the accounts that it created or funded, accounts with the same funder, its peers, and of the 60 most frequent their funders and the three accounts that each calls most. Exchanges and other public funders are shown, but create no links. At most 150 nodes and 400 edges, chosen in that order; what is left out is counted. Peers are those of the window, by own calls, then by the value they sent, from one cent on. Links among accounts are known from the time that the index follows one of them.",
  request: { params: addressParams, query: z.object({}), body: null },
  answer: { schema: networkMapSchema, description: "Nodes and edges" },
  problems: ["not-indexed", "index-unavailable", "index-behind", "scoring-unavailable"],
  check: ({ params }, { deps, now }) => requireReadable(params.address, deps, now),
  interestIn: ({ address }) => [address],
  async work({ params: { address } }, _, { deps }): Promise<NetworkMapAnswer> {
    const dealings = await readNewestDealings(address, deps);
    const { days } = deps.policy.window;
    const map = await drawMap(address, dealings.found.counterparties, deps);
    return { address: toEip55(address), ...reportScope(dealings, days), ...map };
  },
});

async function drawMap(
  wallet: Address,
  counterparties: readonly Counterparty[],
  deps: Needs,
): Promise<Omit<NetworkMapAnswer, "address" | keyof ReturnType<typeof reportScope>>> {
  const peers = counterparties.map(({ address }) => address);
  const around = await deps.readNeighbourhood(wallet, peers.slice(0, CLOSE_PEERS));
  const { publicFunders } = deps;
  const chosen = chooseNodes({ wallet, peers, around, publicFunders, maxNodes: MAX_NODES });
  const accounts = [...chosen.nodes.keys()];
  const [links, details] = await Promise.all([
    deps.readAccountLinks(wallet, accounts),
    deps.describeAccounts(accounts),
  ]);
  const ownContacts = counterparties.filter(({ calls }) => calls > 0).map((peer) => contactOf(wallet, peer));
  const drawn = chooseEdges({ wallet, chosen, links, ownContacts, maxEdges: MAX_EDGES });
  const unnamed = accounts.filter((account) => details.get(account)?.hasCode === true);
  const tokens = await deps.readTokens(unnamed.filter((account) => !deps.knownAccounts.has(account)));
  const clusterOf = clusterIds(links.owners, accounts);
  const own = clusterOf(wallet);
  const shown = { known: deps.knownAccounts, tokens, clusterOf };
  return {
    cluster: own === null ? null : toEip55(own),
    cluster_size: own === null ? 1 : accounts.filter((account) => clusterOf(account) === own).length,
    nodes: [...chosen.nodes].map(([address, hops]) =>
      renderNode({ address, hops }, details.get(address), shown),
    ),
    edges: drawn.edges.map(renderEdge),
    truncated: chosen.leftOut > 0 || drawn.leftOut > 0 || around.cut || links.cut,
    left_out: { nodes: chosen.leftOut, edges: drawn.leftOut, at_least: around.cut || links.cut },
  };
}

function contactOf(wallet: Address, { address, calls, volumeOut, firstAt, lastAt }: Counterparty): Contact {
  return {
    account: wallet,
    counterparty: address,
    calls,
    sentMicroUsd: volumeOut.microUsd === null ? 0n : BigInt(Math.round(volumeOut.microUsd)),
    firstTime: firstAt,
    lastTime: lastAt,
  };
}

/** A node of the answer; without detail its facts are unknown. */
function renderNode(
  { address, hops }: { readonly address: Address; readonly hops: Hops },
  detail: AccountDetail | undefined,
  shown: {
    readonly known: KnownAccounts;
    readonly tokens: Awaited<ReturnType<AccountNeeds["readTokens"]>>;
    readonly clusterOf: (address: Address) => Address | null;
  },
): NetworkMapAnswer["nodes"][number] {
  const hasCode = detail === undefined ? null : detail.hasCode;
  const labels = chainLabels(address, shown.known, {
    agents: detail?.agents ?? [],
    symbol: shown.tokens.get(address)?.symbol ?? null,
  });
  const isSanctioned = detail !== undefined && detail.sanctions.length > 0;
  const isMixer = labels.some(({ category }) => category === "mixer");
  const cluster = shown.clusterOf(address);
  const score = detail === undefined ? null : detail.score;
  return {
    id: toEip55(address),
    address: toEip55(address),
    kind: kindOf(labels, hasCode),
    name: labels[0]?.label ?? null,
    labels: [...labels],
    is_contract: hasCode,
    ahs_score: score === null ? null : score.ahsScore,
    grade: score === null ? null : score.grade,
    flags: [...(isSanctioned ? ["sanctioned" as const] : []), ...(isMixer ? ["mixer" as const] : [])],
    hops,
    cluster: cluster === null ? null : toEip55(cluster),
  };
}

/** An edge of the answer. */
function renderEdge({
  from,
  to,
  kind,
  calls,
  microUsd,
  firstAt,
  lastAt,
}: NetworkEdge): NetworkMapAnswer["edges"][number] {
  return {
    from: toEip55(from),
    to: toEip55(to),
    kind,
    calls,
    volume_usd: toUsd(microUsd),
    first_seen: firstAt === null ? null : isoOf(firstAt),
    last_seen: lastAt === null ? null : isoOf(lastAt),
  };
}

/** The kind by the first label that names one; mixers and system contracts are contracts. */
function kindOf(
  labels: readonly ChainLabel[],
  hasCode: boolean | null,
): NetworkMapAnswer["nodes"][number]["kind"] {
  const categories = new Set(labels.map(({ category }) => category));
  if (categories.has("public_funder")) return "public_funder";
  if (categories.has("token")) return "token";
  if (categories.has("agent")) return "agent";
  if (categories.size > 0 || hasCode === true) return "contract";
  return hasCode === null ? "unknown" : "account";
}
