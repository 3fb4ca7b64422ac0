import { setTimeout as sleep } from "node:timers/promises";
import {
  createWalletClient,
  HttpRequestError,
  http,
  numberToHex,
  parseEther,
  parseGwei,
  TimeoutError,
} from "viem";
import { afterEach, beforeEach, expect, test } from "vitest";
import { localAccount } from "./sender-under-test.ts";
import { createSenderWorld, type SenderWorld, until } from "./sender-world.ts";

const receiver = "0x00000000000000000000000000000000000a11ce";
let world: SenderWorld;

beforeEach(async () => {
  world = await createSenderWorld();
});

afterEach(() => world.destroy());

test("a queued transaction is sent, mined and final, and keeps the time at which it was mined", async () => {
  await world.automine(true);
  world.startSender();
  const id = await world.enqueue("pay-1", { to: receiver, value: 7n });
  const mined = await world.reach(id, "mined");
  expect(mined).toMatchObject({ nonce: 0, final: false, gasUsed: 21_000n });
  await world.mine(5);
  const final = await world.reach(id, (row) => row.final);
  expect(final.minedAt).toEqual(mined.minedAt);
  expect(await world.client.getBalance({ address: receiver })).toBe(7n);
});

test("the same reference sends once", async () => {
  await world.automine(true);
  const first = await world.enqueue("pay-1", { to: receiver, value: 7n });
  const second = await world.enqueue("pay-1", { to: receiver, value: 7n });
  world.startSender();
  await world.reach(first, "mined");
  expect(second).toBe(first);
  expect(await world.client.getTransactionCount({ address: world.sender })).toBe(1);
});

test("transactions go out in order, with nonces without a gap, many in one block", async () => {
  world.startSender();
  const ids = [];
  for (const value of [1n, 2n, 4n, 8n])
    ids.push(await world.enqueue(`pay-${value}`, { to: receiver, value }));
  for (const id of ids) await world.reach(id, "broadcast");
  await world.mine();
  for (const id of ids) await world.reach(id, "mined");
  expect((await world.rows()).map((row) => row.nonce)).toEqual([0, 1, 2, 3]);
  expect(await world.client.getBalance({ address: receiver })).toBe(15n);
});

test("a transaction stuck below the base fee is replaced at higher fees, and every version is on record", async () => {
  world.startSender();
  const id = await world.enqueue("pay-1", { to: receiver, value: 7n });
  const first = await world.reach(id, "broadcast");
  await world.request("anvil_setNextBlockBaseFeePerGas", numberToHex(parseGwei("40")));
  await world.mine();
  const bumped = await world.reach(id, (row) => row.hashes.length === 2);
  await world.mine(3);
  const mined = await world.reach(id, "mined");
  expect(bumped.nonce).toBe(first.nonce);
  expect(bumped.hashes[0]).toBe(first.hashes[0]);
  expect(bumped.maxFeePerGas ?? 0n).toBeGreaterThanOrEqual(((first.maxFeePerGas ?? 0n) * 1125n) / 1000n);
  expect(bumped.maxPriorityFeePerGas ?? 0n).toBeGreaterThanOrEqual(
    ((first.maxPriorityFeePerGas ?? 0n) * 1125n) / 1000n,
  );
  expect(mined.hashes).toContain(mined.minedHash);
  expect(await world.client.getBalance({ address: receiver })).toBe(7n);
});

test("never raises fees while the chain makes no blocks", async () => {
  world.startSender();
  const id = await world.enqueue("pay-1", { to: receiver, value: 7n });
  await world.reach(id, "broadcast");
  await sleep(1_000);
  expect((await world.rows())[0]?.hashes).toHaveLength(1);
});

test("a call that reverts is not sent and costs nothing, and its nonce goes to the next", async () => {
  await world.automine(true);
  world.startSender();
  const reverting = await deployReverter(world);
  const bad = await world.enqueue("bad", { to: reverting, data: "0xdeadbeef" });
  const good = await world.enqueue("good", { to: receiver, value: 1n });
  const failed = await world.reach(bad, "failed");
  const mined = await world.reach(good, "mined");
  expect(failed).toMatchObject({
    failure: "reverted_in_simulation",
    nonce: null,
    revertData: "0x2a",
    costWei: null,
  });
  expect(mined.nonce).toBe(0);
});

test("a key without money waits for it without taking a nonce, and goes on when it has some", async () => {
  await world.automine(true);
  await world.request("anvil_setBalance", world.sender, numberToHex(1000n));
  const sender = world.startSender();
  const id = await world.enqueue("pay-1", { to: receiver, value: 7n });
  const waiting = await world.reach(id, (row) => row.failure === "insufficient_funds");
  expect(waiting).toMatchObject({ state: "queued", nonce: null });
  expect(await sender.registry.getSingleMetricAsString("ahs_sender_failures_total")).toContain(
    'kind="insufficient_funds"',
  );
  await world.request("anvil_setBalance", world.sender, numberToHex(parseEther("1")));
  const mined = await world.reach(id, "mined");
  expect(mined).toMatchObject({ nonce: 0, failure: null });
});

test("a reorg that takes a mined transaction out is noticed, and the transaction is mined again", async () => {
  world.startSender();
  const id = await world.enqueue("pay-1", { to: receiver, value: 7n });
  await world.reach(id, "broadcast");
  await world.mine();
  const first = await world.reach(id, "mined");
  await world.reorg(1);
  expect(await world.client.getBalance({ address: receiver })).toBe(0n);
  await world.reach(id, "broadcast");
  // The row says so before the node has the transaction again.
  const pending = { address: world.sender, blockTag: "pending" } as const;
  await until(
    async () => ((await world.client.getTransactionCount(pending)) === 1 ? true : null),
    () => "the transaction is not pending again",
  );
  await world.mine();
  const second = await world.reach(id, "mined");
  expect(second.minedHash).toBe(first.minedHash);
  expect(second.minedBlock).not.toBe(first.minedBlock);
  expect(await world.client.getBalance({ address: receiver })).toBe(7n);
});

test("a stranger's transaction with our nonce moves ours to the next one, once it is final", async () => {
  const stranger = createWalletClient({ account: localAccount(1), transport: http(world.rpcUrl) });
  world.startSender({
    rpc: (real) => ({
      ...real,
      // Between our look at the nonce and our broadcast, another program uses the key.
      broadcast: async (raw) => {
        if ((await real.nonceAt(world.sender, "latest")) === 0) {
          await stranger.sendTransaction({ to: receiver, value: 100n, nonce: 0, chain: null });
          await world.mine();
        }
        return real.broadcast(raw);
      },
    }),
  });
  const id = await world.enqueue("pay-1", { to: receiver, value: 7n });
  await world.reach(id, (row) => row.failure === "nonce_used" && row.nonce === 0);
  await world.mine(6);
  await world.reach(id, (row) => row.nonce === 1 && row.state === "broadcast");
  await world.mine();
  await world.reach(id, "mined");
  expect(await world.client.getBalance({ address: receiver })).toBe(107n);
});

test("a second sender of the same key waits until the first has released the lock", async () => {
  await world.automine(true);
  const first = world.startSender();
  await world.reach(await world.enqueue("pay-1", { to: receiver, value: 1n }), "mined");
  const second = world.startSender();
  await world.reach(await world.enqueue("pay-2", { to: receiver, value: 1n }), "mined");
  expect(await lockHeld(second.registry)).toBe(0);
  expect(await gauged(first.registry, "ahs_sender_balance_wei")).not.toBeNull();
  await first.stop();
  expect(await gauged(first.registry, "ahs_sender_balance_wei")).toBeNull();
  await until(
    async () => ((await lockHeld(second.registry)) === 1 ? true : null),
    () => "the second sender's turn",
  );
  const id = await world.enqueue("pay-3", { to: receiver, value: 1n });
  expect(await world.reach(id, "mined")).toMatchObject({ nonce: 2 });
});

test("a sender whose lock is cut off stops sending, then takes the lock again and goes on", async () => {
  await world.automine(true);
  const sender = world.startSender();
  await world.reach(await world.enqueue("pay-1", { to: receiver, value: 1n }), "mined");
  await world.db.execute(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'ahs-sender' and datname = current_database()",
  );
  await until(
    async () => ((await lockHeld(sender.registry)) === 0 ? true : null),
    () => "the loss of the lock",
  );
  const id = await world.enqueue("pay-2", { to: receiver, value: 1n });
  expect(await world.reach(id, "mined")).toMatchObject({ nonce: 1 });
});

test("a node that does not answer delays a transaction and does not lose or double it", async () => {
  await world.automine(true);
  let outages = 3;
  world.startSender({
    rpc: (real) => ({
      ...real,
      // The node takes the transaction, and the answer gets lost.
      broadcast: async (raw) => {
        await real.broadcast(raw);
        outages -= 1;
        if (outages >= 0) throw lostAnswer();
      },
    }),
  });
  const id = await world.enqueue("pay-1", { to: receiver, value: 7n });
  const mined = await world.reach(id, "mined");
  expect(mined.hashes).toHaveLength(1);
  expect(await world.client.getBalance({ address: receiver })).toBe(7n);
  expect(await world.client.getTransactionCount({ address: world.sender })).toBe(1);
});

function lostAnswer(): Error {
  return new HttpRequestError({ url: "http://127.0.0.1:1", details: "fetch failed" });
}

type Metrics = { getSingleMetric(name: string): unknown };

async function lockHeld(registry: Metrics): Promise<number> {
  return (await gauged(registry, "ahs_sender_lock_held")) ?? 0;
}

/** Null where the gauge has no value. */
async function gauged(registry: Metrics, name: string): Promise<number | null> {
  const gauge = registry.getSingleMetric(name) as { get(): Promise<{ values: { value: number }[] }> };
  return (await gauge.get()).values[0]?.value ?? null;
}

/** A contract that reverts with the byte 0x2a whatever it is asked. */
async function deployReverter(at: SenderWorld) {
  const address = "0x00000000000000000000000000000000000bad01" as const;
  await at.request("anvil_setCode", address, "0x602a5f5360015ffd");
  return address;
}

test("a transaction whose gas no node works out waits by itself, and the next ones go out", async () => {
  await world.automine(true);
  const stuck = await world.enqueue("stuck", { to: receiver, value: 1n });
  const next = await world.enqueue("next", { to: receiver, value: 2n });
  world.startSender({
    rpc: (real) => ({
      ...real,
      estimateGas: async (call) => {
        if (call.value === 1n) throw new TimeoutError({ body: {}, url: "http://node" });
        return real.estimateGas(call);
      },
    }),
  });
  await world.reach(next, "mined");
  expect(await world.reach(stuck, (row) => row.attempts > 1)).toMatchObject({
    state: "queued",
    failure: "unreachable",
  });
});

test("a transaction above the gas of its purpose is never sent", async () => {
  await world.automine(true);
  const id = await world.enqueue("dear", { to: receiver, value: 1n });
  world.startSender({ policy: { maxGas: new Map([["test", 20_999n]]) } });
  expect(await world.reach(id, (row) => row.state !== "queued")).toMatchObject({
    state: "failed",
    error: "the call needs 21000 gas; test may take 20999",
  });
});

test("a call beyond its purpose's gas of the day waits, and others go on", async () => {
  await world.automine(true);
  const budgets = [{ purposes: ["test"], dailyGas: 30_000n }];
  const sender = world.startSender({ policy: { budgets } });
  const first = await world.enqueue("within", { to: receiver, value: 1n });
  await world.reach(first, "mined");
  const second = await world.enqueue("beyond", { to: receiver, value: 1n });
  const waiting = await world.reach(second, (row) => row.failure === "over_budget");
  expect(waiting).toMatchObject({ state: "queued", nonce: null });
  expect(await sender.registry.getSingleMetricAsString("ahs_sender_failures_total")).toContain(
    'kind="over_budget"',
  );
  await sender.stop();
});

test("a call that is too dear waits without a nonce, and is sent once it is not", async () => {
  await world.automine(true);
  let isDear = true;
  const sender = world.startSender({ tooDear: async () => (isDear ? "it waits for lower fees" : null) });
  const id = await world.enqueue("dear", { to: receiver, value: 1n });
  const waiting = await world.reach(id, (row) => row.failure === "too_dear");
  expect(waiting).toMatchObject({ state: "queued", nonce: null, error: "it waits for lower fees" });
  isDear = false;
  expect(await world.reach(id, "mined")).toMatchObject({ nonce: 0 });
  await sender.stop();
});
