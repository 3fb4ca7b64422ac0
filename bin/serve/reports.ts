import type { Address } from "viem";
import { readChargedUnits } from "../../service/access/charged-units.ts";
import { keepDealings } from "../../service/api/kit/dealings-cache.ts";
import { createFairTurns, createReportTurns } from "../../service/api/kit/report-turns.ts";
import { createCardRenderer } from "../../service/api/report-card/render-pool.ts";
import { riskFactsReader } from "../../service/api/schemas/risk.ts";
import type { Services } from "../../service/api/services.ts";
import { addressesIn, type Deployment } from "../../service/chain/deployments.ts";
import { cached } from "../../service/db/cached.ts";
import type { Database } from "../../service/db/database.ts";
import { readSnapshotInTime } from "../../service/db/index-snapshot.ts";
import { knownAccounts } from "../../service/reports/labels/chain-labels.ts";
import { createLabelReader, createLabelStore } from "../../service/reports/labels/label-reader.ts";
import {
  createBreakingSource,
  createNansenSource,
  type LabelSource,
} from "../../service/reports/labels/label-source.ts";
import { createTokenReader } from "../../service/reports/labels/token-reader.ts";
import { readOwnerCluster } from "../../service/reports/network/owner-cluster.ts";
import { createDealingsReader } from "../../service/reports/network/wallet-network-dealings.ts";
import {
  createAccountReader,
  readAccountLinks,
  readNeighbourhood,
  readOwners,
} from "../../service/reports/network/wallet-network-graph.ts";
import { createTransferReader } from "../../service/reports/profit-and-loss/wallet-transfers.ts";
import { createOutcomeReader } from "../../service/reports/recovery/failed-calls.ts";
import { createListedAccounts } from "../../service/reports/recovery/open-recovery.ts";
import { createRecoveryNode } from "../../service/reports/recovery/recovery-node.ts";
import { riskFactsLoader } from "../../service/reports/risk/risk-facts.ts";
import { createDistributionReader } from "../../service/scores/ecosystem.ts";
import type { ContactCaches } from "../../service/scores/read/contact-graph.ts";
import { createScoreHistory } from "../../service/scores/score-history.ts";
import { readWalletsIn, type ScoringContext } from "../../service/scores/score-wallets.ts";
import { createWalletLifeReader } from "../../service/scores/wallet-reads.ts";
import type { Config } from "../config.ts";

type ReportContext = ScoringContext & { readonly contacts: ContactCaches };

/** A reading takes a second at the very most, and most of it the event loop. */
const TURNS = { atOnce: 4, waiting: 16, waitMs: 4_000 } as const;
/** Accounts described of one wallet, see `RowsRequest`. */
const MOST_ADDRESSES = 20_000;

/** Reads wallets for reports, a few at once. All reports of a process share its turns. */
export function createWalletReader(context: ReportContext) {
  const { db, contacts } = context;
  const turns = createReportTurns(TURNS);
  return {
    turns,
    readWallet: async (wallet: Address) => {
      const task = { wallets: [wallet], at: "finalized", contacts, mostAddresses: MOST_ADDRESSES } as const;
      const read = await turns.take(() =>
        readSnapshotInTime(db, (client) => readWalletsIn(client, context, task)),
      );
      if (read === null) return null;
      const [only] = read.known;
      return only === undefined ? "unknown" : { rows: only.rows, asOf: read.point.asOf };
    },
  };
}

/**
 * Cards drawn at once and waiting; a card takes a tenth of a second, the first of a thread a whole one. A thread takes about as much
 * memory as all else of a server, which has 700 MB.
 */
const CARDS = { workers: 1, waiting: 32, deadlineMs: 10_000 } as const;
/** Anyone may ask for a preview, which reads a whole wallet. */
const PREVIEW_TURNS = { atOnce: 1, waiting: 16, waitMs: 4_000 } as const;
/** Anyone may ask for an owner cluster, which is a dozen statements. */
const CLUSTER_TURNS = { atOnce: 2, waiting: 32, waitMs: 4_000 } as const;
/** Links change slowly. A cluster takes some kilobytes. */
const CLUSTERS = { milliseconds: 60_000, entries: 1_000 } as const;
/** A recovery holds some megabytes of calldata, and waits for the node most of its time. */
export const RECOVERY_TURNS = { maxRunning: 4, maxWaiting: 16, waitMs: 4_000 } as const;
/** Thousandths of a US dollar from which a caller has paid: more than a fresh wallet costs. */
export const PAID_UNITS = 20;
/**
 * The deadline is for each of the three readings of one answer (whether it can be, the wallet, the simulations), which together
 * stay below what a request may take.
 */
export const RECOVERY_NODE = { timeoutMs: 4_000, retries: 1, deadlineMs: 10_000 } as const;
/** Names of tokens are worth no long wait. */
const TOKENS = { timeoutMs: 1_500 } as const;
/** A stored score never changes; facts about counterparties are cached for a minute, at some kilobytes each. */
const FACTS = { milliseconds: 60_000, entries: 10_000 } as const;

/** Services of the reports about a wallet: diagnosis, network, recovery, risk and card. */
export function reportServices(
  { labels, rpcUrl }: Pick<Config, "labels" | "rpcUrl">,
  {
    context,
    primary,
    deployment,
    clock,
    logger,
  }: {
    /** Its database may be a replica. */
    readonly context: ReportContext;
    /** Keeps labels of third parties. */
    readonly primary: Database;
    readonly deployment: Deployment;
  } & Pick<Services, "clock" | "logger">,
) {
  const { db, chainId, policy, contacts } = context;
  const { accounts } = deployment;
  const { now, monotonicMs } = clock;
  const { turns, readWallet } = createWalletReader(context);
  const dealings = { db, chainId, chain: deployment, policy, contacts, mostAddresses: MOST_ADDRESSES };
  const publicFunders = addressesIn(accounts.publicFunders);
  const mixers = [...addressesIn(accounts.mixers)];
  const network = { chainId, publicFunders };
  const clusterTurns = createReportTurns(CLUSTER_TURNS);
  const riskFacts = riskFactsReader({
    load: riskFactsLoader(db, { chainId, mixers }),
    readWallet,
    policy,
  });
  return {
    reportTurns: turns,
    readWallet,
    walletLife: createWalletLifeReader(db, chainId),
    walletTransfers: createTransferReader(db, chainId),
    knownAccounts: knownAccounts(deployment),
    readTokens:
      rpcUrl === null ? async () => new Map() : createTokenReader({ url: rpcUrl, ...TOKENS, monotonicMs }),
    readDealings: keepDealings({ reader: createDealingsReader(dealings), policy, turns, monotonicMs }),
    describeAccounts: createAccountReader(db, deployment),
    publicFunders,
    scoreDistribution: createDistributionReader(db, { chainId, monotonicMs }),
    scoreHistory: createScoreHistory(db, chainId),
    cards: createCardRenderer(CARDS),
    readNeighbourhood: (wallet, peers) =>
      readSnapshotInTime(db, (client) => readNeighbourhood(client, { ...network, wallet, accounts: peers })),
    readAccountLinks: (wallet, accounts) =>
      readSnapshotInTime(db, (client) => readAccountLinks(client, { ...network, wallet, accounts })),
    readOwnerLinks: async (wallet, accounts) => {
      if (accounts.length === 0) return new Map();
      const { owners } = await readSnapshotInTime(db, (client) =>
        readOwners(client, { ...network, wallet, accounts }),
      );
      return owners.cluster;
    },
    readOwnerCluster: cached(
      (wallet: Address) =>
        clusterTurns.take(() =>
          readSnapshotInTime(db, (client) => readOwnerCluster(client, { ...network, wallet })),
        ),
      { ...CLUSTERS, keyOf: (wallet) => wallet, monotonicMs },
    ),
    previewTurns: createReportTurns(PREVIEW_TURNS),
    recoveryTurns: createFairTurns({
      ...RECOVERY_TURNS,
      hasPaid: async (owner) => (await readChargedUnits(primary, owner, new Date(0))) >= PAID_UNITS,
      now: monotonicMs,
    }),
    recovery: {
      chainId,
      outcomes: createOutcomeReader(db, chainId),
      listed: createListedAccounts(db, { chainId, mixers }),
      openNode:
        rpcUrl === null ? null : () => createRecoveryNode({ url: rpcUrl, ...RECOVERY_NODE, monotonicMs }),
    },
    riskFacts: cached(riskFacts, {
      ...FACTS,
      keyOf: ({ address, scoreId }) => `${address} ${scoreId}`,
      monotonicMs,
    }),
    readLabels: createLabelReader({
      sources: labelSources(labels),
      store: createLabelStore(primary),
      now,
      logger,
    }),
  } satisfies Partial<Services>;
}

/** A caller is waiting. */
const LABELS_DEADLINE_MS = 3_000;
/** After five failures the provider is taken as down for half a minute. */
const LABELS_BREAKER = { failures: 5, pauseMs: 30_000 } as const;

function labelSources({ url, ...provider }: Config["labels"]): readonly LabelSource[] {
  if (url === null) return [];
  const nansen = createNansenSource({ url, ...provider, deadlineMs: LABELS_DEADLINE_MS });
  return [createBreakingSource(nansen, LABELS_BREAKER)];
}
