import { and, eq, inArray, isNull, lt, lte, ne, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address } from "viem";
import { holdChain } from "../../db/chain-fence.ts";
import { countIf } from "../../db/columns.ts";
import type { Database } from "../../db/database.ts";
import { limitStatements } from "../../db/session.sql.ts";
import { type EndpointKind, probe, probeSchedule } from "../../db/tables/infrastructure.ts";
import { registrableDomain } from "../../net/registrable-domain.ts";
import { assignPlaces, type ScheduleBounds, scheduleDeclared, storeDomains } from "./probes.sql.ts";
import type { ProbeResult } from "./url-visit.ts";

/**
 * Four visits at once, of ten seconds at most, make 360 in a quarter of an hour: 256 places of a domain are served in time even
 * if all hang. 64 at once make 100,000 visits of half a second.
 */
const scheduleBounds: ScheduleBounds = {
  perDomain: 256,
  fixedPerDomain: 192,
  perAccount: 1_024,
  perChain: 100_000,
};

/** The join of all documents may take longer than a request is allowed. */
const SYNC_TIMEOUT_MS = 120_000;
const PRUNE_BATCH = 10_000;
const DOMAIN_BATCH = 10_000;
const CROWDED_SHOWN = 5;

/**
 * Schedules the http(s) endpoints that agents of the index and of further registries declare, once for each declared kind; new ones for
 * `now`. Undeclared endpoints leave the schedule, the others keep their time. An endpoint of several accounts uses the turns of the account
 * with the fewest endpoints, so no account slows down another. Beyond the bounds, endpoints that have answered come first, then the first
 * endpoint of each account, then older ones; `leftOut` counts the others by the bound that they are beyond.
 */
export async function syncSchedule(
  db: Database,
  { chainId, registries }: { readonly chainId: number; readonly registries: readonly Address[] },
  now: Date,
  bounds: ScheduleBounds = scheduleBounds,
) {
  return db.transaction(async (tx) => {
    await holdChain(tx, chainId);
    await limitStatements(tx, SYNC_TIMEOUT_MS);
    const { account, chain } = await scheduleDeclared(tx, { chainId, registries, now, bounds });
    await nameDomains(tx, chainId);
    await assignPlaces(tx, { chainId, now, bounds });
    const { visited, domain, crowdedDomains } = await countPlaces(tx, chainId);
    return { visited, leftOut: { domain, account, chain }, crowdedDomains };
  });
}

/** The list of public suffixes is no matter of SQL. */
async function nameDomains(tx: NodePgDatabase, chainId: number): Promise<void> {
  for (;;) {
    const rows = await tx
      .selectDistinct({ endpoint: probeSchedule.endpoint })
      .from(probeSchedule)
      .where(and(eq(probeSchedule.chainId, chainId), isNull(probeSchedule.domain)))
      .limit(DOMAIN_BATCH);
    if (rows.length === 0) return;
    const named = rows.map(({ endpoint }) => ({ endpoint, domain: registrableDomain(endpoint) }));
    await storeDomains(tx, chainId, named);
  }
}

async function countPlaces(tx: NodePgDatabase, chainId: number) {
  const { domain, place } = probeSchedule;
  const rows = await tx
    .select({
      domain,
      visited: countIf(ne(place, "none")),
      leftOut: countIf(eq(place, "none")),
    })
    .from(probeSchedule)
    .where(eq(probeSchedule.chainId, chainId))
    .groupBy(domain);
  const crowded = rows.filter(({ leftOut }) => leftOut > 0).toSorted((a, b) => b.leftOut - a.leftOut);
  return {
    visited: rows.reduce((sum, { visited }) => sum + visited, 0),
    domain: crowded.reduce((sum, { leftOut }) => sum + leftOut, 0),
    crowdedDomains: crowded.slice(0, CROWDED_SHOWN).map(({ domain }) => domain),
  };
}

/** Seconds that the most overdue endpoint with a place waits; zero while none is due. */
export async function readProbeLag(db: Database, chainId: number, now: Date): Promise<number> {
  const rows = await db
    .select({ seconds: sql<number | null>`extract(epoch from ${now}::timestamptz - min(next_at))::float8` })
    .from(probeSchedule)
    .where(
      and(
        eq(probeSchedule.chainId, chainId),
        lte(probeSchedule.nextAt, now),
        ne(probeSchedule.place, "none"),
      ),
    );
  // No row is due.
  return rows[0]?.seconds ?? 0;
}

/** Stores a visit and when the next one is, and ends its turn, together; an endpoint that left the schedule meanwhile stays out of it. */
export async function storeProbe(
  db: Database,
  {
    next,
    ...visit
  }: ProbeResult & {
    readonly chainId: number;
    readonly endpoint: string;
    readonly kind: EndpointKind;
    readonly at: Date;
    /** Quarter hours that the visit counts for. */
    readonly quarters: number;
    readonly next: Pick<typeof probeSchedule.$inferSelect, "nextAt" | "failingSince" | "quarters">;
  },
): Promise<void> {
  const { chainId, endpoint, kind } = visit;
  const answered = visit.outcome === "ok" ? { answered: true } : {};
  await db.transaction(async (tx) => {
    await holdChain(tx, chainId);
    await tx.insert(probe).values(visit);
    await tx
      .update(probeSchedule)
      .set({ ...next, ...answered, place: sql`case place when 'turn' then 'none' else place end` })
      .where(
        and(
          eq(probeSchedule.chainId, chainId),
          eq(probeSchedule.endpoint, endpoint),
          eq(probeSchedule.kind, kind),
        ),
      );
  });
}

/** Deletes the visits before a moment, oldest first and a batch at a time; returns how many. */
export async function pruneProbes(db: Database, chainId: number, before: Date): Promise<number> {
  let pruned = 0;
  for (;;) {
    // Rows are numbered in the order of their time, but for those that ran at once: the oldest come first in the key.
    const oldest = db
      .select({ id: probe.id, at: probe.at })
      .from(probe)
      .where(eq(probe.chainId, chainId))
      .orderBy(probe.id)
      .limit(PRUNE_BATCH)
      .as("oldest");
    const old = db.select({ id: oldest.id }).from(oldest).where(lt(oldest.at, before));
    const { rowCount } = await db.delete(probe).where(inArray(probe.id, old));
    pruned += rowCount ?? 0;
    if (rowCount !== PRUNE_BATCH) return pruned;
  }
}
