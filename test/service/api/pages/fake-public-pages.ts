import type { Address } from "viem";
import { expect } from "vitest";
import { SCORING_INTERFACE } from "../../../../service/api/create-app.ts";
import { createInterfaceApp } from "../../../../service/api/create-interface.ts";
import type { PagePorts } from "../../../../service/api/pages/page-ports.ts";
import { getAhs } from "../../../../service/api/routes/get-ahs.ts";
import { getAhsAgent } from "../../../../service/api/routes/get-ahs-agent.ts";
import { getAhsHistory } from "../../../../service/api/routes/get-ahs-history.ts";
import { getCompare } from "../../../../service/api/routes/get-compare.ts";
import { getOwnerCluster } from "../../../../service/api/routes/get-owner-cluster.ts";
import type { Ecosystem } from "../../../../service/scores/ecosystem.ts";
import type { FoundNames, ListedWallet } from "../../../../service/scores/leaderboard.ts";
import {
  BACKING,
  fakeAgentFinder,
  fakeComparison,
  fakePorts,
  storedScore,
  WALLET,
  walletSnapshot,
} from "../fake-ports.ts";
import { fakeAccountPages } from "./fake-account-pages.ts";

/** The pages, with only the endpoints that they need: a description of all endpoints would make the tests slow. */
export function pagesApp(pages: PagePorts) {
  const { ports, log } = fakePorts({ pages });
  const endpoints = [getAhs, getAhsAgent, getAhsHistory, getCompare, getOwnerCluster];
  return { app: createInterfaceApp(ports, [{ ...SCORING_INTERFACE, endpoints }]), ports, log };
}

/** The HTML of a page that answers 200. */
export async function htmlOf(path: string, changes: Partial<PagePorts> = {}): Promise<string> {
  const answer = await pagesApp(fakePublicPages(changes)).app.request(path);
  expect(answer.status).toBe(200);
  return answer.text();
}

/** A chain of which nothing is known. */
export const EMPTY_ECOSYSTEM: Ecosystem = {
  scored: 0,
  insufficient: 0,
  sanctioned: 0,
  agents: null,
  head: null,
  newestScore: null,
  newestRoot: null,
};

/** A search by name that finds none. */
export const NO_NAMES: FoundNames = { agents: [], total: 0, isCut: false };

/** A wallet of the leaderboard. */
export function rankedWallet(changes: Partial<ListedWallet> = {}): ListedWallet {
  return {
    wallet: WALLET,
    ahsScore: 84,
    grade: "B",
    confidenceMicros: 810_000,
    confidenceLevel: "HIGH",
    d1Score: 71,
    d2Score: 93,
    earlierScore: 81,
    lastActiveAt: new Date("2026-11-20T09:00:00.000Z"),
    ...changes,
  };
}

/** A wallet that was active in each of the last weeks. */
const ACTIVITY = {
  first: new Date("2026-08-20T09:00:00.000Z"),
  last: new Date("2026-11-20T09:00:00.000Z"),
  calls: 130,
  weeks: Array.from({ length: 13 }, () => 10),
};

/** Ports of the pages that everybody may see, of a chain with one scored wallet. */
export function fakePublicPages(changes: Partial<PagePorts> = {}): PagePorts {
  return fakeAccountPages({
    ecosystem: async () => ({ ...EMPTY_ECOSYSTEM, scored: 1, agents: 1, head: walletSnapshot().head }),
    distribution: async () => [{ score: 84, wallets: 1 }],
    gradeChanges: async () => [],
    nights: async () => [],
    scoreHistory: {
      daily: async () => ({ points: [storedScore()], next: null }),
      gradeChanges: async () => ({ points: [{ ...storedScore(), previousGrade: "C" }], next: null }),
    },
    leaderboard: {
      list: async () => [rankedWallet()],
      byPrefix: async () => [],
      byName: async () => NO_NAMES,
      byAgentId: async () => [],
    },
    agentNames: async () => new Map(),
    compare: fakeComparison(),
    findAgent: fakeAgentFinder(),
    sanctionedAmong: async () => new Set<Address>(),
    storedPurchase: async () => ({ kind: "none" }),
    wallets: {
      snapshot: async () => walletSnapshot(),
      published: async () => null,
      backing: async () => BACKING,
      reference: async () => ({
        modelVersion: "AHS-2026.2",
        inputsHash: `0x${"22".repeat(32)}`,
        features: [],
        patterns: [],
      }),
      activity: async () => ACTIVITY,
      agents: async () => ({ cards: [], agents: 0 }),
    },
    ...changes,
  });
}
