import { hash } from "node:crypto";
import canonicalize from "canonicalize";
import { and, eq } from "drizzle-orm";
import { isOneOf } from "../db/columns.ts";
import { type Database, rowsInTime, underDeadline } from "../db/database.ts";
import { loadInBatches } from "../db/load-in-batches.ts";
import { routingPolicy } from "../db/tables/api-key.ts";
import { DEFAULT_ROUTING, type RoutingPolicy } from "../model/score/route.ts";

/**
 * An integrator's policy as it is stored. The version names this state of it: another policy, or the same one put at another
 * time, has another.
 */
export type StoredPolicy = Omit<typeof routingPolicy.$inferSelect, "owner">;

/** The version of the default table, which every owner has until the first PUT. */
export const DEFAULT_VERSION = versionOf(DEFAULT_ROUTING, null);

/** Policies kept in memory by a reader: 1,000 addresses each are some 25 MB in all. */
const MAX_CACHED = 256;

/**
 * Reads the policies of owners, null without one. Every read asks for the version, many waiting requests with one
 * statement; a policy itself is read only when it is another one than before, since it may hold a thousand addresses.
 */
export function createPolicyReader(db: Database): (owner: string) => Promise<StoredPolicy | null> {
  const cached = new Map<string, StoredPolicy>();
  return loadInBatches(
    async (owners: readonly string[]) => {
      const versions = await readVersions(db, owners);
      const found = new Map<string, StoredPolicy>();
      for (const [owner, version] of versions) {
        const known = cached.get(owner);
        if (known?.version === version) found.set(owner, known);
      }
      const changed = [...versions.keys()].filter((owner) => !found.has(owner));
      if (changed.length > 0)
        for (const { owner, ...stored } of await readPolicies(db, changed)) found.set(owner, stored);
      for (const [owner, stored] of found) keep(cached, owner, stored);
      return owners.map((owner) => found.get(owner) ?? null);
    },
    { maxSize: 500, maxRunning: 2 },
  );
}

/** Moves the policy to the end, so that the least recently used one is first. */
function keep(cached: Map<string, StoredPolicy>, owner: string, stored: StoredPolicy): void {
  cached.delete(owner);
  cached.set(owner, stored);
  const [oldest] = cached.keys();
  if (cached.size > MAX_CACHED && oldest !== undefined) cached.delete(oldest);
}

async function readVersions(db: Database, owners: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await rowsInTime<{ owner: string; version: string }>(db, {
    name: "routing_policy_versions",
    text: "select owner, version from ahs.routing_policy where owner = any($1)",
    values: [owners],
  });
  return new Map(rows.map(({ owner, version }) => [owner, version]));
}

/** Members that are newer than a stored policy have their defaults. */
async function readPolicies(db: Database, owners: readonly string[]) {
  const rows = await underDeadline(db)
    .select()
    .from(routingPolicy)
    .where(isOneOf(routingPolicy.owner, owners));
  return rows.map((row) => ({ ...row, policy: { ...DEFAULT_ROUTING, ...row.policy } }));
}

/** Replaces an owner's whole policy by one atomic statement; null, and nothing written, where the stored version is another. */
export async function writePolicy(
  db: Database,
  write: {
    readonly owner: string;
    readonly policy: RoutingPolicy;
    readonly now: Date;
    /** Versions of which the stored one has to be; null where any will do. */
    readonly ifVersion: readonly string[] | null;
  },
): Promise<StoredPolicy | null> {
  const { owner, policy, now, ifVersion } = write;
  const stored = { policy, version: versionOf(policy, now), updatedAt: now };
  const isVersion = ifVersion === null ? undefined : isOneOf(routingPolicy.version, ifVersion);
  const inTime = underDeadline(db);
  // Without a row the default applies: only a caller that read the default may replace it.
  const written =
    ifVersion === null || ifVersion.includes(DEFAULT_VERSION)
      ? inTime
          .insert(routingPolicy)
          .values({ owner, ...stored })
          .onConflictDoUpdate({
            target: routingPolicy.owner,
            set: stored,
            ...(isVersion === undefined ? {} : { setWhere: isVersion }),
          })
      : inTime
          .update(routingPolicy)
          .set(stored)
          .where(and(eq(routingPolicy.owner, owner), isVersion));
  const { rowCount } = await written;
  return rowCount === 0 ? null : stored;
}

function versionOf(policy: RoutingPolicy, updatedAt: Date | null): string {
  return hash("sha256", canonicalize({ policy, updatedAt: updatedAt?.toISOString() ?? null }) ?? "", "hex");
}
