import { type FoundOutcome, foundIn } from "../../../../service/api/kit/dealings-cache.ts";
import type { Services } from "../../../../service/api/services.ts";
import { AHS_2026_2 } from "../../../../service/model/score/policy.ts";
import type { WalletDealings } from "../../../../service/reports/network/wallet-network-dealings.ts";
import { reportSource } from "../report-source.ts";

/** Findings in the fake wallet's calls, with the given changes. */
export async function foundDealings(changes: Partial<WalletDealings> = {}): Promise<FoundOutcome> {
  const dealings = { ...reportSource(), incoming: [], incomingTruncated: false, ...changes };
  return { kind: "read", ...(await foundIn(dealings, AHS_2026_2)) };
}

/** Ports of the reports about counterparties and network. They know only the fake wallet's calls. */
export const MAP_PORTS: Pick<
  Services,
  | "knownAccounts"
  | "readTokens"
  | "readDealings"
  | "describeAccounts"
  | "readOwnerLinks"
  | "readOwnerCluster"
  | "publicFunders"
  | "readNeighbourhood"
  | "readAccountLinks"
  | "scoreDistribution"
  | "cards"
> = {
  knownAccounts: new Map(),
  readTokens: async () => new Map(),
  readDealings: () => foundDealings(),
  describeAccounts: async () => new Map(),
  readOwnerLinks: async () => new Map(),
  readOwnerCluster: async (wallet) => ({
    wallets: [{ address: wallet, lastActiveAt: null, link: "itself", evidence: [] }],
    leftOut: 0,
    cut: false,
  }),
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
