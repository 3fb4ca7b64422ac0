import type { Address } from "viem";
import type { GetNetworkMapPorts } from "../../service/api/network/get-network-map.ts";
import type { GetReportCardPorts } from "../../service/api/report-card/get-report-card.ts";
import { createCardRenderer } from "../../service/api/report-card/render-pool.ts";
import type { Deployment } from "../../service/chain/deployments.ts";
import { knownAccounts } from "../../service/labels/chain-labels.ts";
import type { Policy } from "../../service/score/policy-shape.ts";
import type { Database } from "../../service/store/database.ts";
import { readSnapshot } from "../../service/store/index-snapshot.ts";
import { createDistributionReader } from "../../service/store/score-distribution.ts";
import { createAccountReader } from "../../service/store/wallet-network-accounts.ts";
import { createDealingsReader } from "../../service/store/wallet-network-dealings.ts";
import { readAccountLinks, readNeighbourhood } from "../../service/store/wallet-network-graph.ts";
import { readOwners } from "../../service/store/wallet-network-owners.ts";

type MapParts = {
  readonly db: Database;
  readonly deployment: Deployment;
  readonly policy: Policy;
  readonly monotonicMs: () => number;
};

/** Cards drawn at once and waiting; a card takes a tenth of a second, the first of a thread a whole one. */
const CARDS = { workers: 2, waiting: 32, deadlineMs: 10_000 } as const;

type MapPorts = Pick<
  GetNetworkMapPorts,
  | "knownAccounts"
  | "readDealings"
  | "describeAccounts"
  | "readOwnerLinks"
  | "publicFunders"
  | "readNeighbourhood"
  | "readAccountLinks"
> &
  Pick<GetReportCardPorts, "scoreDistribution" | "cards">;

/** What the reports about a wallet's counterparties, its network and its standing read, and what draws them. */
export function mapPorts({ db, deployment, policy, monotonicMs }: MapParts): MapPorts {
  const { chainId } = deployment;
  const publicFunders = new Set(
    deployment.accounts.publicFunders.map((address) => address.toLowerCase() as Address),
  );
  return {
    knownAccounts: knownAccounts(deployment),
    readDealings: createDealingsReader({ db, chainId, chain: deployment, policy }),
    describeAccounts: createAccountReader(db, chainId),
    publicFunders,
    scoreDistribution: createDistributionReader(db, { chainId, monotonicMs }),
    cards: createCardRenderer(CARDS),
    readNeighbourhood: (wallet, peers) =>
      readSnapshot(db, (client) => readNeighbourhood(client, { chainId, wallet, peers, publicFunders })),
    readAccountLinks: (wallet, accounts) =>
      readSnapshot(db, (client) => readAccountLinks(client, { chainId, wallet, accounts, publicFunders })),
    readOwnerLinks: async (wallet, accounts) => {
      if (accounts.length === 0) return new Map();
      const { owners } = await readSnapshot(db, (client) =>
        readOwners(client, { chainId, wallet, accounts, publicFunders }),
      );
      return owners.cluster;
    },
  };
}
