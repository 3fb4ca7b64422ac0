import { getAddress, type Hex } from "viem";
import { afterEach, beforeEach, expect, test } from "vitest";
import { agentHealthOracleAbi } from "../../../service/chain/abi/agent-health-oracle.ts";
import { type OracleLeaf, unpackRecord } from "../../../service/chain/oracle-codec.ts";
import { merkleProof, merkleTree } from "../../../service/chain/oracle-merkle.ts";
import { epoch } from "../../../service/db/tables/publish.ts";
import { quarantine } from "../../../service/db/tables/quarantine.ts";
import { publishRoot } from "../../../service/oracle/publish-root.ts";
import { nightOf, nightStart } from "../../../service/registries/nightly/scan-runs.ts";
import { CHAIN_ID } from "../sender/sender-under-test.ts";
import { until } from "../sender/sender-world.ts";
import { createPublishWorld, type PublishWorld, testPublishPolicy, testWallet } from "./publish-world.ts";

const DAY_MS = 86_400_000;
const now = new Date();
const today = dayOf(nightOf(now));
let world: PublishWorld;

beforeEach(async () => {
  world = await createPublishWorld();
});

afterEach(() => world.destroy());

const publishNow = (at: Date = now) =>
  publishRoot(world.db, {
    chainId: CHAIN_ID,
    oracle: world.oracle,
    sender: world.sender,
    uriOf: (number) => `https://example.org/epochs/${number}`,
    night: { day: nightOf(at), startedAt: nightStart(nightOf(at)) },
    now: at,
  });

function dayOf(night: string): number {
  return Date.parse(night) / DAY_MS;
}

async function latestRoot(): Promise<readonly [bigint, Hex]> {
  return world.client.readContract({
    address: world.oracle,
    abi: agentHealthOracleAbi,
    functionName: "latestRoot",
  });
}

async function untilState(state: string): Promise<void> {
  await until(
    async () => {
      await world.round();
      const [row] = await world.db.select().from(epoch);
      return row?.state === state ? true : null;
    },
    () => `the epoch to be ${state}`,
  );
}

test("the day's root covers the whole population, and the contract verifies every leaf by its proof", async () => {
  world.startSender();
  for (const [number, dollars] of [1n, 2n, 3n].entries())
    await world.back(testWallet(number + 1), dollars * 1_000_000n);
  await world.store([
    { wallet: testWallet(1), asOf: 5, points: 91 },
    { wallet: testWallet(2), asOf: 6, points: null },
    { wallet: testWallet(3), asOf: 7, points: 0, sanctionedBy: ["chainalysis-oracle"] },
  ]);
  const outcome = await publishNow();
  await untilState("confirmed");
  const [stored] = await world.db.select().from(epoch);
  expect(outcome).toEqual({ kind: "queued", epoch: today, root: stored?.root, leaves: 3, leftOut: 0 });
  expect(await latestRoot()).toEqual([BigInt(today), stored?.root]);
  const leaves = (stored?.leaves ?? []) as readonly OracleLeaf[];
  expect(leaves.map(({ record }) => unpackRecord(record)?.safeMicroUsd)).toEqual([
    1_000_000n,
    2_000_000n,
    0n,
  ]);
  const tree = merkleTree(leaves);
  for (const leaf of leaves) {
    const args = [getAddress(leaf.wallet), leaf.record, merkleProof(tree, leaf)] as const;
    expect(
      await world.client.readContract({
        address: world.oracle,
        abi: agentHealthOracleAbi,
        functionName: "verify",
        args,
      }),
    ).toBe(true);
  }
});

test("a night made up before the next begins leaves that one its own root", async () => {
  await world.store([{ wallet: testWallet(1), asOf: 5, points: 91 }]);
  const late = dayOf("2026-11-20");
  expect(await publishNow(new Date("2026-11-21T01:00:00Z"))).toMatchObject({ kind: "queued", epoch: late });
  expect(await publishNow(new Date("2026-11-21T02:09:00Z"))).toEqual({ kind: "exists", epoch: late });
  expect(await publishNow(new Date("2026-11-21T02:10:00Z"))).toMatchObject({
    kind: "queued",
    epoch: late + 1,
  });
});

test("a second call in the same night sends nothing", async () => {
  await world.store([{ wallet: testWallet(1), asOf: 5, points: 91 }]);
  await publishNow();
  await world.store([{ wallet: testWallet(2), asOf: 5, points: 91 }]);
  expect(await publishNow()).toEqual({ kind: "exists", epoch: today });
  expect(await world.rows()).toHaveLength(1);
});

test("two calls at once make one epoch", async () => {
  await world.store([{ wallet: testWallet(1), asOf: 5, points: 91 }]);
  const outcomes = await Promise.all([publishNow(), publishNow()]);
  expect(outcomes.map((outcome) => outcome.kind).sort()).toEqual(["exists", "queued"]);
  expect(await world.rows()).toHaveLength(1);
});

test("a wallet whose score no leaf can hold is left out and quarantined, and is in the next root once it is sound", async () => {
  await world.store([
    { wallet: testWallet(1), asOf: 5, points: 91 },
    { wallet: testWallet(2), asOf: 5, points: 91 },
  ]);
  const spoil = (points: string) =>
    world.db.execute(`update ahs.score set d1_score = ${points} where wallet = '${testWallet(2)}'`);
  await spoil("null");
  expect(await publishNow(new Date("2026-11-21T03:00:00Z"))).toMatchObject({ leaves: 1, leftOut: 1 });
  const entries = () => world.db.select().from(quarantine);
  expect(await entries()).toMatchObject([
    {
      kind: "root",
      subject: testWallet(2),
      error: expect.stringContaining("expected all of ahs, d1 and d2"),
    },
  ]);

  await spoil("91");
  expect(await publishNow(new Date("2026-11-22T03:00:00Z"))).toMatchObject({ leaves: 2, leftOut: 0 });
  expect(await entries()).toEqual([]);
});

test("a night of which no score fits a leaf publishes no root, and quarantines no wallet", async () => {
  await world.store([{ wallet: testWallet(1), asOf: 5, points: 91 }]);
  await world.db.execute("update ahs.score set d1_score = null");
  await expect(publishNow()).rejects.toThrow("expected all of ahs, d1 and d2");
  expect(await world.db.select().from(quarantine)).toEqual([]);
});

test("without scores there is no epoch", async () => {
  expect(await publishNow()).toEqual({ kind: "no_scores" });
});

test("an epoch past the oracle's newest is taken where the day's number is used up", async () => {
  world.startSender();
  await world.store([{ wallet: testWallet(1), asOf: 5, points: 91 }]);
  await publishNow();
  await untilState("confirmed");
  await world.db.delete(epoch);
  await world.sync();
  expect(await publishNow()).toMatchObject({ kind: "queued", epoch: today + 1 });
});

test("a root refused by a paused oracle is sent when it is resumed", async () => {
  await world.asOwner("setPaused", [true]);
  world.startSender();
  await world.store([{ wallet: testWallet(1), asOf: 5, points: 91 }], { ...testPublishPolicy, dailyGas: 0n });
  await publishNow();
  await until(
    async () => {
      await world.round({ ...testPublishPolicy, dailyGas: 0n });
      const [row] = await world.db.select().from(epoch);
      return (row?.attempts ?? 0) >= 2 ? true : null;
    },
    () => "a second attempt",
  );
  await world.asOwner("setPaused", [false]);
  await untilState("confirmed");
  expect((await latestRoot())[0]).toBe(BigInt(today));
});

test("a root that a reorg took out is on chain again", async () => {
  world.startSender();
  await world.store([{ wallet: testWallet(1), asOf: 5, points: 91 }], { ...testPublishPolicy, dailyGas: 0n });
  await publishNow();
  const [row] = await world.rows();
  await world.reach(row?.id ?? 0, "mined");
  await untilState("confirmed");
  await world.automine(false);
  const depth = (await world.client.getBlockNumber()) - BigInt((await world.rows())[0]?.minedBlock ?? 0) + 1n;
  await world.reorg(Number(depth));
  expect((await latestRoot())[0]).toBe(0n);
  await world.reach(row?.id ?? 0, "broadcast");
  await untilState("sent");
  // The sender may send it to the node again only after this.
  await world.automine(true);
  await world.mine();
  await untilState("confirmed");
  expect((await latestRoot())[0]).toBe(BigInt(today));
});
