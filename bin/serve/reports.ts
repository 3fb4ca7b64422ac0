import type { Address } from "viem";
import { keepDealings } from "../../service/api/kit/dealings-cache.ts";
import { createReportTurns, type ReportTurns } from "../../service/api/kit/wallet-report.ts";
import { createCardRenderer } from "../../service/api/report-card/render-pool.ts";
import type { GetHealthPorts } from "../../service/api/routes/get-health.ts";
import type { GetNetworkMapPorts } from "../../service/api/routes/get-network-map.ts";
import type { GetReportCardPorts } from "../../service/api/routes/get-report-card.ts";
import type { RecoverPorts } from "../../service/api/routes/get-retry.ts";
import type { GetRiskPremiumPorts } from "../../service/api/routes/get-risk-premium.ts";
import type { PostWashPorts } from "../../service/api/routes/post-wash.ts";
import { riskFactsReader } from "../../service/api/schemas/risk.ts";
import { cached } from "../../service/db/cached.ts";
import { readSnapshotInTime } from "../../service/db/index-snapshot.ts";
import type { Policy } from "../../service/model/score/policy-shape.ts";
import { knownAccounts } from "../../service/reports/labels/chain-labels.ts";
import { createLabelReader, createLabelStore } from "../../service/reports/labels/label-reader.ts";
import {
  createBreakingSource,
  createNansenSource,
  type LabelSource,
} from "../../service/reports/labels/label-source.ts";
import { createAccountReader } from "../../service/reports/network/wallet-network-accounts.ts";
import { createDealingsReader } from "../../service/reports/network/wallet-network-dealings.ts";
import {
  readAccountLinks,
  readNeighbourhood,
  readOwners,
} from "../../service/reports/network/wallet-network-graph.ts";
import { createTransferReader } from "../../service/reports/profit-and-loss/wallet-transfers.ts";
import { createOutcomeReader } from "../../service/reports/recovery/failed-calls.ts";
import { createListedAccounts } from "../../service/reports/recovery/open-recovery.ts";
import { createRecoveryNode } from "../../service/reports/recovery/recovery-node.ts";
import { type RiskKey, riskFactsLoader } from "../../service/reports/risk/risk-facts.ts";
import { createDistributionReader } from "../../service/scores/ecosystem.ts";
import { type ContactCaches, createContactCaches } from "../../service/scores/read/contact-graph.ts";
import { readWalletsIn, type ScoringContext } from "../../service/scores/score-wallets.ts";
import { createDailyScores } from "../../service/scores/scores.ts";
import { createWalletLifeReader } from "../../service/scores/wallet-life.ts";
import type { Config } from "../config.ts";
import type { ServerParts } from "./access.ts";

type DiagnosisPorts = Pick<GetHealthPorts, "readWallet" | "reportTurns" | "walletLife"> &
  Pick<PostWashPorts, "walletTransfers">;

/** Reads for reports about one wallet, a few at once. */
export function reportPorts(context: ScoringContext, readings: ReportReadings): DiagnosisPorts {
  const { db, chainId } = context;
  const { contacts, turns, mostAddresses } = readings;
  return {
    reportTurns: turns,
    readWallet: async (wallet: Address) => {
      const task = { wallets: [wallet], at: "finalized", contacts, mostAddresses } as const;
      const read = await turns.take(() =>
        readSnapshotInTime(db, (client) => readWalletsIn(client, context, task)),
      );
      if (read === null) return null;
      const [only] = [...read.known, ...read.strangers];
      if (only === undefined) throw new Error(`no rows were read for ${wallet}`);
      return { rows: only.rows, asOf: read.point.asOf };
    },
    walletLife: createWalletLifeReader(db, chainId),
    walletTransfers: createTransferReader(db, chainId),
  };
}

/** Caches and turns that all reports of a process share. */
type ReportReadings = {
  readonly contacts: ContactCaches;
  readonly turns: ReportTurns;
  /** Accounts described of one wallet, see `RowsRequest`. */
  readonly mostAddresses: number;
};

/** A reading takes a second at the very most, and most of it the event loop. */
const TURNS = { atOnce: 4, waiting: 16, waitMs: 4_000 } as const;
const MOST_ADDRESSES = 20_000;

/** A block stays the newest final one for a minute, and facts of accounts are learnt meanwhile. */
const CONTACTS_KEPT_MS = 5_000;

/** Contacts are kept from one report to the next of the same block, for a few seconds. */
export function createReportReadings(monotonicMs: () => number): ReportReadings {
  return {
    contacts: renewedContacts(monotonicMs),
    turns: createReportTurns(TURNS),
    mostAddresses: MOST_ADDRESSES,
  };
}

function renewedContacts(monotonicMs: () => number): ContactCaches {
  let held = { caches: createContactCaches(), since: monotonicMs() };
  return (blockHash) => {
    if (monotonicMs() - held.since > CONTACTS_KEPT_MS) {
      held = { caches: createContactCaches(), since: monotonicMs() };
    }
    return held.caches(blockHash);
  };
}

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

/** Reads for reports about counterparties and networks, and the renderer of report cards. */
export function mapPorts({
  db,
  deployment,
  policy,
  readings,
  monotonicMs,
}: Pick<ServerParts, "db" | "deployment"> & {
  readonly policy: Policy;
  readonly readings: ReportReadings;
  readonly monotonicMs: () => number;
}): MapPorts {
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
        readNeighbourhood(client, { chainId, wallet, accounts: peers, publicFunders }),
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

/** Of one request; a caller waits meanwhile. */
const RECOVERY_TIMEOUT_MS = 4_000;
const RECOVERY_RETRIES = 1;
/** For each of the three readings of one answer (whether it can be, the wallet, the simulations), which together stay below what a request may take. */
const RECOVERY_DEADLINE_MS = 10_000;
/** A recovery holds some megabytes of calldata, and waits for the node most of its time. */
const RECOVERY_TURNS = { atOnce: 4, waiting: 16, waitMs: 4_000 } as const;

/** Simulates transactions and plans offers. */
export function recoverPorts({
  db,
  deployment: { chainId, accounts },
  rpcUrl,
  monotonicMs,
}: Pick<ServerParts, "db" | "deployment"> & {
  /** Without a node no transaction is simulated. */
  readonly rpcUrl: string | null;
  readonly monotonicMs: () => number;
}): RecoverPorts {
  const options = {
    timeoutMs: RECOVERY_TIMEOUT_MS,
    retries: RECOVERY_RETRIES,
    deadlineMs: RECOVERY_DEADLINE_MS,
    monotonicMs,
  };
  return {
    recoveryTurns: createReportTurns(RECOVERY_TURNS),
    recovery: {
      chainId,
      outcomes: createOutcomeReader(db, chainId),
      listed: createListedAccounts(db, { chainId, mixers: accounts.mixers }),
      openNode: rpcUrl === null ? null : () => createRecoveryNode({ url: rpcUrl, ...options }),
    },
  };
}

/** A stored score never changes; facts about counterparties are cached for a minute. */
const FACTS_MS = 60_000;
/** At some kilobytes each. */
const MAX_FACTS = 10_000;
/** A caller is waiting. */
const LABELS_DEADLINE_MS = 3_000;
/** After five failures the provider is taken as down for half a minute. */
const LABELS_BREAKER = { failures: 5, pauseMs: 30_000 } as const;

/** Reads for risk answers. The premium answer asks the configured provider for labels. */
export function riskPorts(
  { labels }: Pick<Config, "labels">,
  {
    db,
    deployment,
    clock,
    logger,
    readWallet,
    policy,
  }: ServerParts & { readonly readWallet: GetRiskPremiumPorts["readWallet"]; readonly policy: Policy },
): Pick<GetRiskPremiumPorts, "riskFacts" | "chainId" | "readLabels"> {
  const { chainId, accounts } = deployment;
  const load = riskFactsLoader(db, { chainId, mixers: accounts.mixers });
  return {
    chainId,
    riskFacts: cached(riskFactsReader({ load, readWallet, policy }), {
      keyOf: ({ address, scoreId }: RiskKey) => `${address} ${scoreId}`,
      milliseconds: FACTS_MS,
      entries: MAX_FACTS,
      monotonicMs: clock.monotonicMs,
    }),
    readLabels: createLabelReader({
      sources: sourcesOf(labels),
      store: createLabelStore(db),
      now: clock.now,
      logger,
    }),
  };
}

function sourcesOf({ url, apiKey }: Config["labels"]): readonly LabelSource[] {
  if (url === null) return [];
  const nansen = createNansenSource({ url, apiKey, deadlineMs: LABELS_DEADLINE_MS });
  return [createBreakingSource(nansen, LABELS_BREAKER)];
}
