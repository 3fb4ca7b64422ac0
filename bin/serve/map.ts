import type { Address } from "viem";
import { keepDealings } from "../../service/api/kit/dealings-cache.ts";
import { createCardRenderer } from "../../service/api/report-card/render-pool.ts";
import type { GetNetworkMapPorts } from "../../service/api/routes/get-network-map.ts";
import type { GetReportCardPorts } from "../../service/api/routes/get-report-card.ts";
import type { Deployment } from "../../service/chain/deployments.ts";
import type { Database } from "../../service/db/database.ts";
import { readSnapshotInTime } from "../../service/db/index-snapshot.ts";
import type { Policy } from "../../service/model/score/policy-shape.ts";
import { knownAccounts } from "../../service/reports/labels/chain-labels.ts";
import { createAccountReader } from "../../service/reports/network/wallet-network-accounts.ts";
import { createDealingsReader } from "../../service/reports/network/wallet-network-dealings.ts";
import {
  readAccountLinks,
  readNeighbourhood,
  readOwners,
} from "../../service/reports/network/wallet-network-graph.ts";
import { createDistributionReader } from "../../service/scores/ecosystem.ts";
import { createDailyScores } from "../../service/scores/scores.ts";
import type { ReportReadings } from "./report-readings.ts";

type MapParts = {
  readonly db: Database;
  readonly deployment: Deployment;
  readonly policy: Policy;
  readonly readings: ReportReadings;
  readonly monotonicMs: () => number;
};

/**
 * Cards drawn at once and waiting; a card takes a tenth of a second, the first of a thread a whole one. A thread takes about as much
 * memory as all else of a server, which has 700 MB.
 */
const CARDS = { workers: 1, waiting: 32, deadlineMs: 10_000 } as const;

/** Of a report card, as its schema says. */
const HISTORY_DAYS = 90;

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
  Pick<GetReportCardPorts, "scoreDistribution" | "dailyScores" | "cards">;

/** What the reports about a wallet's counterparties, its network and its standing read, and what draws them. */
export function mapPorts({ db, deployment, policy, readings, monotonicMs }: MapParts): MapPorts {
  const { chainId } = deployment;
  const { contacts, turns, mostAddresses } = readings;
  const source = { db, chainId, chain: deployment, policy };
  const reader = createDealingsReader({ ...source, contacts, mostAddresses });
  const publicFunders = new Set(
    deployment.accounts.publicFunders.map((address) => address.toLowerCase() as Address),
  );
  return {
    knownAccounts: knownAccounts(deployment),
    readDealings: keepDealings({ reader, policy, turns, monotonicMs }),
    describeAccounts: createAccountReader(db, chainId),
    publicFunders,
    scoreDistribution: createDistributionReader(db, { chainId, monotonicMs }),
    dailyScores: createDailyScores(db, { chainId, days: HISTORY_DAYS }),
    cards: createCardRenderer(CARDS),
    readNeighbourhood: (wallet, peers) =>
      readSnapshotInTime(db, (client) =>
        readNeighbourhood(client, { chainId, wallet, peers, publicFunders }),
      ),
    readAccountLinks: (wallet, accounts) =>
      readSnapshotInTime(db, (client) =>
        readAccountLinks(client, { chainId, wallet, accounts, publicFunders }),
      ),
    readOwnerLinks: async (wallet, accounts) => {
      if (accounts.length === 0) return new Map();
      const { owners } = await readSnapshotInTime(db, (client) =>
        readOwners(client, { chainId, wallet, accounts, publicFunders }),
      );
      return owners.cluster;
    },
  };
}
