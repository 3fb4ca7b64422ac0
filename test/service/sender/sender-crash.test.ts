import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createSenderWorld, type SenderWorld } from "./sender-world.ts";

const receiver = "0x00000000000000000000000000000000000a11ce";
const child = new URL("./sender-crash-child.ts", import.meta.url).pathname;
let world: SenderWorld;

beforeEach(async () => {
  world = await createSenderWorld();
});

afterEach(() => world.destroy());

/** Runs a sender that dies in its n-th broadcast, and waits for its death. */
async function crashIn(point: "unsent" | "sent", nth: number): Promise<void> {
  const crashing = spawn(process.execPath, [child, world.databaseUrl, world.rpcUrl, point, String(nth)], {
    stdio: "inherit",
  });
  const [, signal] = await once(crashing, "exit");
  expect(signal).toBe("SIGKILL");
}

test.each([
  ["between signing and broadcasting", "unsent" as const, 0],
  ["between broadcasting and noting it", "sent" as const, 1],
])("a sender killed %s leaves nothing lost, nothing doubled and no gap", async (_name, point, known) => {
  const ids = [];
  for (const value of [1n, 2n, 4n]) ids.push(await world.enqueue(`pay-${value}`, { to: receiver, value }));
  await crashIn(point, 2);
  const left = await world.rows();
  expect(left.map((row) => row.state)).toEqual(["broadcast", "prepared", "queued"]);
  const pool = (await world.request("txpool_status")) as { pending: string };
  expect(Number(pool.pending)).toBe(1 + known);

  world.startSender();
  for (const id of ids) await world.reach(id, "broadcast");
  await world.mine();
  for (const id of ids) await world.reach(id, "mined");
  const rows = await world.rows();
  expect(rows.map((row) => row.nonce)).toEqual([0, 1, 2]);
  expect(rows[1]?.hashes).toEqual(left[1]?.hashes);
  expect(await world.client.getBalance({ address: receiver })).toBe(7n);
  expect(await world.client.getTransactionCount({ address: world.sender })).toBe(3);
});

test("a transaction that was mined while no sender ran is found and not sent again", async () => {
  const id = await world.enqueue("pay-1", { to: receiver, value: 7n });
  await crashIn("sent", 1);
  await world.mine(6);
  world.startSender();
  const row = await world.reach(id, (found) => found.final);
  expect(row).toMatchObject({ state: "mined", nonce: 0 });
  expect(await world.client.getBalance({ address: receiver })).toBe(7n);
});

test("a node that forgot a broadcast transaction is given the stored one again", async () => {
  const id = await world.enqueue("pay-1", { to: receiver, value: 7n });
  await crashIn("sent", 1);
  await world.request("anvil_dropAllTransactions");
  world.startSender();
  const again = await world.reach(id, "broadcast");
  await world.mine();
  await world.reach(id, "mined");
  expect(again.hashes).toHaveLength(1);
  expect(await world.client.getBalance({ address: receiver })).toBe(7n);
});
