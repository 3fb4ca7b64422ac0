import { randomUUID } from "node:crypto";
import type { Address } from "viem";
import { describe, expect, it } from "vitest";
import { DEFAULT_ROUTING, type RoutingPolicy } from "../../../service/model/score/route.ts";
import {
  createPolicyReader,
  DEFAULT_VERSION,
  type StoredPolicy,
  writePolicy,
} from "../../../service/scores/routing-policies.ts";
import { useDatabase } from "../../support/test-database.ts";

const NOW = new Date("2026-11-20T10:00:00Z");
const LATER = new Date("2026-11-20T10:00:01Z");
const POLICY: RoutingPolicy = {
  instantGrades: ["A"],
  escrowGrades: ["B", "C"],
  escrowDisabled: false,
  allowlist: ["0x00000000000000000000000000000000000000a1"],
  confidenceOverrides: { B: { HIGH: "instant_settle" } },
  insufficientAction: "reject",
  maxInstantMicroUsd: 25_000_000,
  safeAmountMultipleMicros: 1_500_000,
  minConfidenceForInstant: "MEDIUM",
};
const STRICT: RoutingPolicy = { ...POLICY, instantGrades: [], escrowGrades: [] };

const db = useDatabase();

const newOwner = () => `key:${randomUUID()}`;

function put(owner: string, policy: RoutingPolicy, ifVersion: readonly string[] | null = null, now = NOW) {
  return writePolicy(db, { owner, policy, now, ifVersion });
}

async function stored(owner: string, policy: RoutingPolicy): Promise<StoredPolicy> {
  const written = await put(owner, policy);
  if (written === null) throw new Error("nothing was written");
  return written;
}

describe("a routing policy", () => {
  it("is read as it was written, by its owner alone", async () => {
    const owner = newOwner();
    const written = await stored(owner, POLICY);
    expect(written).toEqual({
      policy: POLICY,
      version: expect.stringMatching(/^[0-9a-f]{64}$/),
      updatedAt: NOW,
    });
    const read = createPolicyReader(db);
    expect(await read(owner)).toEqual(written);
    expect(await read(newOwner())).toBeNull();
  });

  it("has the defaults of members that are newer than it", async () => {
    const owner = newOwner();
    const { maxInstantMicroUsd: _max, safeAmountMultipleMicros: _multiple, ...older } = POLICY;
    await db.$client.query(
      "insert into ahs.routing_policy (owner, policy, version, updated_at) values ($1, $2, 'v', $3)",
      [owner, older, NOW],
    );
    const defaults = { maxInstantMicroUsd: null, safeAmountMultipleMicros: 1_000_000 };
    expect((await createPolicyReader(db)(owner))?.policy).toEqual({ ...older, ...defaults });
  });

  it("is replaced whole, and readers see it with their next read", async () => {
    const owner = newOwner();
    const read = createPolicyReader(db);
    expect(await read(owner)).toBeNull();
    await put(owner, POLICY);
    expect((await read(owner))?.policy).toEqual(POLICY);
    await put(owner, STRICT, null, LATER);
    expect(await read(owner)).toMatchObject({ policy: STRICT, updatedAt: LATER });
  });

  it("has another version whenever policy or time differ", async () => {
    const owner = newOwner();
    const versions = [
      (await put(owner, POLICY))?.version,
      (await put(owner, POLICY, null, LATER))?.version,
      (await put(owner, STRICT, null, LATER))?.version,
      DEFAULT_VERSION,
    ];
    expect(new Set(versions).size).toBe(4);
  });

  it("is written under a version only while it has that one", async () => {
    const owner = newOwner();
    const { version } = await stored(owner, POLICY);
    expect(await put(owner, STRICT, ["another"], LATER)).toBeNull();
    expect(await put(owner, STRICT, [], LATER)).toBeNull();
    expect(await put(owner, STRICT, [DEFAULT_VERSION], LATER)).toBeNull();
    expect((await createPolicyReader(db)(owner))?.policy).toEqual(POLICY);
    expect(await put(owner, STRICT, ["another", version], LATER)).toMatchObject({ policy: STRICT });
  });

  it("replaces the default table only for a caller that names its version", async () => {
    const owner = newOwner();
    expect(await put(owner, STRICT, ["another"])).toBeNull();
    expect(await put(owner, STRICT, [DEFAULT_VERSION])).toMatchObject({ policy: STRICT });
    expect(await put(owner, DEFAULT_ROUTING, [DEFAULT_VERSION])).toBeNull();
  });

  it("of ten writers who saw one version is written by one", async () => {
    const owner = newOwner();
    const { version } = await stored(owner, POLICY);
    const writers = Array.from({ length: 10 }, (_, index) =>
      put(owner, STRICT, [version], new Date(LATER.getTime() + index)),
    );
    expect((await Promise.all(writers)).filter((written) => written !== null)).toHaveLength(1);
  });
});

describe("a reader of policies", () => {
  it("answers a thousand allowlisted wallets to many at once, each its own", async () => {
    const allowlist = Array.from(
      { length: 1_000 },
      (_, index): Address => `0x${String(index).padStart(40, "0")}`,
    );
    const owners = Array.from({ length: 20 }, newOwner);
    for (const [index, owner] of owners.entries())
      await put(owner, { ...POLICY, allowlist: allowlist.slice(0, 1_000 - index) });
    const read = createPolicyReader(db);
    const found = await Promise.all([...owners, ...owners, newOwner()].map(read));
    const sizes = found.map((policy) => policy?.policy.allowlist.length ?? null);
    const expected = owners.map((_, index) => 1_000 - index);
    expect(sizes).toEqual([...expected, ...expected, null]);
  });

  it("is right about more owners than it keeps", async () => {
    const owners = Array.from({ length: 300 }, newOwner);
    await Promise.all(owners.map((owner) => put(owner, POLICY)));
    const read = createPolicyReader(db);
    for (let round = 0; round < 2; round += 1) {
      const found = await Promise.all(owners.map(read));
      expect(found.filter((policy) => policy === null)).toEqual([]);
    }
  });
});
