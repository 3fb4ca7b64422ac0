import type { Logger } from "pino";
import type { Database } from "../../db/database.ts";
import { runLoop } from "../../db/run-loop.ts";
import { runVisits, sharedAccount, type VisitLimits } from "../../db/run-visits.ts";
import type { DocumentState } from "../../db/tables/infrastructure.ts";
import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import type { GuardedFetch } from "../../net/guarded-fetch.ts";
import { registrableDomain } from "../../net/registrable-domain.ts";
import {
  countDocuments,
  type DueAgent,
  IPFS_LANES,
  readDueAgents,
  readIndexHead,
  readSpentAccounts,
  storeDocument,
} from "../documents/agent-documents.ts";
import { type DocumentOutcome, fetchAgentDocument } from "../documents/fetch-agent-document.ts";
import type { ScanMetrics } from "../metrics.ts";
import { probeEndpoint } from "./probe-endpoint.ts";
import {
  type DueEndpoint,
  pruneProbes,
  readDueEndpoints,
  readProbeLag,
  type SyncedSchedule,
  storeProbe,
  syncSchedule,
} from "./probes.ts";
import { nextNightAt, nextTryAt, nextVisit, type Random } from "./schedule.ts";

export type ScanDeps = {
  readonly db: Database;
  readonly chainId: number;
  readonly fetch: GuardedFetch;
  /** URL of the gateway that serves ipfs: URIs. */
  readonly ipfsGateway: string;
  readonly metrics: ScanMetrics;
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
    runProbes({ ...deps, limits }, signal),
    runUpkeep({ ...deps, limits }, changes, signal),
  ]);
}

type Scan = ScanDeps & { readonly limits: ScanLimits };
/** Whether documents were stored that the schedule has not heard of. */
type Changes = { pending: boolean };

function runDocuments(scan: Scan, changes: Changes, signal: AbortSignal): Promise<void> {
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
        const head = await readIndexHead(db, chainId);
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
        if (!due.changed) sinceBlock = Math.max(0, head - REORG_MARGIN_BLOCKS);
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
  // Whoever empties the URI takes back what was declared; any other fault may be none of the agent's will.
  const keepServices = uri.trim() !== "";
  const kept = keepServices && agent.hasServices;
  await storeDocument(db, {
    ...read,
    notBefore: nextTryAt(now, failures, random),
    state: outcome.state,
    detail: kept ? `${outcome.detail} The services are those of the last good document.` : outcome.detail,
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

async function runUpkeep(scan: Scan, changes: Changes, signal: AbortSignal): Promise<void> {
  const { db, chainId, metrics, logger, monotonicMs, now } = scan;
  let syncedAt = Number.NEGATIVE_INFINITY;
  let prunedAt = Number.NEGATIVE_INFINITY;
  let toldAt = Number.NEGATIVE_INFINITY;
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
      if ((await readIndexHead(db, chainId)) !== null) {
        if (changes.pending || monotonicMs() - syncedAt > FULL_SYNC_EVERY_MS) {
          changes.pending = false;
          const perAccountDay = scan.limits.documentsPerAccountDay;
          const spent = await readSpentAccounts(db, { chainId, now: now(), perAccountDay });
          metrics.spentAccounts.set(spent.count);
          const schedule = await syncSchedule(db, chainId, now());
          showSchedule(scan, schedule);
          if ((spent.count > 0 || hasLeftOut(schedule)) && monotonicMs() - toldAt > LEFT_OUT_EVERY_MS) {
            const words = "more documents or endpoints are declared than are read or visited";
            logger.warn({ schedule, spentAccounts: spent }, words);
            toldAt = monotonicMs();
          }
          await showDocuments(scan);
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

function showSchedule({ metrics }: Scan, { visited, leftOut }: SyncedSchedule): void {
  metrics.endpoints.set(visited);
  for (const bound of BOUNDS) metrics.endpointsLeftOut.set({ bound }, leftOut[bound]);
}

function hasLeftOut({ leftOut }: SyncedSchedule): boolean {
  return BOUNDS.some((bound) => leftOut[bound] > 0);
}

async function showDocuments({ db, chainId, metrics }: Scan): Promise<void> {
  const counts = await countDocuments(db, chainId);
  for (const state of STATES) metrics.documents.set({ state }, counts.get(state) ?? 0);
}
