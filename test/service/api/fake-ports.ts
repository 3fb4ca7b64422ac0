import { randomUUID } from "node:crypto";
import { type DestinationStream, pino } from "pino";
import { Registry } from "prom-client";
import { type Address, zeroHash } from "viem";
import type { ApiKeyAccessDeps, KnownKey } from "../../../service/access/api-key-access.ts";
import { hashApiKey } from "../../../service/access/api-keys.ts";
import { createApp } from "../../../service/api/create-app.ts";
import { createFairTurns, createReportTurns } from "../../../service/api/kit/report-turns.ts";
import { createServerLife } from "../../../service/api/kit/server-life.ts";
import type { Services } from "../../../service/api/services.ts";
import { AHS_2026_2 } from "../../../service/model/score/policy.ts";
import type { AgentWallet } from "../../../service/registries/readers/find-agent.ts";
import { createComparison } from "../../../service/reports/comparison.ts";
import type { AmountRequest, AvailableBacking } from "../../../service/scores/backing/available-backing.ts";
import type { FoundAgent } from "../../../service/scores/leaderboard.ts";
import type { StoredScore, WalletSnapshot } from "../../../service/scores/stored-score.ts";
import type { WalletDetails } from "../../../service/scores/wallet-details.ts";
import { keyOnlyAccess } from "../access/key-only-access.ts";
import { memoryAnswers } from "../access/memory-gate.ts";
import { reportSource } from "./report-source.ts";
import { fakeAlertPorts } from "./routes/fake-alert-ports.ts";
import { fakeKeyPorts, fakePolicies } from "./routes/fake-key-ports.ts";
import { fakeRecovery } from "./routes/fake-recovery.ts";
import { MAP_PORTS } from "./routes/map-ports.ts";
import { RISK_FACTS } from "./routes/risk-facts.ts";

export const NOW = new Date("2026-11-20T10:00:00.000Z");
export const WALLET: Address = "0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc";
export const WALLET_EIP55 = "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc";
export const ORACLE: Address = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
export const KEY = `ahs_${"k".repeat(43)}`;

export const LISTING = {
  source: "chainalysis-oracle",
  reference: zeroHash,
  detected_at: "2026-11-20T09:59:00.000Z",
} as const;

/** A scored, healthy wallet. */
export function storedScore(changes: Partial<StoredScore> = {}): StoredScore {
  return {
    id: 7,
    chainId: 31337,
    wallet: WALLET,
    asOfBlock: 970,
    asOfHash: `0x${"11".repeat(32)}`,
    asOfTime: new Date("2026-11-20T09:59:00.000Z"),
    levelUntil: null,
    modelVersion: "AHS-2026.2",
    ahsScore: 84,
    d1Score: 88,
    d2Score: 82,
    grade: "B",
    confidenceMicros: 810_000,
    confidenceLevel: "HIGH",
    sanctioned: false,
    sanctionsFlags: [],
    patterns: [],
    features: [
      {
        dimension: "D1",
        name: "success_rate",
        value: 0.98,
        unit: "share of calls",
        samples: 300,
        state: "measured",
        score: 88,
        weight: 1,
        contribution: 8800,
        reason: null,
      },
    ],
    coverage: {
      fromBlock: 1,
      fromTimestamp: 1_760_000_000,
      toBlock: 970,
      complete: true,
      sources: ["index"],
    },
    inputsHash: `0x${"22".repeat(32)}`,
    createdAt: new Date("2026-11-20T09:59:02.000Z"),
    ...changes,
  };
}

/** A registered agent, by its number 142 and the name "keeper". */
const FOUND_AGENT: FoundAgent = {
  agentId: 142n,
  registry: null,
  name: "keeper",
  wallet: WALLET,
  ranked: {
    wallet: WALLET,
    ahsScore: 84,
    grade: "B",
    confidenceMicros: 810_000,
    confidenceLevel: "HIGH",
  },
};

/** The identity registry, EIP-55. */
export const REGISTRY: Address = "0x8004A169FB4a3325136EB29fA0ceB6D2e539a432";

/** That agent in its registry. */
const SAMPLE_AGENT = { registry: REGISTRY, agentId: 142n };

/** Finds the registered agent in a deployment of one registry; the changes are of that agent. */
export function fakeAgentFinder(changes: Partial<AgentWallet> = {}): Services["findAgent"] {
  const registry = REGISTRY.toLowerCase() as Address;
  return async (place) => {
    if ((place.chainId ?? 31337) !== 31337 || place.registry !== registry)
      return { kind: "not-followed", registries: [registry] };
    if (place.agentId !== SAMPLE_AGENT.agentId) return { kind: "unknown" };
    const agent = { registry: null, agentId: 142n, name: "keeper", wallet: WALLET };
    return { kind: "found", agent: { ...agent, ...changes } };
  };
}

/** Stored row of a wallet without enough history. */
export function insufficientScore(): StoredScore {
  return storedScore({
    ahsScore: null,
    d1Score: null,
    d2Score: null,
    grade: null,
    confidenceMicros: 150_000,
    confidenceLevel: "INSUFFICIENT",
  });
}

/** A wallet's entry on an imported list of threats. */
export const PHISHING: WalletSnapshot["threats"][number] = {
  list: "scamsniffer",
  kind: "phishing",
  source: "https://github.com/scamsniffer/scam-database",
  listed_at: "2026-11-18T06:00:00.000Z",
};

/** A followed, scored wallet under a fresh index. */
export function walletSnapshot(changes: Partial<WalletSnapshot> = {}): WalletSnapshot {
  return {
    head: { blockNumber: 1000, timestamp: NOW.getTime() / 1000 - 3 },
    sanctions: [],
    threats: [],
    score: {
      scoreId: 7,
      asOfBlock: 970,
      ahsScore: 84,
      grade: "B",
      confidenceMicros: 810_000,
      confidenceLevel: "HIGH",
      asOfTime: new Date("2026-11-20T09:59:00.000Z"),
    },
    followed: true,
    ...changes,
  };
}

/** 42.5 USD safe, of which 12 are outstanding. */
export const BACKING: AvailableBacking = {
  costBasisMicroUsd: 85_000_000n,
  bondMicroUsd: 0n,
  safeMicroUsd: 42_500_000n,
  outstandingMicroUsd: 12_000_000n,
  availableMicroUsd: 30_500_000n,
  asOfBlock: 960,
  asOfTime: new Date("2026-11-20T09:55:00.000Z"),
  sellerProfile: {
    ...{ payers: 4, weightedPayers: 3.4, returningPayers: 2, weeks: 10, activeWeeks: 9.5 },
    ...{ revenueMicroUsd: "210500000", refundedShare: 0.02, ownClusterShare: 0.1 },
    jobs: { completed: 5, rejected: 1, expired: 0 },
    verdicts: { allow: 4, reject: 1 },
    feedback: { payers: 2, tags: [{ tag: "starred", payers: 2, median: 87.5 }] },
  },
};

/** Its seller profile in answers. */
export const SHOWN_SELLER = {
  ...{ payers: 4, weighted_payers: 3.4, returning_payers: 2, weeks: 10, active_weeks: 9.5 },
  ...{ revenue_usd: 210.5, refunded_share: 0.02, own_cluster_share: 0.1 },
  jobs: { completed: 5, rejected: 1, expired: 0 },
  verdicts: { allow: 4, reject: 1 },
  feedback: { payers: 2, tags: [{ tag: "starred", payers: 2, median: 87.5 }] },
};

/** That backing in answers. */
export const SHOWN_BACKING = {
  safe_amount_usd: 42.5,
  available_usd: 30.5,
  outstanding_usd: 12,
  cost_basis_usd: 85,
  bond_usd: 0,
  as_of_block: 960,
  as_of_time: "2026-11-20T09:55:00.000Z",
};

/** The ledger of promised amounts in memory, for wallets of one backing. */
export function fakeBacking(backing: AvailableBacking | null = BACKING) {
  const promised = new Map<string, AmountRequest>();
  const read = (): AvailableBacking | null => {
    if (backing === null) return null;
    const added = [...promised.values()].reduce((sum, { amountMicroUsd }) => sum + amountMicroUsd, 0n);
    const outstandingMicroUsd = backing.outstandingMicroUsd + added;
    return { ...backing, outstandingMicroUsd, availableMicroUsd: backing.safeMicroUsd - outstandingMicroUsd };
  };
  const ledger: Services["backing"] = {
    read: async () => read(),
    async promise(request) {
      const found = read();
      if (found === null || !request.settles(found.availableMicroUsd))
        return { backing: found, promiseId: null };
      const promiseId = randomUUID();
      promised.set(promiseId, request);
      return { backing: found, promiseId };
    },
    async release(promiseId) {
      promised.delete(promiseId);
    },
  };
  const amounts = () =>
    [...promised.values()].map(({ caller, amountMicroUsd }) => `${caller} ${amountMicroUsd}`);
  return { ledger, amounts };
}

/** A ledger of one key, which counts what it was charged. */
export function fakeLedger(key: Partial<KnownKey> = {}) {
  let balance = key.balanceUnits === undefined ? 5000 : key.balanceUnits;
  const states = new Map<string, "held" | "kept" | "returned">();
  const answers = memoryAnswers();
  const ledger: ApiKeyAccessDeps["keys"] = {
    async find(keyHash) {
      if (keyHash !== hashApiKey(KEY)) return null;
      return {
        id: "key-1",
        ratePerMinute: 600,
        expiresAt: null,
        revokedAt: null,
        ...key,
        balanceUnits: balance,
      };
    },
    async hold({ units }) {
      if (balance === null) return { kind: "unlimited" };
      if (balance < units) return { kind: "insufficient", balanceUnits: balance };
      balance -= units;
      const debitId = `${units}:${randomUUID()}`;
      states.set(debitId, "held");
      return { kind: "held", debitId, balanceUnits: balance, isRepeat: false };
    },
    async keep(debitId) {
      states.set(debitId, "kept");
    },
    async keepAnswered(debitId, slot, answer) {
      if (debitId !== null) states.set(debitId, "kept");
      await answers.keep(slot, answer);
    },
    async giveBack(debitId) {
      states.set(debitId, "returned");
      if (balance !== null) balance += Number(debitId.split(":")[0]);
    },
  };
  return {
    ledger,
    answers,
    balance: () => balance,
    states: () => [...states.values()],
  };
}

/** Compares wallets that are all like the healthy one, unless the changes say otherwise. */
export function fakeComparison(
  changes: Partial<Parameters<typeof createComparison>[0]> = {},
): Services["compare"] {
  const { d1Score, d2Score, features, patterns } = storedScore();
  const details: WalletDetails = {
    score: { d1Score, d2Score, features, patterns },
    trend: { points: 4, change: 6 },
    calls: 130,
    lastCallAt: new Date("2026-11-20T09:00:00.000Z"),
  };
  return createComparison({
    snapshot: async () => walletSnapshot(),
    backing: async () => BACKING,
    details: async () => details,
    agentNames: async () => new Map(),
    policy: AHS_2026_2,
    ...changes,
  });
}

/** Services of the scoring interface. */
type Parts = Parameters<typeof createApp>[0];

type Changes = Partial<Omit<Parts, "scores" | "infrastructure">> & {
  readonly scores?: Partial<Services["scores"]>;
  readonly infrastructure?: Partial<Services["infrastructure"]>;
};
type FakeLedger = ReturnType<typeof fakeLedger>;

/** The app on ports that answer for one healthy wallet; `log` holds every log line. */
export function fakeApp(changes: Changes = {}, keys: FakeLedger = fakeLedger()) {
  const { ports, log, read } = fakePorts(changes, keys);
  return { app: createApp(ports), ports, log, keys, read };
}

/** These ports, for apps that have real ones for some of them. */
export function fakePorts(changes: Changes = {}, keys: FakeLedger = fakeLedger()) {
  const log: string[] = [];
  const stream: DestinationStream = { write: (line: string) => log.push(line) };
  const logger = pino({ level: "debug" }, stream);
  const clock = { now: () => NOW, monotonicMs: () => 0 };
  const read: Address[] = [];
  const ports: Parts = {
    access: keyOnlyAccess({ keys: keys.ledger, clock, logger }, keys.answers),
    clock,
    clockAheadSeconds: () => 0,
    logger,
    randomId: () => "generated-id",
    registry: new Registry(),
    metricsPage: "loopback",
    allowedOrigins: "*",
    life: createServerLife(),
    ipLimit: () => null,
    socketAddress: () => null,
    deadlineMs: 10_000,
    pages: null,
    maxIndexAgeSeconds: 120,
    sanctionsSources: async () => [],
    oracle: ORACLE,
    backing: fakeBacking().ledger,
    compare: fakeComparison(),
    findAgent: fakeAgentFinder(),
    scoreNow: async () => ({ kind: "stored", row: storedScore() }),
    scoreOnDemand: null,
    hasSent: null,
    enrol: async () => undefined,
    discovery: {
      origin: "https://health.example",
      paymentTerms: null,
      sampleWallet: async () => WALLET,
      sampleAgent: async () => SAMPLE_AGENT,
      evaluation: null,
      contracts: { oracle: null, identity_registry: REGISTRY },
      registration: null,
      securityContact: null,
    },
    publicKeys: { keys: [] },
    readWallet: async () => reportSource(),
    reportTurns: { hasRoom: () => true },
    walletLife: async () => ({ first: null, last: null, hasCode: null }),
    walletTransfers: {
      exchanges: async () => ({ sent: [], returned: [], truncated: false }),
      received: async () => ({ tokens: [], truncated: false }),
      drawnTokens: async () => new Set<Address>(),
    },
    ...MAP_PORTS,
    chainId: 31337,
    chainName: "Local chain",
    scoreHistory: {
      daily: async () => ({ points: [storedScore()], next: null }),
      gradeChanges: async () => ({ points: [{ ...storedScore(), previousGrade: "C" }], next: null }),
    },
    riskFacts: async () => RISK_FACTS,
    readLabels: async () => [],
    attest: async () => {
      throw new Error("no attestation was expected");
    },
    agents: {
      byAgentId: async (agentId) => (agentId === FOUND_AGENT.agentId ? [FOUND_AGENT] : []),
      byName: async (name) =>
        "keeper".startsWith(name)
          ? { agents: [FOUND_AGENT], total: 1, isCut: false }
          : { agents: [], total: 0, isCut: false },
    },
    recordInterest: async (address) => {
      read.push(address);
    },
    inputFile: async () => undefined,
    evidence: async () => null,
    epochList: async () => null,
    recovery: fakeRecovery(),
    previewTurns: createReportTurns({ atOnce: 1, waiting: 1, waitMs: 1_000 }),
    recoveryTurns: createFairTurns({
      ...{ maxRunning: 1, maxWaiting: 1, waitMs: 1_000 },
      hasPaid: async () => true,
      now: () => performance.now(),
    }),
    policy: AHS_2026_2,
    ...fakeAlertPorts(keys.ledger),
    ...fakeKeyPorts(keys.ledger, { clock, logger }),
    owed: async () => [],
    policies: fakePolicies(),
    ...changes,
    infrastructure: {
      agents: async () => [],
      probes: async () => [],
      probing: async () => new Map(),
      days: async () => [],
      refusal: async () => null,
      reserve: () => {
        throw new Error("no visit was expected");
      },
      ...changes.infrastructure,
    },
    scores: {
      snapshot: async () => walletSnapshot(),
      // Every followed wallet is final.
      atFinal: async (address) => {
        const { followed } = (await changes.scores?.snapshot?.(address)) ?? walletSnapshot();
        return followed ? "known" : "unknown";
      },
      published: async () => null,
      history: async () => [storedScore()],
      trend: async () => ({ points: 0, change: null }),
      head: async () => walletSnapshot().head,
      ...changes.scores,
    },
  };
  return { ports, log, read };
}

/** Headers of a caller who has a key. */
export const WITH_KEY = { headers: { "X-API-Key": KEY } };

/** A JSON body as the test expects it; its own assertions are the check. */
export async function bodyOf<Body = Record<string, string>>(response: Response): Promise<Body> {
  return (await response.json()) as Body;
}
