import { z } from "@hono/zod-openapi";
import type { Address } from "viem";
import type { Contact } from "../../model/features/types.ts";
import type { Counterparty } from "../../reports/network/counterparties.ts";
import { CLOSE_PEERS, chooseEdges, chooseNodes, clusterIds } from "../../reports/network/network-map.ts";
import type { AccountLinks, Neighbourhood } from "../../reports/network/wallet-network-graph.ts";
import { addressParams, toEip55 } from "../address-schema.ts";
import { definePaid } from "../endpoint.ts";
import { noteInterest } from "../wallet-ports.ts";
import { reportScope, requireReadable } from "../wallet-report.ts";
import type { GetCounterpartiesPorts } from "./get-counterparties.ts";
import { readNewestDealings } from "./get-counterparties-dealings.ts";
import { renderEdge, renderNode } from "./get-network-map-render.ts";
import {
  MAX_EDGES,
  MAX_NODES,
  NETWORK_MAP_EXAMPLE,
  type NetworkMapAnswer,
  networkMapSchema,
} from "./get-network-map-schema.ts";

export type GetNetworkMapPorts = GetCounterpartiesPorts & {
  /** Accounts that link nobody, lower-case. */
  readonly publicFunders: ReadonlySet<Address>;
  /** What surrounds a wallet and its most frequent peers. */
  readonly readNeighbourhood: (wallet: Address, peers: readonly Address[]) => Promise<Neighbourhood>;
  /** What links the wallet and some accounts to one another. */
  readonly readAccountLinks: (wallet: Address, accounts: readonly Address[]) => Promise<AccountLinks>;
};

/** GET /network-map/{address}. */
export const getNetworkMap = definePaid({
  method: "get",
  path: "/network-map/{address}",
  price: 100,
  tag: "Network",
  summary: "Map of the accounts around a wallet",
  description:
    "Accounts within two hops of the wallet and the links among them: who created and first funded it, whom it created and funded, accounts that share its funder, its peers, and of the 60 most frequent their funders and the three accounts that each calls most. Exchanges and other public funders are shown and link nobody. At most 150 nodes and 400 edges, chosen in that order; what is left out is counted. Peers are those of the window, by own calls, then by what they sent; who sent less than a cent is none. Links among accounts are told since the index follows one of them.",
  request: { params: addressParams, query: z.object({}), body: null },
  answer: { schema: networkMapSchema, example: NETWORK_MAP_EXAMPLE, description: "Nodes and edges" },
  problems: ["not-indexed", "index-unavailable", "index-behind", "scoring-unavailable"],
  check: ({ params }, { deps, now }: { deps: GetNetworkMapPorts; now: Date }) =>
    requireReadable(params.address, deps, now),
  async work({ params: { address } }, _, { deps }): Promise<NetworkMapAnswer> {
    const dealings = await readNewestDealings(address, deps);
    const { days } = deps.policy.window;
    const map = await drawMap(address, dealings.found.counterparties, deps);
    noteInterest(address, deps);
    return { address: toEip55(address), ...reportScope(dealings, days), ...map };
  },
});

async function drawMap(
  wallet: Address,
  counterparties: readonly Counterparty[],
  deps: GetNetworkMapPorts,
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
  const clusterOf = clusterIds(links.owners, accounts);
  const own = clusterOf(wallet);
  const shown = { known: deps.knownAccounts, clusterOf };
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
