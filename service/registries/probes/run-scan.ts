import type { Logger } from "pino";
import type { Address } from "viem";
import type { Database } from "../../db/database.ts";
import { fromIndex, readIndexHead } from "../../db/index-snapshot.ts";
import { runLoop } from "../../db/run-loop.ts";
import { runVisits, sharedAccount, type VisitLimits } from "../../db/run-visits.ts";
import type { DocumentState } from "../../db/tables/infrastructure.ts";
import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import type { GuardedFetch } from "../../net/guarded-fetch.ts";
import { registrableDomain } from "../../net/registrable-domain.ts";
import {
  countDocuments,
  readDueAgents,
  readSpentAccounts,
  storeDocument,
} from "../documents/agent-documents.ts";
import { type DueAgent, IPFS_LANES } from "../documents/due-agents.sql.ts";
import { type DocumentOutcome, fetchAgentDocument } from "../documents/fetch-agent-document.ts";
import {
  type DueRegistryAgent,
  readDueRegistryAgents,
  storeRegistryDocument,
} from "../documents/registry-documents.ts";
import type { createScanMetrics } from "../metrics.ts";
import { probeEndpoint } from "./probe-endpoint.ts";
import { type DueEndpoint, readDueEndpoints } from "./probes.sql.ts";
import { pruneProbes, readProbeLag, storeProbe, syncSchedule } from "./probes.ts";

export type ScanDeps = {
  readonly db: Database;
  readonly chainId: number;
  /** Further registries, lower-case. */
  readonly registries: readonly Address[];
  readonly fetch: GuardedFetch;
  /** URL of the gateway that serves ipfs: URIs. */
  readonly ipfsGateway: string;
  readonly metrics: ReturnType<typeof createScanMetrics>;
  readonly logger: Logger;
  readonly now: () => Date;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
  readonly random: Random;
  readonly limits?: ScanLimits;
};

export type ScanLimits = {
  readonly documents: VisitLimits;
  readonly probes: VisitLimits;
  /** Most documents of one account in a UTC day. */
  readonly documentsPerAccountDay: number;
  /** Pause between two looks at which endpoints are declared. */
  readonly syncMs: number;
};

/** Of production. */
const scanLimits: ScanLimits = {
  documents: {
    atOnce: 8,
    atOncePerHost: 2,
    atOncePerAccount: 2,
    busyMs: 250,
    idleMs: 5_000,
    restMs: 600_000,
  },
  probes: { atOnce: 64, atOncePerHost: 4, atOncePerAccount: 4, busyMs: 250, idleMs: 2_000, restMs: 600_000 },
  // As many as fit into the four hours of a night, two at once and six seconds each.
  documentsPerAccountDay: 5_000,
  syncMs: 15_000,
};

const KEEP_PROBES_MS = 30 * 1_000 * SECONDS_PER_DAY;
const PRUNE_EVERY_MS = 3_600_000;
const LEFT_OUT_EVERY_MS = 3_600_000;
/** A full synchronisation removes endpoints that a reorg took out of the index. */
const FULL_SYNC_EVERY_MS = 600_000;
/** Upkeep rests four times as long as it took: a flood of documents makes each round of it longer, and more of them due. */
const UPKEEP_REST = 4;
/** Deeper than any reorg: a URI that one brings back is compared again. */
const REORG_MARGIN_BLOCKS = 1_000;
/** How many times what may be under way is read ahead: reading what is due costs more than a visit. */
const BACKLOG_ROUNDS = 16;
/** Endpoints that failed last or never answered may hang: they share few accounts. A quarter of the places with four visits for each: what answers keeps the others. */
const UNPROVEN_ACCOUNTS = 4;
/** Half of the places, with two fetches for each: what is known is read again whatever is registered. */
const UNPROVEN_DOCUMENT_ACCOUNTS = 2;
const BOUNDS = ["domain", "account", "chain"] as const;
const STATES: readonly DocumentState[] = ["current", "unreachable", "refused", "malformed"];

/**
 * Updates documents, schedule and probes until the signal fires. One process per chain leads it. Never throws: failures
 * are logged and retried, and all state that a restart needs is in the database.
 */
export async function runScan(deps: ScanDeps, signal: AbortSignal): Promise<void> {
  const limits = deps.limits ?? scanLimits;
  const changes = { pending: true };
  await Promise.all([
    runDocuments({ ...deps, limits }, changes, signal),
    runRegistryDocuments({ ...deps, limits }, changes, signal),
    runProbes({ ...deps, limits }, signal),
    runUpkeep({ ...deps, limits }, changes, signal),
  ]);
}

type Scan = ScanDeps & { readonly limits: ScanLimits };

/** Reads due documents. `changes.pending`: documents were stored that the schedule has not heard of. */
function runDocuments(scan: Scan, changes: { pending: boolean }, signal: AbortSignal): Promise<void> {
  const { db, chainId, now, logger, monotonicMs } = scan;
  const limits = scan.limits.documents;
  let sinceBlock = 0;
  return runVisits<DueAgent>(
    {
      what: "reading an agent's document",
      limits,
      logger,
      monotonicMs,
      keyOf: ({ agentId, uri }) => `${agentId} ${uri}`,
      hostOf: documentHost,
      accountOf: ({ account, isProven, uri }) =>
        isProven || /^data:/i.test(uri)
          ? account
          : sharedAccount("unproven", account, UNPROVEN_DOCUMENT_ACCOUNTS),
      due: async () => {
        const head = await fromIndex(readIndexHead(db, chainId));
        if (head === null) return [];
        const due = await readDueAgents(db, {
          chainId,
          now: now(),
          sinceBlock,
          perAccount: BACKLOG_ROUNDS * limits.atOncePerAccount,
          perHost: BACKLOG_ROUNDS * limits.atOncePerHost,
          perAccountDay: scan.limits.documentsPerAccountDay,
          unproven: BACKLOG_ROUNDS * UNPROVEN_DOCUMENT_ACCOUNTS * limits.atOncePerAccount,
          limit: BACKLOG_ROUNDS * limits.atOnce,
        });
        if (!due.changed) sinceBlock = Math.max(0, head.blockNumber - REORG_MARGIN_BLOCKS);
        return due.agents;
      },
      visit: async (agent, stop) => {
        const outcome = await fetchAgentDocument(agent.uri, scan, stop);
        // A fetch that the end of the process cut short says nothing of the document.
        if (stop.aborted) return;
        await storeOutcome(scan, agent, outcome);
        changes.pending = true;
      },
    },
    signal,
  );
}

/** Fewer at once than of the followed registry: at the gateway of ipfs both have their own places. */
const REGISTRY_DOCUMENTS = { atOnce: 4, atOncePerHost: 2, atOncePerAccount: 2 } as const;

/** Reads due documents of agents of further registries. */
function runRegistryDocuments(scan: Scan, changes: { pending: boolean }, signal: AbortSignal): Promise<void> {
  const { db, chainId, registries, now, random, logger, monotonicMs, metrics } = scan;
  const limits = { ...scan.limits.documents, ...REGISTRY_DOCUMENTS };
  return runVisits<DueRegistryAgent>(
    {
      what: "reading the document of an agent of a further registry",
      limits,
      logger,
      monotonicMs,
      keyOf: ({ registry, agentId, uri }) => `${registry} ${agentId} ${uri}`,
      hostOf: ({ uri }) => (/^https?:/i.test(uri) ? registrableDomain(uri) : "ipfs"),
      accountOf: ({ account }) => account,
      due: () =>
        readDueRegistryAgents(db, { chainId, registries, now: now(), limit: BACKLOG_ROUNDS * limits.atOnce }),
      visit: async (agent, stop) => {
        const outcome = await fetchAgentDocument(agent.uri, scan, stop);
        if (stop.aborted) return;
        metrics.fetches.inc({ state: outcome.state });
        const at = now();
        // A document that is its own URI cannot change.
        const notBefore = /^data:/i.test(agent.uri.trim())
          ? null
          : outcome.state === "current"
            ? nextNightAt(at, random)
            : nextTryAt(at, agent.failures + 1, random);
        await storeRegistryDocument(db, { chainId, agent, outcome, now: at, notBefore });
        changes.pending = true;
      },
    },
    signal,
  );
}

/** The host that a fetch of the agent's URI loads: its domain, a lane of the ipfs gateway, or none. */
function documentHost({ agentId, uri }: DueAgent): string {
  if (/^https?:/i.test(uri)) return registrableDomain(uri);
  return /^ipfs:/i.test(uri) ? `ipfs ${agentId % BigInt(IPFS_LANES)}` : String(agentId);
}

async function storeOutcome(scan: Scan, agent: DueAgent, outcome: DocumentOutcome): Promise<void> {
  const { db, chainId, random } = scan;
  const now = scan.now();
  const { agentId, uri, account } = agent;
  const read = { chainId, agentId, uri, account, readAt: now };
  scan.metrics.fetches.inc({ state: outcome.state });
  if (outcome.state === "current") {
    const notBefore = nextNightAt(now, random);
    await storeDocument(db, { ...read, notBefore, fetchedAt: now, ...outcome });
    return;
  }
  const failures = agent.failures + 1;
  // An agent that empties its URI withdraws its declarations; any other fault may be against its will.
  const keepServices = uri.trim() !== "";
  const isPrevious = keepServices && agent.hasServices;
  await storeDocument(db, {
    ...read,
    notBefore: nextTryAt(now, failures, random),
    state: outcome.state,
    detail: isPrevious
      ? `${outcome.detail} The services are those of the last good document.`
      : outcome.detail,
    failures,
    keepServices,
  });
}

function runProbes(scan: Scan, signal: AbortSignal): Promise<void> {
  const { db, chainId, now, logger, metrics, monotonicMs, random } = scan;
  const limits = scan.limits.probes;
  return runVisits<DueEndpoint>(
    {
      what: "probing an endpoint",
      limits,
      logger,
      monotonicMs,
      keyOf: ({ endpoint, kind }) => `${kind} ${endpoint}`,
      hostOf: ({ endpoint }) => registrableDomain(endpoint),
      accountOf: ({ account, isProven }) =>
        isProven ? account : sharedAccount("unproven", account, UNPROVEN_ACCOUNTS),
      due: () =>
        readDueEndpoints(db, {
          chainId,
          now: now(),
          perAccount: BACKLOG_ROUNDS * limits.atOncePerAccount,
          perDomain: BACKLOG_ROUNDS * limits.atOncePerHost,
          unproven: BACKLOG_ROUNDS * UNPROVEN_ACCOUNTS * limits.atOncePerAccount,
          limit: BACKLOG_ROUNDS * limits.atOnce,
        }),
      visit: async (due, stop) => {
        const at = now();
        const result = await probeEndpoint(due, scan, stop);
        if (stop.aborted) return;
        metrics.probes.inc({ outcome: result.outcome });
        const { endpoint, kind, failingSince } = due;
        const isAlive = result.outcome === "ok";
        const next = nextVisit({ at, isAlive, failingSince }, random);
        const quarters = isAlive ? 1 : due.quarters;
        await storeProbe(db, { chainId, endpoint, kind, at, ...result, quarters, next });
      },
    },
    signal,
  );
}

async function runUpkeep(scan: Scan, changes: { pending: boolean }, signal: AbortSignal): Promise<void> {
  const { db, chainId, metrics, logger, monotonicMs, now } = scan;
  let syncedAt = Number.NEGATIVE_INFINITY;
  let prunedAt = Number.NEGATIVE_INFINITY;
  let loggedAt = Number.NEGATIVE_INFINITY;
  let startedAt = monotonicMs();
  const restMs = () => Math.max(scan.limits.syncMs, UPKEEP_REST * (monotonicMs() - startedAt));
  await runLoop({
    logger,
    what: "keeping the schedule of probes",
    signal,
    pauseMs: restMs,
    onFailure: (error) => {
      changes.pending = true;
      logger.error({ err: error }, "keeping the schedule of probes failed; trying again");
      return restMs();
    },
    pass: async () => {
      startedAt = monotonicMs();
      if ((await fromIndex(readIndexHead(db, chainId))) !== null) {
        if (changes.pending || monotonicMs() - syncedAt > FULL_SYNC_EVERY_MS) {
          changes.pending = false;
          const perAccountDay = scan.limits.documentsPerAccountDay;
          const spent = await readSpentAccounts(db, { chainId, now: now(), perAccountDay });
          metrics.spentAccounts.set(spent.count);
          const schedule = await syncSchedule(db, { chainId, registries: scan.registries }, now());
          metrics.endpoints.set(schedule.visited);
          for (const bound of BOUNDS) metrics.endpointsLeftOut.set({ bound }, schedule.leftOut[bound]);
          const isLeftOut = spent.count > 0 || BOUNDS.some((bound) => schedule.leftOut[bound] > 0);
          if (isLeftOut && monotonicMs() - loggedAt > LEFT_OUT_EVERY_MS) {
            const words = "more documents or endpoints are declared than are read or visited";
            logger.warn({ schedule, spentAccounts: spent }, words);
            loggedAt = monotonicMs();
          }
          const documents = await countDocuments(db, chainId);
          for (const state of STATES) metrics.documents.set({ state }, documents[state]);
          syncedAt = monotonicMs();
        }
        metrics.lagSeconds.set(await readProbeLag(db, chainId, now()));
      }
      if (monotonicMs() - prunedAt > PRUNE_EVERY_MS) {
        await pruneProbes(db, chainId, new Date(now().getTime() - KEEP_PROBES_MS));
        prunedAt = monotonicMs();
      }
    },
  });
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const QUARTER_MS = 15 * MINUTE_MS;
/** An endpoint that failed for so long costs a visit each hour: dead ones, of which there may be any number, cost least. */
const DEAD_AFTER_MS = DAY_MS;
const DEAD_QUARTERS = 4;
const FIRST_RETRY_MS = MINUTE_MS;
/** Documents are read again between 02:00 and 06:00 UTC. */
const NIGHT_STARTS_MS = 2 * HOUR_MS;
const NIGHT_MS = 4 * HOUR_MS;
/** Either way, so that what began together does not stay together. */
const JITTER = 0.1;

/** A number from 0 to 1, 1 left out. */
type Random = () => number;

/**
 * When an endpoint is visited again: a quarter of an hour later, an hour where it has failed for a day, either a tenth more or
 * less. One answer makes it alive. `failingSince` is the first of the failed visits in a row, `quarters` the quarter hours until then.
 */
export function nextVisit(
  { at, isAlive, ...before }: { at: Date; isAlive: boolean; failingSince: Date | null },
  random: Random,
) {
  const failingSince = isAlive ? null : (before.failingSince ?? at);
  const isDead = failingSince !== null && at.getTime() - failingSince.getTime() >= DEAD_AFTER_MS;
  const quarters = isDead ? DEAD_QUARTERS : 1;
  return {
    nextAt: new Date(at.getTime() + jittered(quarters * QUARTER_MS, random)),
    failingSince,
    quarters,
  };
}

/** When a document that was read is read again: some time in the next night. */
export function nextNightAt(now: Date, random: Random): Date {
  const midnight = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
  const tonight = midnight + NIGHT_STARTS_MS;
  const start = tonight > now.getTime() ? tonight : tonight + DAY_MS;
  return new Date(start + Math.floor(random() * NIGHT_MS));
}

/** When a document is tried again after so many failures in a row: a minute after the first, then doubling up to a day. */
export function nextTryAt(now: Date, failures: number, random: Random): Date {
  const waitMs = Math.min(DAY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 30));
  return new Date(now.getTime() + Math.min(DAY_MS, jittered(waitMs, random)));
}

function jittered(ms: number, random: Random): number {
  return Math.round(ms * (1 - JITTER + 2 * JITTER * random()));
}
