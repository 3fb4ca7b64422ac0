import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Address } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { writeDeployment } from "../../../../service/chain/deployments.ts";
import {
  allRows,
  createEnrichWorld,
  type EnrichWorld,
  enrichAll,
  forgetAll,
  placedRows,
  rowsOf,
} from "./enrich-world.ts";

const WALLETS = ["a1", "b2", "c3"].map((byte): Address => `0x${byte.repeat(20)}`);
const child = new URL("./enrich-crash-child.ts", import.meta.url).pathname;

let folder: string;
let deploymentFile: string;
let world: EnrichWorld;
let whole: Record<string, readonly unknown[]>;
let placed: Record<string, readonly unknown[]>;

beforeAll(async () => {
  world = await createEnrichWorld();
  folder = await mkdtemp(join(tmpdir(), "enrich-crash-"));
  deploymentFile = join(folder, "deployment.json");
  writeDeployment(deploymentFile, world.chain.deployment);
  for (const wallet of WALLETS) await world.follow(wallet);
  for (let round = 0; round < 3; round += 1) {
    for (const wallet of WALLETS) {
      await world.chain.succeed(wallet);
      await world.mint(world.chain.contracts.usdc, wallet, 100n);
    }
  }
  await world.index();
  await enrichAll(world);
  whole = await allRows(world);
  placed = await placedRows(world);
});
afterAll(async () => {
  await world.close();
  await rm(folder, { recursive: true });
});

beforeEach(() => forgetAll(world));

type Point = "asking" | "storing" | "stored";

/** Runs a process that kills itself at that point; answers the block that it came to. */
async function crashIn(point: Point, nth: number): Promise<number> {
  const args = [child, world.databaseUrl, world.chain.rpcUrl, deploymentFile, point, String(nth)];
  const [, signal] = await once(spawn(process.execPath, args, { stdio: "inherit" }), "exit");
  expect(signal).toBe("SIGKILL");
  const [cursor] = await rowsOf(world, "enrich_cursor");
  return cursor === undefined ? -1 : Number(cursor.block);
}

function upTo(block: number): Record<string, readonly unknown[]> {
  const tables = Object.entries(placed).map(([table, rows]) => [
    table,
    rows.filter((row) => Number(Reflect.get(Object(row), "block")) <= block),
  ]);
  return Object.fromEntries(tables);
}

/** Calls of followed wallets by the contacts that they made. */
async function countedCalls(): Promise<number> {
  const rows = await rowsOf(world, "contact");
  const own = rows.filter(({ account }) => WALLETS.includes(account as Address));
  return own.reduce((sum, { calls }) => sum + Number(calls), 0);
}

async function ownCalls(): Promise<number> {
  return (await rowsOf(world, "own_call")).length;
}

test.each<{ point: Point; nth: number; what: string }>([
  { what: "while it asks the node", point: "asking", nth: 22 },
  { what: "with a range written and not committed", point: "storing", nth: 2 },
  { what: "right after a commit", point: "stored", nth: 2 },
])("killed $what, it has every row up to its cursor and none beyond", async ({ point, nth }) => {
  const came = await crashIn(point, nth);
  expect(await placedRows(world)).toEqual(upTo(came));
  expect(await countedCalls()).toBe(await ownCalls());
  const further = await crashIn(point, nth);
  expect(further).toBeGreaterThan(came);
  expect(await placedRows(world)).toEqual(upTo(further));
  expect(await countedCalls()).toBe(await ownCalls());
  await enrichAll(world);
  expect(await allRows(world)).toEqual(whole);
});

test("killed in the middle of a wallet's own past, it goes on where it was", async () => {
  const [late] = WALLETS;
  const { rows } = await world.client.query("delete from chain_31337.wallet where address = $1 returning *", [
    late,
  ]);
  await enrichAll(world);
  const values = [late, rows[0].followed_block];
  await world.client.query(
    "insert into chain_31337.wallet values ($1, 'registered', $2, 0, 0, null, null, null, $2)",
    values,
  );
  await crashIn("asking", 24);
  const open = (await rowsOf(world, "enrich_wallet")).find((row) => row.wallet === late);
  expect(Number(open?.past_next)).toBeGreaterThan(Number(open?.from_block));
  await enrichAll(world);
  expect(await allRows(world)).toEqual(whole);
});
