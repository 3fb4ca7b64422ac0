import type { GetNetworkMapPorts } from "../../../../service/api/network/get-network-map.ts";
import type { GetReportCardPorts } from "../../../../service/api/report-card/get-report-card.ts";
import { reportSource } from "../report-source.ts";

/** Ports of the reports about counterparties and network that know the fake wallet's calls, and nothing of anybody else. */
export const MAP_PORTS: Pick<
  GetNetworkMapPorts,
  | "knownAccounts"
  | "readDealings"
  | "describeAccounts"
  | "readOwnerLinks"
  | "publicFunders"
  | "readNeighbourhood"
  | "readAccountLinks"
> &
  Pick<GetReportCardPorts, "scoreDistribution" | "cards"> = {
  knownAccounts: new Map(),
  readDealings: async () => ({ kind: "read", ...reportSource(), incoming: [], incomingTruncated: false }),
  describeAccounts: async () => new Map(),
  readOwnerLinks: async () => new Map(),
  publicFunders: new Set(),
  scoreDistribution: async () => [
    { score: 0, wallets: 3 },
    { score: 84, wallets: 2 },
    { score: 97, wallets: 5 },
  ],
  cards: {
    hasRoom: () => true,
    render: async (view, format) => `${format} of ${view.title}`,
  },
  readNeighbourhood: async () => ({ facts: new Map(), children: [], calls: [], cut: false }),
  readAccountLinks: async () => ({
    owners: { cluster: new Map(), groups: new Map() },
    facts: new Map(),
    contacts: [],
    cut: false,
  }),
};
