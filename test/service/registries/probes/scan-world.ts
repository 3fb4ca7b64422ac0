import { getTableColumns, sql } from "drizzle-orm";
import { pino } from "pino";
import { Registry } from "prom-client";
import type { Database } from "../../../../service/db/database.ts";
import { agentDocument, probe, probeSchedule } from "../../../../service/db/tables/infrastructure.ts";
import { createGuardedFetch, type GuardOptions } from "../../../../service/net/guarded-fetch.ts";
import { createScanMetrics } from "../../../../service/registries/metrics.ts";
import { runScan, type ScanDeps, type ScanLimits } from "../../../../service/registries/probes/run-scan.ts";
import { openTestDatabase } from "../../../support/test-database.ts";
import { until } from "../../../support/until.ts";

const CHAIN = 31337;
/** A registry beside the one that the index follows. */
export const FURTHER = `0x${"ba".repeat(20)}` as const;
export const OWNER = `0x${"a1".repeat(20)}` as const;

const START = Date.parse("2026-11-20T10:00:00Z");

/** As quick as a test can wait for; otherwise as in production. */
const QUICK: ScanLimits = {
  documents: { atOnce: 8, atOncePerHost: 2, atOncePerAccount: 2, busyMs: 5, idleMs: 20, restMs: 200 },
  probes: { atOnce: 64, atOncePerHost: 4, atOncePerAccount: 4, busyMs: 5, idleMs: 20, restMs: 200 },
  documentsPerAccountDay: 5_000,
  syncMs: 20,
};

export type ScanWorld = Awaited<ReturnType<typeof createScanWorld>>;

/** A database with the index tables that the scan reads, a clock that is set by hand, and a scan that is started at will. */
export async function createScanWorld(guard: Partial<GuardOptions> = {}) {
  const { db, close } = await openTestDatabase();
  await createAgentTables(db);
  const registry = new Registry();
  const metrics = createScanMetrics(registry);
  const log: string[] = [];
  const logger = pino({ level: "warn" }, { write: (line: string) => log.push(line) });
  const clock = { ms: START };
  const deps: ScanDeps = {
    db,
    chainId: CHAIN,
    registries: [FURTHER],
    fetch: createGuardedFetch({
      resolve: async () => ["127.0.0.1"],
      loopback: "allowed",
      deadlineMs: 400,
      ...guard,
    }),
    ipfsGateway: "https://gateway.test",
    metrics,
    logger,
    now: () => new Date(clock.ms),
    monotonicMs: () => performance.now(),
    random: () => 0.5,
    limits: QUICK,
  };
  let running: { stop: AbortController; done: Promise<void> } | null = null;
  const stop = async () => {
    running?.stop.abort();
    await running?.done;
    running = null;
  };
  return {
    db,
    deps,
    registry,
    log,
    clock,
    start: (changes: Partial<ScanDeps> = {}) => {
      const controller = new AbortController();
      running = { stop: controller, done: runScan({ ...deps, ...changes }, controller.signal) };
    },
    stop,
    /** As if nothing had been: no agents, no documents, the first hour. */
    clear: async () => {
      await stop();
      registry.resetMetrics();
      log.length = 0;
      clock.ms = START;
      await db.$client.query(
        `truncate ahs.agent_document, ahs.registry_agent, ahs.document_day, ahs.probe, ahs.probe_schedule, "chain_31337".agent, "chain_31337".agent_wallet`,
      );
    },
    close: async () => {
      await stop();
      await close();
    },
    register: (agentId: number, uri: string, wallet: string | null = OWNER) =>
      registerAgent(db, { agentId, uri, wallet, owner: OWNER }),
    /** Registers an agent whose document, in its URI, declares these services. */
    declare: (agentId: number, services: readonly object[], wallet: string = OWNER) =>
      registerAgent(db, { agentId, uri: dataUri({ name: "n", services }), wallet, owner: wallet }),
    documents: () =>
      db
        .select({ id: sql<number>`agent_id::int`, ...getTableColumns(agentDocument) })
        .from(agentDocument)
        .orderBy(agentDocument.agentId),
    probes: async () => {
      const rows = await db.select().from(probe).orderBy(probe.id);
      return rows.map(({ id: _, chainId: __, ...row }) => row);
    },
    schedule: () =>
      db
        .select({ endpoint: probeSchedule.endpoint, kind: probeSchedule.kind, nextAt: probeSchedule.nextAt })
        .from(probeSchedule)
        .orderBy(probeSchedule.endpoint),
  };
}

/** Waits until this is so. */
export function holds(what: string, isSo: () => Promise<boolean>): Promise<true> {
  return until({ what, timeoutMs: 170_000 }, async () => ((await isSo()) ? true : null));
}

/** Waits until the rows are so many. */
export function rowsOf<Row>(read: () => PromiseLike<readonly Row[]>, count: number): Promise<readonly Row[]> {
  return until({ what: `${count} rows are there`, timeoutMs: 170_000 }, async () => {
    const rows = await read();
    return rows.length >= count ? rows : null;
  });
}

/** A registration document as a data: URI. */
export function dataUri(document: object): string {
  return `data:application/json;base64,${Buffer.from(JSON.stringify(document)).toString("base64")}`;
}

/** One service. */
export function service(endpoint: string, name = "web") {
  return { name, endpoint, version: null };
}

type AgentRow = { agentId: number; uri: string; owner: string; wallet: string | null; block?: number };

/** An agent as the index would hold it, with the span of its wallet. */
export async function registerAgent(db: Database, agent: AgentRow): Promise<void> {
  const { agentId, uri, owner, wallet, block = 10 } = agent;
  await db.$client.query(
    `insert into "chain_31337".agent (agent_id, owner, wallet, wallet_span, agent_uri, registered_block, registered_at, updated_block)
     values ($1, $2, $3, null, $4, $5, 0, $5)
     on conflict (agent_id) do update set owner = $2, wallet = $3, agent_uri = $4, updated_block = $5`,
    [agentId, owner, wallet, uri, block],
  );
  if (wallet !== null) await openWallet(db, agentId, wallet);
}

/** That a wallet has once acted for an agent. */
export async function openWallet(db: Database, agentId: number, wallet: string): Promise<void> {
  await db.$client.query(
    `insert into "chain_31337".agent_wallet (id, agent_id, wallet, from_block, to_block) values ($1, $2, $3, 10, null)
     on conflict do nothing`,
    [`${agentId}-${wallet}`, agentId, wallet],
  );
}

async function createAgentTables(db: Database): Promise<void> {
  await db.$client.query(`
    create schema "chain_31337";
    create table "chain_31337".block (number numeric(78) primary key, timestamp numeric(78));
    create table "chain_31337".agent (
      agent_id numeric(78) primary key, owner text not null, wallet text, wallet_span text, agent_uri text not null,
      registered_block numeric(78) not null, registered_at numeric(78) not null, updated_block numeric(78) not null
    );
    create table "chain_31337".agent_wallet (
      id text primary key, agent_id numeric(78) not null, wallet text not null, from_block numeric(78) not null,
      to_block numeric(78)
    );
    insert into "chain_31337".block values (100, 1);`);
}
