import { hash } from "node:crypto";
import canonicalize from "canonicalize";
import { type Database, QUERY_DEADLINE } from "../db/database.ts";
import { loadInBatches } from "../db/load-in-batches.ts";
import { DEFAULT_ROUTING, type RoutingPolicy } from "../model/score/route.ts";

/** An integrator's policy as it is stored. */
export type StoredPolicy = {
  readonly policy: RoutingPolicy;
  /** Names this state of the policy: another policy, or the same one put at another time, has another. */
  readonly version: string;
  readonly updatedAt: Date;
};

/** The version of the default table, which every owner has until the first PUT. */
export const DEFAULT_VERSION = versionOf(DEFAULT_ROUTING, null);

/** Policies kept in memory by a reader: 1,000 addresses each are some 25 MB in all. */
const MAX_KEPT = 256;

/**
 * Reads the policies of owners, null where there is none. Every read asks for the version, many waiting requests with one
 * statement; a policy itself is read only when it is another one than before, since it may hold a thousand addresses.
 */
export function createPolicyReader(db: Database): (owner: string) => Promise<StoredPolicy | null> {
  const kept = new Map<string, StoredPolicy>();
  return loadInBatches(
    async (owners: readonly string[]) => {
      const versions = await readVersions(db, owners);
      const found = new Map<string, StoredPolicy>();
      for (const [owner, version] of versions) {
        const known = kept.get(owner);
        if (known?.version === version) found.set(owner, known);
      }
      const changed = [...versions.keys()].filter((owner) => !found.has(owner));
      if (changed.length > 0)
        for (const row of await readPolicies(db, changed)) found.set(row.owner, storedOf(row));
      for (const [owner, stored] of found) keep(kept, owner, stored);
      return owners.map((owner) => found.get(owner) ?? null);
    },
    { maxSize: 500, maxRunning: 2 },
  );
}

/** The last one used stands last. */
function keep(kept: Map<string, StoredPolicy>, owner: string, stored: StoredPolicy): void {
  kept.delete(owner);
  kept.set(owner, stored);
  const [oldest] = kept.keys();
  if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
}

async function readVersions(db: Database, owners: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const { rows } = await db.$client.query<{ readonly owner: string; readonly version: string }>({
    ...QUERY_DEADLINE,
    name: "routing_policy_versions",
    text: "select owner, version from ahs.routing_policy where owner = any($1)",
    values: [owners],
  });
  return new Map(rows.map(({ owner, version }) => [owner, version]));
}

async function readPolicies(db: Database, owners: readonly string[]): Promise<readonly PolicyRow[]> {
  const { rows } = await db.$client.query<PolicyRow>({
    ...QUERY_DEADLINE,
    name: "routing_policy_read",
    text: "select owner, policy, version, updated_at from ahs.routing_policy where owner = any($1)",
    values: [owners],
  });
  return rows;
}

export type PolicyWrite = {
  readonly owner: string;
  readonly policy: RoutingPolicy;
  readonly now: Date;
  /** Versions of which the stored one has to be; null where any will do. */
  readonly ifVersion: readonly string[] | null;
};

const COLUMNS = "(owner, policy, version, updated_at) values ($1, $2, $3, $4)";
const REPLACE =
  "do update set policy = excluded.policy, version = excluded.version, updated_at = excluded.updated_at";

/** Replaces an owner's whole policy by one atomic statement; null, and nothing written, where the stored version is another. */
export async function writePolicy(db: Database, write: PolicyWrite): Promise<StoredPolicy | null> {
  const { owner, policy, now, ifVersion } = write;
  const values = [owner, JSON.stringify(policy), versionOf(policy, now), now];
  const { rows } = await db.$client.query<PolicyRow>({
    ...QUERY_DEADLINE,
    ...(ifVersion === null
      ? {
          text: `insert into ahs.routing_policy ${COLUMNS} on conflict (owner) ${REPLACE} returning *`,
          values,
        }
      : conditionalWrite(values, ifVersion)),
  });
  return rows[0] === undefined ? null : storedOf(rows[0]);
}

// Without a row the default applies: only a caller that read the default may replace it.
function conditionalWrite(values: readonly unknown[], versions: readonly string[]) {
  const isVersion = "routing_policy.version = any($5)";
  const text = versions.includes(DEFAULT_VERSION)
    ? `insert into ahs.routing_policy ${COLUMNS} on conflict (owner) ${REPLACE} where ${isVersion} returning *`
    : `update ahs.routing_policy set policy = $2, version = $3, updated_at = $4 where owner = $1 and ${isVersion} returning *`;
  return { text, values: [...values, versions] };
}

function versionOf(policy: RoutingPolicy, updatedAt: Date | null): string {
  return hash("sha256", canonicalize({ policy, updatedAt: updatedAt?.toISOString() ?? null }) ?? "", "hex");
}

/** As node-postgres reads tables/routing-policy.ts. */
type PolicyRow = {
  readonly owner: string;
  readonly policy: RoutingPolicy;
  readonly version: string;
  readonly updated_at: Date;
};

function storedOf({ policy, version, updated_at }: PolicyRow): StoredPolicy {
  return { policy, version, updatedAt: updated_at };
}
