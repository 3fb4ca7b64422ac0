import { createHash, randomUUID } from "node:crypto";
import { sql } from "drizzle-orm";
import type { Deployment } from "../../service/chain/deployments.ts";
import { holdChain } from "../../service/db/chain-fence.ts";
import { lowerCase } from "../../service/db/columns.ts";
import type { Database } from "../../service/db/database.ts";
import { type EndpointKind, probe } from "../../service/db/tables/infrastructure.ts";
import { type ScanReport, scanGrade, scanRun } from "../../service/db/tables/scan.ts";
import type { AsOf } from "../../service/model/features/types.ts";
import type { Grade, ScoreRecord } from "../../service/model/score/record.ts";
import { nightStart } from "../../service/registries/nightly/scan-runs.ts";
import { answerAt } from "../demo-services.ts";
import { AGENT_SERVICES_URL } from "../population/agent-document.ts";

/** A night with the records of all wallets as of its block. */
export type PastNight = {
  readonly asOf: AsOf;
  /** UTC day, YYYY-MM-DD. */
  readonly night: string;
  readonly records: readonly ScoreRecord[];
};

/** Why a simulated scan has no root; the mark of such scans. */
const SIMULATED = "This scan is simulated.";
const SCAN_MS = 20_000;
const MOVES_SHOWN = 100;

/** Whether the chain has its simulated scans. */
export async function hasPastScans(db: Database, chainId: number): Promise<boolean> {
  const { rows } = await db.$client.query<{ there: boolean }>(
    "select exists (select from ahs.scan_run where chain_id = $1 and report ->> 'noRoot' = $2) as there",
    [chainId, SIMULATED],
  );
  return rows[0]?.there === true;
}

/**
 * Stores the scans of nights, the oldest first, with figures of their scores, and the probes of a day, all or nothing. Nights
 * that were scanned keep their scan; the first real scan compares grades with those of the last night.
 */
export async function storePastScans(
  db: Database,
  {
    deployment,
    nights,
    now,
  }: {
    readonly deployment: Pick<Deployment, "chainId" | "identityRegistry">;
    readonly nights: readonly PastNight[];
    readonly now: Date;
  },
): Promise<void> {
  const { chainId } = deployment;
  const agents = await readAgents(db, chainId);
  const visits = await pastVisits(db, { chainId, now });
  const runs = nights.map((point, i) => {
    const startedAt = nightStart(point.night);
    return {
      id: randomUUID(),
      chainId,
      night: point.night,
      cause: "nightly" as const,
      state: "done" as const,
      startedAt,
      finishedAt: new Date(startedAt.getTime() + SCAN_MS),
      reach: point.asOf.blockNumber,
      report: reportOf(point, { before: nights[i - 1] ?? null, agents, deployment }),
    };
  });
  const last = nights.at(-1);
  if (last === undefined) return;
  const grades = last.records.map((record) => ({ chainId, wallet: record.wallet, grade: gradeOf(record) }));
  await db.transaction(async (tx) => {
    await holdChain(tx, chainId);
    await tx.insert(scanRun).values(runs).onConflictDoNothing();
    if ((await tx.$count(scanGrade, sql`chain_id = ${chainId}`)) === 0 && grades.length > 0) {
      await tx.insert(scanGrade).values(grades).onConflictDoNothing();
    }
    for (let start = 0; start < visits.length; start += ROWS) {
      await tx.insert(probe).values(visits.slice(start, start + ROWS));
    }
  });
}

type PastAgent = {
  readonly block: number;
  /** Null if its document was not read yet. */
  readonly state: keyof ScanReport["documents"] | null;
  readonly endpoints: readonly string[];
};

async function readAgents(db: Database, chainId: number): Promise<readonly PastAgent[]> {
  const { rows } = await db.$client.query<PastAgent>(
    `select a.registered_block::float8 as block, d.state, coalesce(
       (select json_agg(s ->> 'endpoint') from jsonb_array_elements(d.services) s), '[]'::json) as endpoints
     from "chain_${chainId}".agent a
     left join ahs.agent_document d on d.chain_id = $1 and d.agent_id = a.agent_id`,
    [chainId],
  );
  return rows;
}

function reportOf(
  { asOf, records }: PastNight,
  {
    before,
    agents,
    deployment,
  }: {
    readonly before: PastNight | null;
    readonly agents: readonly PastAgent[];
    readonly deployment: Pick<Deployment, "identityRegistry">;
  },
): ScanReport {
  const { blockNumber } = asOf;
  const registered = agents.filter(({ block }) => block <= blockNumber);
  const moves = before === null ? [] : gradeMoves(before.records, records);
  const scores = records.flatMap(({ outcome }) => (outcome.kind === "scored" ? [outcome.ahsScore] : []));
  const sum = scores.reduce((total, ahsScore) => total + ahsScore, 0);
  return {
    registries: [
      {
        registry: lowerCase(deployment.identityRegistry.address),
        name: "identity registry",
        agents: registered.length,
        newAgents: registered.filter(({ block }) => block > (before?.asOf.blockNumber ?? -1)).length,
        newWallets: 0,
        block: blockNumber,
        fault: null,
      },
    ],
    documents: countOf(
      DOCUMENT_STATES,
      registered.map(({ state }) => state),
    ),
    documentsLeft: 0,
    changedDocuments: 0,
    endpoints: countEndpoints(registered),
    wallets: records.length,
    grades: countOf(
      GRADES,
      records.map((record) => gradeOf(record) ?? "insufficient"),
    ),
    meanScoreHundredths: scores.length === 0 ? null : Math.round((sum * 100) / scores.length),
    sanctioned: records.filter(({ sanctionsFlags }) => sanctionsFlags.length > 0).length,
    changedGrades: before === null ? null : moves.length,
    gradeMoves: moves.slice(0, MOVES_SHOWN),
    root: null,
    noRoot: SIMULATED,
  };
}

const DOCUMENT_STATES = ["current", "unreachable", "refused", "malformed"] as const;
const GRADES = ["A", "B", "C", "D", "E", "F", "insufficient"] as const;

function countOf<Name extends string>(names: readonly Name[], found: readonly (Name | null)[]) {
  const counts = names.map((name) => [name, found.filter((one) => one === name).length]);
  return Object.fromEntries(counts) as Record<Name, number>;
}

function gradeOf({ outcome }: ScoreRecord): Grade | null {
  return outcome.kind === "scored" ? outcome.grade : null;
}

/** Wallets whose grade is another than before, by address. */
function gradeMoves(before: readonly ScoreRecord[], after: readonly ScoreRecord[]): ScanReport["gradeMoves"] {
  const held = new Map(before.map((record) => [record.wallet, gradeOf(record)]));
  return after
    .map((record) => ({
      wallet: record.wallet,
      from: held.get(record.wallet) ?? null,
      to: gradeOf(record),
    }))
    .filter(({ from, to }) => from !== to)
    .toSorted((a, b) => (a.wallet < b.wallet ? -1 : 1));
}

/** Declared endpoints by what they answer. */
function countEndpoints(agents: readonly PastAgent[]): ScanReport["endpoints"] {
  const urls = new Set(agents.flatMap(({ endpoints }) => endpoints.filter((url) => isServed(url))));
  const alive = [...urls].filter((url) => answerAt(new URL(url).pathname).status < 500).length;
  return { alive, failing: urls.size - alive };
}

function isServed(url: string): boolean {
  return URL.canParse(url) && new URL(url).origin === AGENT_SERVICES_URL;
}

const HOUR_MS = 3_600_000;
const HOURS = 24;
const QUARTERS_AN_HOUR = 4;
/** Latencies differ by so much from hour to hour. */
const JITTER_MS = 60;
/** Rows of one statement: PostgreSQL takes 65,535 parameters. */
const ROWS = 2_000;

/** Hourly visits of each served endpoint on the day before its first real visit, the oldest first. */
async function pastVisits(db: Database, { chainId, now }: { readonly chainId: number; readonly now: Date }) {
  const { rows: endpoints } = await db.$client.query<{ endpoint: string; kind: EndpointKind; first: Date }>(
    `select endpoint, kind, coalesce(
       (select min(at) from ahs.probe p where p.chain_id = $1 and p.endpoint = s.endpoint), $2) as first
     from ahs.probe_schedule s where chain_id = $1`,
    [chainId, now],
  );
  return endpoints
    .filter(({ endpoint }) => isServed(endpoint))
    .flatMap(({ endpoint, kind, first }) =>
      Array.from({ length: HOURS }, (_, i) =>
        visitAt({ chainId, endpoint, kind }, new Date(first.getTime() - (HOURS - i) * HOUR_MS)),
      ),
    )
    .toSorted((a, b) => a.at.getTime() - b.at.getTime());
}

/** The visit that the rule of `answerAt` makes, as a probe stores it. */
export function visitAt(
  visited: { readonly chainId: number; readonly endpoint: string; readonly kind: EndpointKind },
  at: Date,
): typeof probe.$inferInsert {
  const { status, delayMs } = answerAt(new URL(visited.endpoint).pathname);
  const isAlive = status < 500;
  const lot = createHash("sha256").update(`${visited.endpoint} ${at.getTime()}`).digest().readUInt16BE();
  const isTyped = visited.kind === "a2a" || visited.kind === "mcp";
  return {
    ...visited,
    at,
    outcome: isAlive ? "ok" : "error",
    status,
    latencyMs: delayMs + (lot % JITTER_MS),
    valid: isAlive && isTyped ? true : null,
    detail: isAlive ? null : `It answered ${status}.`,
    quarters: QUARTERS_AN_HOUR,
  };
}
