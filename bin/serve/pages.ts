import { randomUUID } from "node:crypto";
import type { Address } from "viem";
import { readKeyStanding } from "../../service/access/api-keys.ts";
import { type PurchaseQuery, readKeptPurchase } from "../../service/access/idempotent-answers.ts";
import { createIpLimit } from "../../service/access/rate-limits.ts";
import type { ApiContext } from "../../service/api/kit/api-env.ts";
import { loadPageAssets } from "../../service/api/pages/assets.ts";
import type { PagePorts } from "../../service/api/pages/page-ports.ts";
import { createStatusReader } from "../../service/api/pages/status-reading.ts";
import { type GetReadyzPorts, readReadiness } from "../../service/api/routes/get-readyz.ts";
import type { HealthReport } from "../../service/api/verification/get-verification-health.ts";
import { readAgentNames } from "../../service/registries/documents/agent-names.ts";
import { createNightReader, readServiceRecords } from "../../service/registries/nightly/service-records.ts";
import { readSanctionsFlags } from "../../service/sanctions/sanctions.ts";
import {
  createDistributionReader,
  createEcosystemReader,
  createGradeChangeReader,
} from "../../service/scores/ecosystem.ts";
import { createLeaderboardReader } from "../../service/scores/leaderboard.ts";
import { readScoreReference, type ScoreReader } from "../../service/scores/scores.ts";
import type { Config } from "../config.ts";
import { type ServerParts, trustedProxiesOf } from "./access.ts";

type PublicPages = Pick<ServerParts, "db" | "deployment"> & {
  readonly scores: ScoreReader;
  readonly monotonicMs: () => number;
};

/** Ports of the HTML pages. */
export function pagePorts(
  pages: PublicPages,
  others: ReturnType<typeof accountPages>,
): { readonly pages: PagePorts } {
  return { pages: { ...others, ...publicPages(pages), ...loadPageAssets() } };
}

function publicPages({ db, deployment, scores, monotonicMs }: PublicPages) {
  const { chainId, name, oracle } = deployment;
  const reading = { chainId, monotonicMs };
  return {
    chain: { chainId, name, oracle: oracle.address },
    ecosystem: createEcosystemReader(db, reading),
    distribution: createDistributionReader(db, reading),
    gradeChanges: createGradeChangeReader(db, reading),
    nights: createNightReader(db, reading),
    leaderboard: createLeaderboardReader(db, chainId),
    agentNames: (wallets: readonly Address[]) => readAgentNames(db, chainId, wallets),
    sanctionedAmong: async (wallets: readonly Address[]) => {
      const flags = await readSanctionsFlags(db, { schema: `chain_${chainId}`, chainId }, wallets);
      return new Set(flags.keys());
    },
    wallets: { ...scores, reference: (scoreId: number) => readScoreReference(db, scoreId) },
    keptPurchase: (query: PurchaseQuery) => readKeptPurchase(db, query),
  };
}

/** Users rarely type a key; many attempts are guesses. */
const SIGN_INS_PER_MINUTE = 10;
const MAX_ADDRESSES = 10_000;
const MAX_SUBSCRIPTIONS = 50;

type AccountPageParts = Pick<ServerParts, "db" | "logger" | "clock"> & {
  readonly chainId: number;
  readonly sellsKeys: boolean;
  readonly socketAddress: (context: ApiContext) => string | null;
  readonly scores: GetReadyzPorts["scores"];
  readonly sanctionsSources: GetReadyzPorts["sanctionsSources"];
  readonly verdicts: PagePorts["verdicts"];
  readonly verificationHealth: () => Promise<HealthReport>;
};

/** Ports of the pages for keys, verdicts and the state of the service. */
export function accountPages(
  config: Pick<Config, "interfaces" | "trustedProxies" | "maxIndexAgeSeconds">,
  { db, chainId, clock, logger, ...parts }: AccountPageParts,
): Pick<PagePorts, "account" | "verdicts" | "machineStatus" | "status"> {
  const trustedProxies = trustedProxiesOf(config);
  const { maxIndexAgeSeconds } = config;
  const readiness = { ...parts, maxIndexAgeSeconds };
  return {
    account: {
      sellsKeys: parts.sellsKeys,
      socketAddress: parts.socketAddress,
      randomId: randomUUID,
      signInLimit: createIpLimit({
        perMinute: SIGN_INS_PER_MINUTE,
        trustedProxies,
        monotonicMs: clock.monotonicMs,
        maxAddresses: MAX_ADDRESSES,
      }),
      standing: (keyId) =>
        readKeyStanding(db, { chainId, keyId, now: clock.now(), limit: MAX_SUBSCRIPTIONS }),
    },
    verdicts: parts.verdicts,
    machineStatus: config.interfaces.includes("scoring") ? "/readyz" : "/health",
    status: createStatusReader({
      clock,
      logger,
      sources: {
        readiness: () => readReadiness(readiness, clock.now()),
        records: () => readServiceRecords(db, { chainId, now: clock.now() }),
        verification: config.interfaces.includes("verification") ? parts.verificationHealth : null,
      },
    }),
  };
}
