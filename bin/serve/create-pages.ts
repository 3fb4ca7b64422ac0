import { randomUUID } from "node:crypto";
import { getAddress } from "viem";
import { ownerText } from "../../service/access/access.ts";
import { readDaySpending, readKeySummary } from "../../service/access/api-keys.ts";
import type { TrustedProxies } from "../../service/access/client-address.ts";
import { readStoredPurchase } from "../../service/access/idempotent-answers.ts";
import { createIpLimit } from "../../service/access/rate-limits.ts";
import { loadPageAssets } from "../../service/api/pages/assets.ts";
import type { PagePorts } from "../../service/api/pages/page-ports.ts";
import { createStatusReader } from "../../service/api/pages/status-reading.ts";
import { createCardRenderer } from "../../service/api/report-card/render-pool.ts";
import { describeOwnerCluster } from "../../service/api/routes/get-owner-cluster.ts";
import { readReadiness } from "../../service/api/routes/get-readyz.ts";
import type { Services } from "../../service/api/services.ts";
import type { Deployment } from "../../service/chain/deployments.ts";
import { cached } from "../../service/db/cached.ts";
import type { Database } from "../../service/db/database.ts";
import { fromIndex } from "../../service/db/index-snapshot.ts";
import { readAgentCards } from "../../service/registries/documents/agent-cards.ts";
import { readAgentNames } from "../../service/registries/documents/agent-names.ts";
import { createNightReader, readServiceRecords } from "../../service/registries/nightly/service-records.ts";
import { readSanctionsFlags } from "../../service/sanctions/sanctions.ts";
import { createEcosystemReader, createGradeChangeReader } from "../../service/scores/ecosystem.ts";
import { createLeaderboardReader } from "../../service/scores/leaderboard.ts";
import { readScoreReference } from "../../service/scores/scores.ts";
import { createActivityReader } from "../../service/scores/wallet-activity.ts";
import { createSettledVerdictReader } from "../../service/verification/escrow/settled-verdicts.ts";
import { readOwnVerdicts } from "../../service/verification/verdicts/verdict-view.ts";
import type { Config } from "../config.ts";

/** Users rarely type a key; many attempts are guesses. */
const SIGN_INS_PER_MINUTE = 10;
const MAX_ADDRESSES = 10_000;
const MAX_SUBSCRIPTIONS = 20;
const MAX_DELIVERIES = 5;
const MAX_VERDICTS = 20;
/** Pictures of link previews: one thread of their own, so that they delay no report card. */
const PREVIEWS = { workers: 1, waiting: 16, deadlineMs: 25_000 };
const PREVIEW_CACHED_MS = 600_000;
const MAX_PREVIEWS = 200;
const NO_AGENTS = { cards: [], agents: 0 };

/** Creates the HTML pages. Priced data comes through the interface itself. */
export function createPages(
  { interfaces, payments }: Pick<Config, "interfaces" | "payments">,
  {
    db,
    reads,
    deployment,
    services,
    trustedProxies,
  }: {
    readonly db: Database;
    /** Database that public pages are read from. */
    readonly reads: Database;
    readonly deployment: Deployment;
    readonly services: Services;
    readonly trustedProxies: TrustedProxies;
  },
): PagePorts {
  const { chainId, name, oracle, explorer } = deployment;
  const { clock, logger, scores, scoreHistory, verdicts, compare, findAgent, owed } = services;
  const previews = createCardRenderer(PREVIEWS);
  const reading = { chainId, monotonicMs: clock.monotonicMs };
  return {
    ...loadPageAssets(),
    chain: { chainId, name, oracle: oracle.address, explorer: explorer ?? null },
    ecosystem: createEcosystemReader(reads, { ...reading, registries: deployment.registries }),
    distribution: services.scoreDistribution,
    gradeChanges: createGradeChangeReader(reads, reading),
    settledVerdicts: createSettledVerdictReader(reads, reading),
    nights: createNightReader(reads, reading),
    leaderboard: createLeaderboardReader(reads, deployment, clock),
    agentNames: (wallets) => readAgentNames(reads, deployment, wallets),
    sanctionedAmong: async (wallets) => {
      const flags = await readSanctionsFlags(reads, chainId, wallets);
      return new Set(flags.keys());
    },
    wallets: {
      ...scores,
      backing: services.backing.read,
      reference: (scoreId) => readScoreReference(reads, scoreId),
      activity: createActivityReader(reads, chainId),
      agents: async (wallet) => (await fromIndex(readAgentCards(reads, deployment, wallet))) ?? NO_AGENTS,
    },
    ownerCluster: (address) => describeOwnerCluster(address, services, clock.now()),
    drawPreview: cached(async (view) => Buffer.from(await previews.render(view, "png")), {
      keyOf: (view) => JSON.stringify(view),
      milliseconds: PREVIEW_CACHED_MS,
      entries: MAX_PREVIEWS,
      monotonicMs: clock.monotonicMs,
    }),
    storedPurchase: (query) => readStoredPurchase(db, query),
    account: {
      payment: paymentOf(payments, deployment),
      socketAddress: services.socketAddress,
      randomId: randomUUID,
      signInLimit: createIpLimit({
        perMinute: SIGN_INS_PER_MINUTE,
        trustedProxies,
        monotonicMs: clock.monotonicMs,
        maxAddresses: MAX_ADDRESSES,
      }),
      deliveries: (id) => services.subscriptions.deliveries(id, { limit: MAX_DELIVERIES, after: null }),
      verdicts: (keyId) => readOwnVerdicts(db, ownerText({ kind: "key", keyId }), MAX_VERDICTS),
      usage: (keyId, since) => readDaySpending(db, keyId, since),
      keySummary: (keyId) =>
        readKeySummary(db, { chainId, keyId, now: clock.now(), limit: MAX_SUBSCRIPTIONS }),
    },
    verdicts,
    scoreHistory,
    compare,
    findAgent,
    owed,
    machineStatus: interfaces.includes("scoring") ? "/readyz" : "/health",
    status: createStatusReader({
      clock,
      logger,
      sources: {
        readiness: () => readReadiness(services, clock.now()),
        records: () => readServiceRecords(reads, { chainId, now: clock.now() }),
        verification: interfaces.includes("verification") ? services.verificationHealth : null,
      },
    }),
  };
}

function paymentOf(
  { payTo }: Config["payments"],
  { chainId, usdc }: Deployment,
): PagePorts["account"]["payment"] {
  if (payTo === null || usdc === null) return null;
  return { network: `eip155:${chainId}`, asset: getAddress(usdc), payTo: getAddress(payTo) };
}
