import type { PagePorts } from "../../../../service/api/pages/page-ports.ts";
import { ORACLE } from "../fake-ports.ts";
import { verdictView } from "../verification/fake-verification-ports.ts";

/** Port of pages that these tests do not open. */
async function notAsked(): Promise<never> {
  throw new Error("nobody was to ask this");
}

/** Ports of the account, verdict and status pages; the others answer nothing. */
export function fakeAccountPages(changes: Partial<PagePorts> = {}): PagePorts {
  return {
    assets: [],
    scripts: "/assets/0123456789abcdef",
    viewer: "/assets/redoc-0123456789abcdef.js",
    account: {
      payment: { network: "eip155:31337", asset: ORACLE, payTo: ORACLE },
      signInLimit: () => null,
      socketAddress: () => null,
      keySummary: async () => ({ scopes: [], lastChargedAt: null, subscriptions: [] }),
      deliveries: async () => [],
      verdicts: async () => [],
      usage: async () => [],
      randomId: () => "once-0123456789abcdef",
    },
    owed: async () => [],
    verdicts: {
      find: async (id) => (id === verdictView().id ? verdictView() : null),
    },
    machineStatus: "/readyz",
    status: async () => ({ at: new Date(0), readiness: null, records: null, verification: null }),
    chain: {
      chainId: 31_337,
      name: "local",
      oracle: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
      explorer: null,
    },
    ecosystem: notAsked,
    distribution: notAsked,
    gradeChanges: notAsked,
    nights: notAsked,
    settledVerdicts: async () => [],
    leaderboard: { list: notAsked, byPrefix: notAsked, byName: notAsked, byAgentId: notAsked },
    agentNames: notAsked,
    scoreHistory: { daily: notAsked, gradeChanges: notAsked },
    compare: notAsked,
    findAgent: notAsked,
    sanctionedAmong: notAsked,
    wallets: {
      snapshot: notAsked,
      published: notAsked,
      backing: notAsked,
      reference: notAsked,
      activity: notAsked,
      agents: notAsked,
    },
    ownerCluster: notAsked,
    drawPreview: notAsked,
    storedPurchase: notAsked,
    ...changes,
  };
}
